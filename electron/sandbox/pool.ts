/**
 * Threads that run scenarios beside everything else of the host. Runs are handed out one at a time; a thread that dies takes only
 * its run with it, which is tried once more on a fresh one.
 */
import { existsSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import type { RunReport } from '#core/sandbox/run-report.ts'
import type { DigestPlan, RunDigest } from '#core/sandbox/run-digest.ts'
import type { RunTask } from '#core/sandbox/run.ts'
import { bundledPath } from '../files/resources.ts'
import type { FromWorker, ToWorker, WorkerSetup } from './worker.ts'

/** The thread's program: its source in a checkout, its bundle in the desktop shell. */
function workerFile(): string {
  const source = join(import.meta.dirname, 'worker.ts')
  return existsSync(source) ? source : bundledPath('sandbox-worker.js')
}

/** Times that a run is tried: a thread may die of something that is not the run's fault. */
const TRIES = 2
const MB = 1 << 20

/**
 * Threads for so many runs: one for each processor but one, and both of two. The host sleeps most of the time and is woken before
 * threads that only compute.
 */
export const workersFor = (runs: number): number =>
  Math.max(1, Math.min(runs, Math.max(2, availableParallelism() - 1), availableParallelism()))

/** Heap that a thread may take, MB: together at most half of the machine. */
const heapMb = (workers: number): number => Math.max(256, Math.min(2048, Math.floor(totalmem() / 2 / MB / workers)))

export interface PoolTask extends RunTask {
  readonly scenario: Scenario
}

/** What came of one run. */
export type Ran = { readonly digest: RunDigest } | { readonly report: RunReport }

export interface PoolParts {
  readonly tasks: readonly PoolTask[]
  /** What to keep of a run, asked when it is handed out; undefined: its whole report. @default whole reports */
  readonly planFor?: (task: PoolTask) => DigestPlan | undefined
  /** @param wallMs  time of the run in its thread. */
  readonly onRun: (at: number, ran: Ran, wallMs: number) => void
  /** Once: every run is done, or the first failure ended all. Not called after `end`. */
  readonly onEnd: (failure: Failure | undefined) => void
  /** @default workersFor(tasks.length) */
  readonly workers?: number | undefined
  /** Threads step back behind everything else: for a process that also samples and shows. */
  readonly yields?: boolean | undefined
  /** Program of the threads (tests). */
  readonly program?: string | undefined
  /** Heap of each thread, MB. */
  readonly heapMb?: number | undefined
}

const crashed = (why: string): Failure => ({
  code: 'SANDBOX_CRASHED',
  what: 'The run ended without a result',
  why,
  unaffected: 'sampling, rules and everything else in this console',
  next: 'Run fewer seconds or a smaller scenario; `sluice compare` runs the same in a terminal.',
})

/** One thread, the run in its hands, and what it was told last. */
interface Hand {
  readonly thread: Worker
  at: number | undefined
  scenario: Scenario | undefined
  memoryBytes: number
}

export class Pool {
  readonly #parts: PoolParts
  readonly #program: string
  readonly #heapMb: number
  /** Of the threads that were begun. */
  readonly workers: number
  readonly #hands = new Set<Hand>()
  readonly #tries: Uint8Array
  #again: number[] = []
  #next = 0
  #done = 0
  #isOver = false
  readonly #exits: Promise<unknown>[] = []

  constructor(parts: PoolParts) {
    this.#parts = parts
    this.workers = Math.min(parts.workers ?? workersFor(parts.tasks.length), parts.tasks.length)
    this.#program = parts.program ?? workerFile()
    this.#heapMb = parts.heapMb ?? heapMb(Math.max(1, this.workers))
    this.#tries = new Uint8Array(parts.tasks.length)
    if (this.workers === 0) queueMicrotask(() => this.#finish(undefined))
    for (let i = 0; i < this.workers; i++) this.#hire()
  }

  get done(): number {
    return this.#done
  }

  /** Memory of the threads, as of their last answers. */
  get memoryBytes(): number {
    let sum = 0
    for (const h of this.#hands) sum += h.memoryBytes
    return sum
  }

  /** Ends all threads at once, whatever they do; nothing is told any more. @returns when they are gone */
  async end(): Promise<void> {
    this.#isOver = true
    this.#dismiss()
    await Promise.all(this.#exits)
  }

  #dismiss(): void {
    for (const { thread } of this.#hands) void thread.terminate()
    this.#hands.clear()
  }

  #finish(failure: Failure | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#dismiss()
    this.#parts.onEnd(failure)
  }

  #hire(): void {
    const at = this.#again.shift() ?? (this.#next < this.#parts.tasks.length ? this.#next++ : undefined)
    if (at === undefined) return
    const limits = { maxOldGenerationSizeMb: this.#heapMb, maxYoungGenerationSizeMb: 64 }
    const workerData: WorkerSetup = { yields: this.#parts.yields ?? false }
    const thread = new Worker(this.#program, { execArgv: [], resourceLimits: limits, workerData })
    const hand: Hand = { thread, at: undefined, scenario: undefined, memoryBytes: 0 }
    this.#hands.add(hand)
    this.#exits.push(new Promise((resolve) => thread.once('exit', resolve)))
    thread.on('message', (message: FromWorker) => this.#heard(hand, message))
    thread.on('error', (e: unknown) => this.#lost(hand, e instanceof Error ? e.message : String(e)))
    thread.on('exit', (code) => this.#lost(hand, `its thread ended with code ${code}`))
    this.#give(hand, at)
  }

  #give(hand: Hand, at: number): void {
    const { scenario, ...task } = this.#parts.tasks[at] as PoolTask
    const tell = (message: ToWorker): void => hand.thread.postMessage(message)
    hand.at = at
    this.#tries[at] = (this.#tries[at] ?? 0) + 1
    if (hand.scenario !== scenario) tell({ kind: 'scenario', scenario })
    hand.scenario = scenario
    tell({ kind: 'run', task, plan: this.#parts.planFor?.(this.#parts.tasks[at] as PoolTask) })
  }

  #heard(hand: Hand, message: FromWorker): void {
    const { at } = hand
    if (this.#isOver || at === undefined) return
    if (message.kind === 'failed') return this.#finish(message.failure)
    hand.at = undefined
    hand.memoryBytes = message.memoryBytes
    this.#done++
    const ran = message.kind === 'digest' ? { digest: message.digest } : { report: message.report }
    this.#parts.onRun(at, ran, message.wallMs)
    // Whoever heard it may have ended all.
    if (this.#isOver) return
    if (this.#done === this.#parts.tasks.length) return this.#finish(undefined)
    const next = this.#again.shift() ?? (this.#next < this.#parts.tasks.length ? this.#next++ : undefined)
    if (next !== undefined) this.#give(hand, next)
  }

  #lost(hand: Hand, why: string): void {
    if (this.#isOver || !this.#hands.delete(hand)) return
    const { at } = hand
    if (at === undefined) return
    if ((this.#tries[at] as number) >= TRIES) return this.#finish(crashed(why))
    this.#again.push(at)
    this.#hire()
  }
}

/**
 * The whole reports of some runs, in the order of the tasks. Failures: those of a run; SANDBOX_CRASHED; CANCELLED.
 */
export function runReports(
  tasks: readonly PoolTask[],
  options: Pick<PoolParts, 'workers' | 'program'> & { readonly signal?: AbortSignal | undefined } = {},
): Promise<Result<RunReport[]>> {
  const { signal } = options
  const reports: RunReport[] = []
  return new Promise((resolve) => {
    const cancelled = (): void => {
      void pool.end()
      resolve(fail({ code: 'CANCELLED', what: 'The runs were cancelled' }))
    }
    const pool = new Pool({
      ...{ tasks, workers: options.workers, program: options.program },
      onRun: (at, ran) => {
        if ('report' in ran) reports[at] = ran.report
      },
      onEnd: (failure) => {
        signal?.removeEventListener('abort', cancelled)
        resolve(failure ? fail(failure) : ok(reports))
      },
    })
    if (signal?.aborted) cancelled()
    else signal?.addEventListener('abort', cancelled, { once: true })
  })
}
