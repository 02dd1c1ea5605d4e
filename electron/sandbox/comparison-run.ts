/** Running comparison: a scenario under several variants with several seeds, reported as progress events and the result. */
import type { Failure } from '#core/base/result.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { aggregate } from '#core/sandbox/aggregate.ts'
import type { Comparison } from '#core/sandbox/comparison.ts'
import type { RunReport } from '#core/sandbox/run-report.ts'
import { digestOf, planOf, type DigestPlan, type RunDigest } from '#core/sandbox/run-digest.ts'
import type { Variant } from '#core/sandbox/variant.ts'
import type { JobColors } from '#core/series/job-colors.ts'
import { Pool, type PoolTask, type Ran } from './pool.ts'

export interface ComparisonTask {
  readonly scenario: Scenario
  /** The first one is the baseline. */
  readonly variants: readonly Variant[]
  readonly seeds: readonly number[]
  /** Simulated seconds. */
  readonly seconds: number
  readonly sloWaitMs: number
}

export interface ComparisonOptions {
  /** Colors of the jobs in other views, when the comparison ends. */
  readonly jobColors?: (() => JobColors) | undefined
  readonly signal?: AbortSignal | undefined
  readonly workers?: number | undefined
  /** @see PoolParts.yields */
  readonly yields?: boolean | undefined
  /** Program of the threads (tests). */
  readonly program?: string | undefined
  /** Called when the run is over, however it ended. */
  readonly onOver?: (() => void) | undefined
}

export interface Cost {
  readonly runs: number
  readonly workers: number
  readonly wallS: number
  /** Simulated seconds per wall second. */
  readonly ratio: number
  readonly events: number
  readonly thinning: number
}

export type ComparisonEvent =
  | {
      readonly kind: 'progress'
      readonly done: number
      readonly of: number
      readonly workers: number
      readonly ratio: number
      readonly memoryBytes: number
    }
  | {
      readonly kind: 'done'
      readonly comparison: Comparison
      readonly cost: Cost
      readonly plan: DigestPlan
      readonly runs: readonly RunDigest[]
      /** Wall seconds that the threads spent on each variant. */
      readonly variantWallS: readonly number[]
    }
  | { readonly kind: 'failed'; readonly failure: Failure }

/** Least time between two progress events, ms. */
const PROGRESS_MS = 200

/** Tasks by seed, with all variants of each; the baseline's first run comes first, because it decides which jobs are charted. */
const tasksOf = ({ scenario, variants, seeds, seconds, sloWaitMs }: ComparisonTask): PoolTask[] =>
  seeds.flatMap((seed) => variants.map((variant, index) => ({ scenario, variant, index, seed, seconds, sloWaitMs })))

/** Collects digests of runs; whole reports are kept until the baseline's first run yields the plan. */
class Digests {
  readonly runs: RunDigest[] = []
  plan: DigestPlan | undefined
  #early: RunReport[] = []

  take(at: number, ran: Ran): void {
    if ('digest' in ran) {
      this.runs.push(ran.digest)
      return
    }
    if (at === 0) this.plan = planOf(ran.report)
    this.#early.push(ran.report)
    if (!this.plan) return
    for (const report of this.#early) this.runs.push(digestOf(report, this.plan))
    this.#early = []
  }
}

export class ComparisonRun {
  readonly #task: ComparisonTask
  readonly #options: ComparisonOptions
  readonly #digests = new Digests()
  readonly #pool: Pool
  readonly #beganMs = performance.now()
  #pending: ComparisonEvent[] = []
  readonly #variantWallS: number[]
  #progressMs = -Infinity
  #late: NodeJS.Timeout | undefined
  #isOver = false
  #wake: (() => void) | undefined
  /** Resolves when all of its threads have ended. */
  gone: Promise<void> = Promise.resolve()

