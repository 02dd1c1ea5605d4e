/**
 * Worker threads that run scenarios in the background. Runs are assigned one at a time; a thread that dies loses only its current
 * run, which is retried once on a new thread.
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

/** Program of the threads: its source in a checkout, its bundle in the desktop shell. */
function workerFile(): string {
  const source = join(import.meta.dirname, 'worker.ts')
  return existsSync(source) ? source : bundledPath('sandbox-worker.js')
}

/** Attempts per run: a thread may die for a reason unrelated to the run. */
const TRIES = 2
const MB = 1 << 20

/**
 * Number of threads for so many runs: one per processor except one, but both of two. The host sleeps most of the time and is
 * scheduled before threads that only compute.
 */
export const workersFor = (runs: number): number =>
  Math.max(1, Math.min(runs, Math.max(2, availableParallelism() - 1), availableParallelism()))

/** Heap limit of a thread, MB: 256 to 2048; together at most half of the machine's memory, unless that is less than 256 each. */
const heapMb = (workers: number): number => Math.max(256, Math.min(2048, Math.floor(totalmem() / 2 / MB / workers)))

export interface PoolTask extends RunTask {
  readonly scenario: Scenario
}

/** Result of one run. */
export type Ran = { readonly digest: RunDigest } | { readonly report: RunReport }

export interface PoolParts {
  readonly tasks: readonly PoolTask[]
  /** Digest plan of a run, evaluated when it is assigned; undefined: its whole report. @default whole reports */
  readonly planFor?: (task: PoolTask) => DigestPlan | undefined
  /** @param wallMs  run time in its thread. */
  readonly onRun: (at: number, ran: Ran, wallMs: number) => void
  /** Called once: when every run is done, or at the first failure, which ends all. Not called after `end`. */
  readonly onEnd: (failure: Failure | undefined) => void
  /** @default workersFor(tasks.length) */
  readonly workers?: number | undefined
  /** Set to lower the threads' priority: for a process that also samples and serves windows. */
  readonly yields?: boolean | undefined
  /** Program of the threads (tests). */
  readonly program?: string | undefined
  /** Heap limit of each thread, MB. */
  readonly heapMb?: number | undefined
}

const crashed = (why: string): Failure => ({
  code: 'SANDBOX_CRASHED',
  what: 'The run ended without a result',
  why,
  unaffected: 'Sampling, rules and everything else in this console.',
  next: 'Run fewer seconds or a smaller scenario; `sluice compare` runs the same in a terminal.',
})

/** One thread, its current run, and the last scenario sent to it. */
interface Slot {
  readonly thread: Worker
  at: number | undefined
  scenario: Scenario | undefined
  memoryBytes: number
}

export class Pool {
  readonly #parts: PoolParts
  readonly #program: string
  readonly #heapMb: number
  /** Number of threads that were started. */
  readonly workers: number
  readonly #slots = new Set<Slot>()
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
    for (let i = 0; i < this.workers; i++) this.#start()
  }

  get done(): number {
    return this.#done
  }

  /** Memory of the threads, as of their last answers. */
  get memoryBytes(): number {
    let sum = 0
    for (const h of this.#slots) sum += h.memoryBytes
    return sum
  }

  /** Ends all threads at once; no more events follow. @returns when they have ended */
  async end(): Promise<void> {
    this.#isOver = true
    this.#dismiss()
    await Promise.all(this.#exits)
  }

  #dismiss(): void {
    for (const { thread } of this.#slots) void thread.terminate()
    this.#slots.clear()
  }

  #finish(failure: Failure | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#dismiss()
    this.#parts.onEnd(failure)
  }

  #start(): void {
    const at = this.#again.shift() ?? (this.#next < this.#parts.tasks.length ? this.#next++ : undefined)
    if (at === undefined) return
    const limits = { maxOldGenerationSizeMb: this.#heapMb, maxYoungGenerationSizeMb: 64 }
    const workerData: WorkerSetup = { yields: this.#parts.yields ?? false }
    const thread = new Worker(this.#program, { execArgv: [], resourceLimits: limits, workerData })
    const slot: Slot = { thread, at: undefined, scenario: undefined, memoryBytes: 0 }
    this.#slots.add(slot)
    this.#exits.push(new Promise((resolve) => thread.once('exit', resolve)))
    thread.on('message', (message: FromWorker) => this.#heard(slot, message))
    thread.on('error', (e: unknown) => this.#lost(slot, e instanceof Error ? e.message : String(e)))
    thread.on('exit', (code) => this.#lost(slot, `its thread ended with code ${code}`))
    this.#give(slot, at)
  }

  #give(slot: Slot, at: number): void {
    const { scenario, ...task } = this.#parts.tasks[at] as PoolTask
    const post = (message: ToWorker): void => slot.thread.postMessage(message)
    slot.at = at
    this.#tries[at] = (this.#tries[at] ?? 0) + 1
    if (slot.scenario !== scenario) post({ kind: 'scenario', scenario })
    slot.scenario = scenario
    post({ kind: 'run', task, plan: this.#parts.planFor?.(this.#parts.tasks[at] as PoolTask) })
  }

  #heard(slot: Slot, message: FromWorker): void {
    const { at } = slot
    if (this.#isOver || at === undefined) return
    if (message.kind === 'failed') return this.#finish(message.failure)
    slot.at = undefined
    slot.memoryBytes = message.memoryBytes
    this.#done++
    const ran = message.kind === 'digest' ? { digest: message.digest } : { report: message.report }
    this.#parts.onRun(at, ran, message.wallMs)
    // The callback may have ended the pool.
    if (this.#isOver) return
    if (this.#done === this.#parts.tasks.length) return this.#finish(undefined)
    const next = this.#again.shift() ?? (this.#next < this.#parts.tasks.length ? this.#next++ : undefined)
    if (next !== undefined) this.#give(slot, next)
  }

  #lost(slot: Slot, why: string): void {
    if (this.#isOver || !this.#slots.delete(slot)) return
    const { at } = slot
    if (at === undefined) return
    if ((this.#tries[at] as number) >= TRIES) return this.#finish(crashed(why))
    this.#again.push(at)
    this.#start()
  }
}

/** Whole reports of some runs, in the order of the tasks. Failures: those of a run; SANDBOX_CRASHED; CANCELLED. */
export function runReports(
  tasks: readonly PoolTask[],
  options: Pick<PoolParts, 'workers' | 'program'> & { readonly signal?: AbortSignal | undefined } = {},
): Promise<Result<RunReport[]>> {
  const { signal } = options
  const reports: RunReport[] = []
  return new Promise((resolve) => {
    const cancelled = (): void => {
      void pool.end()
      resolve(fail({ code: 'CANCELLED', what: 'The runs were canceled' }))
    }
    const pool = new Pool({
      tasks,
      workers: options.workers,
      program: options.program,
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
