/** Sandbox service: the gallery, forks of the active source, and one run at a time. */
import type {
  CalibrateEvent,
  Forked,
  ForkInput,
  GalleryEntry,
  RunEvent,
  RunInput,
  ScenarioCheck,
  Variant,
} from '#core/api/sandbox.ts'
import type { Span } from '#core/api/history.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { PROMINENT, type JobColors } from '#core/series/job-colors.ts'
import { Playback } from '../history/playback.ts'
import type { ActiveView } from '../active-view.ts'
import type { RecordedCluster } from '../../recorded/recorded-cluster.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { toNotice } from '../views/status.ts'
import { exportResult, type Exported, type ExportFormat } from './export.ts'
import type { Completion } from './completion.ts'
import { forkOf } from './fork.ts'
import { RunService, type FinishedRun } from './run.ts'
import { TextReader } from './reading.ts'
import { ScenarioStore } from './scenarios.ts'
import { stageVariant } from './stage.ts'
import { calibrateOver, type CalibrationOptions } from './calibration.ts'

/**
 * Progress of a calibration as a stream: completed seeds, then the result or a failure. Closing the stream cancels it.
 */
export async function* calibrationEvents(
  monitor: ClusterMonitor,
  input: ForkInput & { readonly span: Span; readonly seeds: number },
  options: Omit<CalibrationOptions, 'onSeed'> = {},
): AsyncGenerator<CalibrateEvent, void, void> {
  const controller = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, controller.signal]) : controller.signal
  let done = 0
  let wake = (): void => undefined
  // The first event is sent before the range is read, which blocks the thread for a while.
  yield { kind: 'progress', done, of: input.seeds }
  if (signal.aborted) return
  try {
    const onSeed = (seeds: number): void => {
      done = seeds
      wake()
    }
    const ended = calibrateOver(monitor, input, { ...options, signal, onSeed })
    for (let sent = 0; ;) {
      const next = new Promise<void>((resolve) => (wake = resolve))
      const result = done > sent ? undefined : await Promise.race([ended, next])
      if (signal.aborted) return
      if (result) {
        const { ok } = result
        yield ok ? { kind: 'result', calibration: result.value } : { kind: 'failed', notice: toNotice(result.error) }
        return
      }
      sent = done
      yield { kind: 'progress', done, of: input.seeds }
    }
  } finally {
    controller.abort()
  }
}

export interface SandboxServiceParts {
  readonly onScreen: ActiveView
  /** Folder of saved scenarios; undefined: none are saved. */
  readonly dataDir: string | undefined
  /** Program of the sandbox threads (tests). */
  readonly program?: string | undefined
}

export class SandboxService {
  readonly parts: SandboxServiceParts
  readonly #runs: RunService
  readonly #shelf: ScenarioStore
  readonly #reader = new TextReader()
  /** Cancels calibrations when the host ends: their threads would keep it alive. */
  readonly #closing = new AbortController()

  constructor(parts: SandboxServiceParts) {
    this.parts = parts
    const { dataDir, program } = parts
    this.#runs = new RunService({ program, jobColors: () => this.#jobColors })
    this.#shelf = new ScenarioStore(dataDir)
  }

  gallery(): GalleryEntry[] {
    return this.#shelf.entries()
  }

