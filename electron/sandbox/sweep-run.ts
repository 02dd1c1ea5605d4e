/** Runs the missing part of a sweep in threads of this machine: all of it, or that of one task of a batch job. */
import { ok, type Failure, type Result, fail } from '#core/base/result.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import type { DigestPlan, RunDigest } from '#core/sandbox/run-digest.ts'
import { Pool, type PoolTask } from './pool.ts'
import { pointsOf, scenarioAt } from './sweep-grid.ts'
import type { Chunk, Sweep } from './sweep-manifest.ts'
import { sweepPlan, writeChunk } from './sweep-results.ts'
import { variantOf } from './variant-input.ts'

/** Runs that share one set of threads: starting threads takes a fraction of a second. */
const RUNS_TOGETHER = 256

export interface SweepRunOptions {
  readonly workers?: number | undefined
  readonly program?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Called after every chunk that was written. */
  readonly onChunk?: ((chunk: Chunk) => void) | undefined
}

/** Chunks in groups of about RUNS_TOGETHER runs. */
function grouped(chunks: readonly Chunk[]): Chunk[][] {
  const groups: Chunk[][] = []
  let runs = Infinity
  for (const chunk of chunks) {
    if (runs >= RUNS_TOGETHER) {
      groups.push([])
      runs = 0
    }
    groups.at(-1)?.push(chunk)
    runs += chunk.seeds.length
  }
  return groups
}

/** Runs chunks one after another. Failures: those of a run, SWEEP_NOT_WRITTEN, CANCELLED; written chunks are kept. */
export async function runChunks(
  sweep: Sweep,
  chunks: readonly Chunk[],
  options: SweepRunOptions = {},
): Promise<Result<undefined>> {
  for (const group of grouped(chunks)) {
    const done = await runGroup(sweep, group, options)
    if (!done.ok) return done
  }
  return ok(undefined)
}

async function runGroup(sweep: Sweep, chunks: readonly Chunk[], options: SweepRunOptions): Promise<Result<undefined>> {
  const { manifest, text } = sweep
  const points = pointsOf(manifest.axes)
  if (!points.ok) return points
  const scenarios = new Map<number, { scenario: Scenario; plan: DigestPlan }>()
  for (const { point } of chunks) {
    if (scenarios.has(point)) continue
    const read = scenarioAt(text, manifest.axes, points.value[point] ?? [])
    if (!read.ok) return read
    scenarios.set(point, { scenario: read.value, plan: sweepPlan(read.value) })
  }
  const { seconds, sloWaitMs } = manifest
  const tasks: PoolTask[] = []
  const chunkOf: Chunk[] = []
  for (const chunk of chunks) {
    const at = scenarios.get(chunk.point)
    const variant = manifest.variants[chunk.variant]
    if (!at || !variant) continue
    for (const seed of chunk.seeds) {
      chunkOf.push(chunk)
      tasks.push({ scenario: at.scenario, variant: variantOf(variant), index: chunk.variant, seed, seconds, sloWaitMs })
    }
  }
  const planOf = new Map([...scenarios.values()].map(({ scenario, plan }) => [scenario, plan]))
  const runs = new Map<Chunk, RunDigest[]>()
  return new Promise((resolve) => {
    const end = (failure: Failure | undefined): void => {
      options.signal?.removeEventListener('abort', cancelled)
      void pool.end().then(() => resolve(failure ? fail(failure) : ok(undefined)))
    }
    const cancelled = (): void => {
      const unaffected = 'Written chunks are kept; the same command resumes.'
      end({ code: 'CANCELLED', what: 'The sweep was canceled', unaffected })
    }
    const pool = new Pool({
      tasks,
      workers: options.workers,
      program: options.program,
      planFor: (task) => planOf.get(task.scenario),
      onRun: (at, ran) => {
        const chunk = chunkOf[at] as Chunk
        const plan = scenarios.get(chunk.point)?.plan
        if (!('digest' in ran) || !plan) return
        const have = [...(runs.get(chunk) ?? []), ran.digest]
        runs.set(chunk, have)
        if (have.length < chunk.seeds.length) return
        runs.delete(chunk)
        const written = writeChunk(sweep, chunk, plan, have)
        if (!written.ok) return end(written.error)
        options.onChunk?.(chunk)
      },
      onEnd: end,
    })
    if (options.signal?.aborted) cancelled()
    else options.signal?.addEventListener('abort', cancelled, { once: true })
  })
}
