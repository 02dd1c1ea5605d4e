/** Experiments of the papers at the host: their list, and one run at a time in a thread. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { PaperExperiment, PapersEvent } from '#core/api/papers.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { Experiment } from '#core/papers/experiment.ts'
import { EXPERIMENTS } from '#core/papers/registry.ts'
import { targetOf } from '#core/papers/verdict.ts'
import { bundledPath } from '../../files/resources.ts'
import { toNotice } from '../views/status.ts'
import type { WorkerTask } from './worker.ts'

/** Program of the thread: source in a checkout, bundle in the desktop shell. */
function workerFile(): string {
  const source = join(import.meta.dirname, 'worker.ts')
  return existsSync(source) ? source : bundledPath('papers-worker.js')
}

const described = (experiment: Experiment): PaperExperiment => ({
  id: experiment.id,
  system: experiment.system,
  title: experiment.title,
  setup: [...experiment.setup],
  parts: experiment.parts.length,
  claims: experiment.expectations.map((expectation) => {
    const { id, ref, claim: what, metric, comparator, bound, required } = expectation
    const { value, tolerance, calibrates, proof, note } = expectation.published
    const target = targetOf(expectation.published)
    return {
      id,
      ref,
      what,
      metric,
      comparator,
      published: value,
      bound: bound === null || typeof bound === 'number' ? bound : [bound[0], bound[1]],
      ...(target === undefined ? {} : { target }),
      ...(tolerance === undefined ? {} : { tolerance }),
      ...(calibrates === undefined ? {} : { calibrates }),
      ...(proof === undefined ? {} : { proof }),
      ...(note === undefined ? {} : { note }),
      ...(required === undefined ? {} : { required }),
    }
  }),
  fits: [...(experiment.fits ?? [])],
})

const BUSY: Failure = {
  code: 'PAPERS_BUSY',
  what: 'The experiment was not started',
  why: 'another one is running, here or in another window',
  unaffected: 'The one that is running.',
  next: 'Wait until it ends, or cancel it.',
}

const crashed = (why: string): Failure => ({
  code: 'PAPERS_CRASHED',
  what: 'The experiment ended without a result',
  why,
  unaffected: 'Sampling, rules and everything else in this console.',
  next: 'Run it again with other seeds; `sluice papers` runs the same in a terminal.',
})

export class Papers {
  readonly #worker: string
  #running: Run | undefined

  /** @param worker  program of the thread (tests). */
  constructor(worker: string = workerFile()) {
    this.#worker = worker
  }

  list(): PaperExperiment[] {
    return EXPERIMENTS.map(described)
  }

  /**
   * Starts a run. It ends with its result, with a notice when its thread failed, or without either when `signal` aborts
   * or the caller stops reading.
   *
   * Failures: UNKNOWN_EXPERIMENT; PAPERS_BUSY while another run is active.
   */
  run(task: WorkerTask, signal?: AbortSignal): Result<AsyncGenerator<PapersEvent, void, void>> {
    if (!EXPERIMENTS.some(({ id }) => id === task.experiment)) {
      return fail({
        code: 'UNKNOWN_EXPERIMENT',
        what: `There is no experiment ${task.experiment}`,
        next: 'Choose one of the list.',
      })
    }
    if (this.#running) return fail(BUSY)
    const run = new Run(this.#worker, { ...task, seeds: [...new Set(task.seeds)] }, () => (this.#running = undefined))
    this.#running = run
    if (signal?.aborted) run.end()
    else signal?.addEventListener('abort', run.end, { once: true })
    const events = run.events()
    // A generator waiting for its thread would not notice its end before the next event.
    const finish = events.return.bind(events)
    events.return = (value) => {
      run.end()
      return finish(value)
    }
    return ok(events)
  }

  /** Ends the active run. */
  close(): void {
    this.#running?.end()
  }
}

/** One thread and its events so far. */
class Run {
  readonly #thread: Worker
  readonly #events: PapersEvent[] = []
  #isOver = false
  #wake: (() => void) | undefined
  readonly #ended: () => void
  /** Terminates the thread, whatever it does. */
  readonly end: () => void

  constructor(file: string, task: WorkerTask, ended: () => void) {
    this.#ended = ended
    this.end = () => this.#close()
    this.#thread = new Worker(file, { workerData: task, execArgv: [] })
    this.#thread.on('message', (event: PapersEvent) => this.#emit(event))
    this.#thread.on('error', (error: unknown) => this.#fail(error instanceof Error ? error.message : String(error)))
    this.#thread.on('exit', (code) => this.#fail(`its thread ended with code ${code}`))
  }

  #emit(event: PapersEvent): void {
    if (this.#isOver) return
    this.#events.push(event)
    if (event.kind === 'progress') this.#wake?.()
    else this.#close()
  }

  #fail(why: string): void {
    this.#emit({ kind: 'failed', notice: toNotice(crashed(why)) })
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#ended()
    void this.#thread.terminate()
    this.#wake?.()
  }

  async *events(): AsyncGenerator<PapersEvent, void, void> {
    try {
      for (;;) {
        for (let event = this.#events.shift(); event; event = this.#events.shift()) yield event
        if (this.#isOver) return
        await new Promise<void>((resolve) => (this.#wake = resolve))
        this.#wake = undefined
      }
    } finally {
      this.#close()
    }
  }
}