  open(id: string): Result<{ text: string; check: ScenarioCheck }> {
    const opened = this.#shelf.open(id)
    return opened.ok ? ok({ ...opened.value, check: this.#colored(opened.value.check) }) : opened
  }

  async check(text: string): Promise<ScenarioCheck> {
    return this.#colored(await this.#reader.check(text))
  }

  /** Failures: NOT_WITHOUT: the scenario is not valid without these jobs. */
  async leaveOut(text: string, jobIds: readonly string[]): Promise<Result<{ text: string; check: ScenarioCheck }>> {
    const reduced = await this.#reader.leaveOut(text, jobIds)
    const [fault] = reduced.check.faults
    if (!fault) return ok({ ...reduced, check: this.#colored(reduced.check) })
    return fail({
      code: 'NOT_WITHOUT',
      what: 'The jobs were not excluded',
      why: `the scenario is not valid without them: ${fault.message}`,
      unaffected: 'The scenario, which is unchanged.',
      next: 'Run with low confidence, or change the inputs.',
    })
  }

  save(name: string, text: string, replace: boolean): Result<{ id: string }> {
    return this.#shelf.save(name, text, replace)
  }

  remove(id: string): Result<undefined> {
    return this.#shelf.remove(id)
  }

  complete(text: string, line: number, column: number): Promise<Completion> {
    return this.#reader.complete(text, line, column)
  }

  async fork(input: ForkInput): Promise<Result<Forked>> {
    const forked = forkOf(this.parts.onScreen.monitor, input, this.#played)
    return forked.ok ? ok({ ...forked.value, check: this.#colored(forked.value.check) }) : forked
  }

  calibrate(
    input: ForkInput & { span: Span; seeds: number },
    signal?: AbortSignal,
  ): AsyncGenerator<CalibrateEvent, void, void> {
    const { onScreen, program } = this.parts
    const { signal: closing } = this.#closing
    const either = signal ? AbortSignal.any([signal, closing]) : closing
    return calibrationEvents(onScreen.monitor, input, { signal: either, program, played: this.#played })
  }

  get #jobColors(): JobColors {
    return (this.#played ?? this.parts.onScreen.monitor).jobs.jobColors
  }

  /** Check with the colors that its jobs have in other views. */
  #colored(check: ScenarioCheck): ScenarioCheck {
    const { topology } = check
    if (!topology) return check
    const jobColors = this.#jobColors
    jobColors.colors(topology.jobs.slice(0, PROMINENT).map((job) => job.jobId))
    const jobs = topology.jobs.map((job) => ({ ...job, colour: jobColors.of(job.jobId) }))
    return { ...check, topology: { ...topology, jobs } }
  }

  /** Playback from a file: it is forked in place of the source. */
  get #played(): RecordedCluster | undefined {
    const { playback } = this.parts.onScreen
    return playback instanceof Playback && playback.file !== null ? playback.viewed : undefined
  }

  run(input: RunInput, signal?: AbortSignal): Result<AsyncGenerator<RunEvent, void, void>> {
    return this.#runs.run(input, signal)
  }

  /**
   * @param run  id of the result that the variant comes from: its scenario must be a fork of the active source, or no
   * fork.
   */
  stage(
    variant: Variant,
    verdict: string,
    expireMinutes: number,
    run: string | null = null,
  ): Result<{ staged: number; text: string }> {
    const from = run === null ? undefined : this.#runs.result(run)
    if (from && !from.ok) return from
    const cluster = from?.value.cluster
    const { onScreen } = this.parts
    const staged = stageVariant(onScreen, { variant, verdict, expireMinutes, cluster })
    const { source } = onScreen.monitor
    if (staged.ok && run !== null)
      this.#runs.noteStaged(run, { cluster: source.cluster, atMs: onScreen.monitor.nowMs() })
    return staged
  }

  export(id: string, format: ExportFormat): Result<Exported> {
    const finished = this.#runs.result(id)
    return finished.ok ? ok(exportResult(finished.value.result, format)) : finished
  }

  /**
   * Result of this start of the host, with the fork's origin and the end time; null: the newest. Failures: NO_RESULT.
   */
  finishedRun(id: string | null): Result<FinishedRun> {
    return this.#runs.result(id)
  }

  /** Newest result of which a variant was staged. Failures: NO_RESULT. */
  stagedRun(): Result<FinishedRun> {
    return this.#runs.stagedResult()
  }

  close(): void {
    this.#runs.close()
    this.#closing.abort()
    this.#reader.close()
  }
}
