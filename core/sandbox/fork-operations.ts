/** Operation cycle of a forked job's processes: reads, writes and metadata operations in the counted proportions. */
import type { Operation } from '../emulator/operations.ts'

/** Counters of job_stats that each count an RPC, and the operation that causes it. */
const OPERATION_OF: Readonly<Record<string, Operation>> = {
  open: 'open',
  mknod: 'create',
  close: 'close',
  getattr: 'stat',
  setattr: 'setattr',
  getxattr: 'getxattr',
  mkdir: 'mkdir',
  rmdir: 'rmdir',
  unlink: 'unlink',
  rename: 'rename',
  readpage: 'readdir',
  statfs: 'statfs',
  sync: 'sync',
}

/** Maximum steps of a round. */
const STEPS_MAX = 24
/** Acceptable error of a round. */
const CLOSE = 0.02

/** Returns the mix of metadata operations by counter; empty if unknown. An open that creates counts as one RPC. */
export function metadataMix(counters: ReadonlyMap<string, number>): Map<Operation, number> {
  const mix = new Map<Operation, number>()
  for (const [counter, n] of counters) {
    const op = Object.hasOwn(OPERATION_OF, counter) ? OPERATION_OF[counter] : undefined
    if (op && n > 0) mix.set(op, n)
  }
  const open = mix.get('open') ?? 0
  const create = mix.get('create') ?? 0
  if (create > 0 && open >= create) {
    if (open > create) mix.set('open', open - create)
    else mix.delete('open')
  }
  return mix
}

/**
 * Returns a round of operations in about these proportions, spread evenly: [write, write, read] for 2 to 1.
 *
 * @param weights  > 0; at least one.
 */
export function roundOf(weights: ReadonlyMap<Operation, number>): Operation[] {
  const total = [...weights.values()].reduce((a, b) => a + b, 0)
  const parts = [...weights].map(([op, w]) => ({ op, share: w / total }))
  let best: { op: Operation; n: number }[] = []
  let bestError = Infinity
  for (let steps = 1; steps <= STEPS_MAX; steps++) {
    const counts = parts.map(({ op, share }) => ({ op, n: Math.round(share * steps) }))
    const length = counts.reduce((n, c) => n + c.n, 0)
    if (length === 0 || length > STEPS_MAX) continue
    const error = counts.reduce((e, c, i) => e + Math.abs(c.n / length - (parts[i]?.share ?? 0)), 0) / 2
    if (error < bestError - 1e-9) [best, bestError] = [counts, error]
    if (bestError < CLOSE) break
  }
  return best
    .flatMap(({ op, n }) => Array.from({ length: n }, (_, k) => ({ op, at: (k + 0.5) / n })))
    .sort((a, b) => a.at - b.at)
    .map((x) => x.op)
}