  constructor(task: ComparisonTask, options: ComparisonOptions = {}) {
    this.#task = task
    this.#options = options
    this.#variantWallS = task.variants.map(() => 0)
    const tasks = tasksOf(task)
    this.#pool = new Pool({
      tasks,
      workers: options.workers,
      program: options.program,
      yields: options.yields,
      planFor: () => this.#digests.plan,
      onRun: (at, ran, wallMs) => {
        const { index } = tasks[at] as PoolTask
        this.#variantWallS[index] = (this.#variantWallS[index] ?? 0) + wallMs / 1000
        this.#digests.take(at, ran)
        this.#progress(tasks.length)
      },
      onEnd: (failure) => this.#ended(failure),
    })
    this.#progress(tasks.length)
    if (options.signal?.aborted) this.end()
    else options.signal?.addEventListener('abort', this.end, { once: true })
  }

  /** Ends the run at once, without a result. */
  readonly end = (): void => this.#close()

  get #wallS(): number {
    return (performance.now() - this.#beganMs) / 1000
  }

  #ratio(done: number): number {
    const wall = this.#wallS
    return wall === 0 ? 0 : (done * this.#task.seconds) / wall
  }

  #emit(event: ComparisonEvent): void {
    if (this.#isOver) return
    // Only the newest progress is kept.
    if (event.kind === 'progress') this.#pending = this.#pending.filter((e) => e.kind !== 'progress')
    this.#pending.push(event)
    this.#wake?.()
  }

  #progress(of: number): void {
    if (this.#isOver) return
    const waitMs = this.#progressMs + PROGRESS_MS - performance.now()
    if (waitMs > 0) {
      this.#late ??= setTimeout(() => {
        this.#late = undefined
        this.#progress(of)
      }, waitMs)
      return
    }
    this.#progressMs = performance.now()
    const { done, workers, memoryBytes } = this.#pool
    this.#emit({ kind: 'progress', done, of, workers, ratio: this.#ratio(done), memoryBytes })
  }

  #ended(failure: Failure | undefined): void {
    const { plan, runs } = this.#digests
    if (failure || !plan) {
      this.#emit({ kind: 'failed', failure: failure ?? { code: 'SANDBOX_EMPTY', what: 'There was nothing to run' } })
    } else {
      const { scenario, variants } = this.#task
      const comparison = aggregate({ scenario, variants, plan, runs, jobColors: this.#options.jobColors?.() })
      const cost: Cost = {
        runs: runs.length,
        workers: this.#pool.workers,
        wallS: this.#wallS,
        ratio: this.#ratio(runs.length),
        events: runs.reduce((n, r) => n + r.events, 0),
        thinning: Math.max(1, ...runs.map((r) => r.thinning)),
      }
      this.#emit({ kind: 'done', comparison, cost, plan, runs, variantWallS: this.#variantWallS })
    }
    this.#close()
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#late)
    this.#options.signal?.removeEventListener('abort', this.end)
    this.gone = this.#pool.end()
    this.#options.onOver?.()
    this.#wake?.()
  }

  /** Events, for one consumer. Ending the iteration ends the run. */
  events(): AsyncGenerator<ComparisonEvent, void, void> {
    const events = this.#events()
    // A generator that waits for its threads would not notice its end before the next event.
    const finish = events.return.bind(events)
    events.return = (value) => {
      this.end()
      return finish(value)
    }
    return events
  }

  async *#events(): AsyncGenerator<ComparisonEvent, void, void> {
    try {
      for (;;) {
        for (let event = this.#pending.shift(); event; event = this.#pending.shift()) yield event
        if (this.#isOver) return
        await new Promise<void>((resolve) => (this.#wake = resolve))
        this.#wake = undefined
      }
    } finally {
      this.#close()
    }
  }
}

/** Runs a comparison from start to end. Failures: those of a run; SANDBOX_CRASHED. */
export async function compare(
  task: ComparisonTask,
  options: ComparisonOptions & { readonly onProgress?: (event: ComparisonEvent & { kind: 'progress' }) => void } = {},
): Promise<ComparisonEvent & { kind: 'done' | 'failed' }> {
  for await (const event of new ComparisonRun(task, options).events()) {
    if (event.kind === 'progress') options.onProgress?.(event)
    else return event
  }
  return { kind: 'failed', failure: { code: 'CANCELLED', what: 'The comparison was canceled' } }
}
