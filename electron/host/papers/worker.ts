/**
 * Runs one experiment in a thread of its own, so that sampling goes on in time: tells its progress before every part, and
 * then the result. It ends by itself, or is terminated when nobody waits for it any more.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { ClaimResult, MeasuredValue, PapersEvent } from '#core/api/papers.ts'
import { type Claim, runPapers } from '#core/papers/claims.ts'
import type { Measured } from '#core/papers/expectation.ts'
import { EXPERIMENTS } from '#core/papers/registry.ts'
import { thinned } from './thin.ts'

/** What the thread is started with. */
export interface WorkerTask {
  readonly experiment: string
  readonly seeds: readonly number[]
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

const measuredValue = (measured: Measured): MeasuredValue =>
  typeof measured === 'number'
    ? finite(measured)
    : Object.fromEntries(Object.entries(measured).map(([name, value]) => [name, finite(value)]))

function claimResult(claim: Claim): ClaimResult {
  const { id, system, ref, what, metric, published, comparator, bound, ok, note, range } = claim
  return {
    ...{ id, system, ref, what, metric, published, comparator, ok },
    bound: bound === null || typeof bound === 'number' ? bound : [bound[0], bound[1]],
    measured: measuredValue(claim.measured),
    range: range && [finite(range[0]), finite(range[1])],
    failed_seeds: [...claim.failed_seeds],
    ...(note === undefined ? {} : { note }),
  }
}

function run({ experiment, seeds }: WorkerTask, tell: (event: PapersEvent) => void): void {
  const chosen = EXPERIMENTS.filter(({ id }) => id === experiment)
  const steps = runPapers(chosen, seeds, { now: () => performance.now() })
  const beganMs = performance.now()
  let step = steps.next()
  for (; !step.done; step = steps.next()) {
    const { done, of, part, seed } = step.value
    tell({ kind: 'progress', done, of, fraction: done / of, part, seed })
  }
  const { claims, figures } = step.value
  tell({
    kind: 'result',
    experiment,
    seeds: [...seeds],
    seconds: Number(((performance.now() - beganMs) / 1000).toFixed(3)),
    claims: claims.map(claimResult),
    figures: thinned(figures.get(experiment) ?? []),
  })
}

run(workerData as WorkerTask, (event) => parentPort?.postMessage(event))
