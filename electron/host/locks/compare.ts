/** Runs the pattern of the emulated ccPFS under other lock managers: one run at a time per host, in a thread. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { LockManagerName, LocksCompare } from '#core/api/locks.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { bundledPath } from '../../files/resources.ts'

/** Input of the thread. */
export interface CompareTask {
  readonly scenario: Scenario
  readonly managers: readonly LockManagerName[]
  /** Model time, s, > 0. */
  readonly seconds: number
  readonly seed: number
}

/** Program of the thread: source in a checkout, bundle in the desktop shell. */
function workerFile(): string {
  const source = join(import.meta.dirname, 'worker.ts')
  return existsSync(source) ? source : bundledPath('locks-worker.js')
}

const NO_MANAGER: Failure = {
  code: 'NO_LOCK_MANAGER',
  what: 'There is nothing to compare',
  why: 'this source has no lock manager that traces its steps',
  next: 'Open a scenario with a ccPFS.',
}

const BUSY: Failure = {
  code: 'LOCKS_COMPARE_BUSY',
  what: 'The lock managers were not compared',
  why: 'another comparison is running, here or in another window',
  unaffected: 'The one that is running.',
  next: 'Wait until it ends, or cancel it.',
}

const CANCELLED: Failure = { code: 'LOCKS_COMPARE_CANCELLED', what: 'The comparison was canceled' }

const crashed = (why: string): Failure => ({
  code: 'LOCKS_COMPARE_CRASHED',
  what: 'The comparison ended without a result',
  why,
  unaffected: 'Sampling, locks and everything else in this console.',
  next: 'Run it again with fewer seconds.',
})

export class LockComparison {
  readonly #scenario: Scenario | undefined
  readonly #seed: number
  readonly #worker: string
  #cancel: (() => void) | undefined

  /**
   * @param scenario  undefined if the source has none, or has no ccPFS.
   * @param worker    program of the thread (tests).
   */
  constructor(scenario: Scenario | undefined, seed: number, worker: string = workerFile()) {
    this.#scenario = scenario
    this.#seed = seed
    this.#worker = worker
  }

  /**
   * Runs the named managers one after the other.
   *
   * Failures: NO_LOCK_MANAGER; LOCKS_COMPARE_BUSY while another run is active; LOCKS_COMPARE_CANCELLED when `signal`
   * aborts or the host is closed; LOCKS_COMPARE_CRASHED.
   */
  async run(
    request: { readonly managers: readonly LockManagerName[]; readonly seconds: number },
    signal?: AbortSignal,
  ): Promise<Result<LocksCompare>> {
    const { seconds } = request
    if (!this.#scenario) return fail(NO_MANAGER)
    if (this.#cancel) return fail(BUSY)
    if (signal?.aborted) return fail(CANCELLED)
    const task = { scenario: this.#scenario, seed: this.#seed, seconds, managers: [...new Set(request.managers)] }
    const thread = new Worker(this.#worker, { workerData: task satisfies CompareTask, execArgv: [] })
    try {
      return await new Promise<Result<LocksCompare>>((resolve) => {
        this.#cancel = () => resolve(fail(CANCELLED))
        signal?.addEventListener('abort', this.#cancel, { once: true })
        thread.on('message', (results: LocksCompare['results']) => resolve(ok({ seconds, seed: this.#seed, results })))
        thread.on('error', (e: unknown) => resolve(fail(crashed(e instanceof Error ? e.message : String(e)))))
        thread.on('exit', (code) => resolve(fail(crashed(`its thread ended with code ${code}`))))
      })
    } finally {
      if (this.#cancel) signal?.removeEventListener('abort', this.#cancel)
      this.#cancel = undefined
      void thread.terminate()
    }
  }

  /** Ends the active run. */
  close(): void {
    this.#cancel?.()
  }
}
