/**
 * The sandbox at the host: the gallery, forks of the source on screen, and one run at a time. Each room keeps its own; this is only
 * what the contract calls.
 */
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
import { Playback } from '../history/playback.ts'
import type { OnScreen } from '../on-screen.ts'
import type { RecordedCluster } from '../../recorded/recorded-cluster.ts'
import { exportResult, type Exported, type ExportFormat } from './export.ts'
import { calibrationEvents } from './calibration-events.ts'
import type { Completion } from './completion.ts'
import { forkOf } from './fork.ts'
import { RunService, type KeptRun } from './run.ts'
import { TextReader } from './reading.ts'
import { ScenarioShelf } from './scenarios.ts'
import { stageVariant } from './stage.ts'

export interface SandboxServiceParts {
  readonly onScreen: OnScreen
  /** Folder of saved scenarios; undefined: none are kept. */
  readonly dataDir: string | undefined
  /** Program of the sandbox threads (tests). */
  readonly program?: string | undefined
}

export class SandboxService {
  readonly parts: SandboxServiceParts
  readonly #runs: RunService
  readonly #shelf: ScenarioShelf
  readonly #reader = new TextReader()
  /** Ends calibrations that run when the host ends: their threads would keep it. */
  readonly #closing = new AbortController()

  constructor(parts: SandboxServiceParts) {
    this.parts = parts
    const { onScreen, dataDir, program } = parts
    this.#runs = new RunService({
      program,
      colourOf: (jobId) => (this.#played?.jobs ?? onScreen.monitor.jobs).find(jobId)?.colour ?? 0,
    })
    this.#shelf = new ScenarioShelf(dataDir)
  }

  gallery(): GalleryEntry[] {
    return this.#shelf.entries()
  }

  open(id: string): Result<{ text: string; check: ScenarioCheck }> {
    return this.#shelf.open(id)
  }

  check(text: string): Promise<ScenarioCheck> {
    return this.#reader.check(text)
  }

  /** Failures: NOT_WITHOUT: the scenario does not stand without these jobs. */
  async leaveOut(text: string, jobIds: readonly string[]): Promise<Result<{ text: string; check: ScenarioCheck }>> {
    const left = await this.#reader.leaveOut(text, jobIds)
    const [fault] = left.check.faults
    if (!fault) return ok(left)
    return fail({
      code: 'NOT_WITHOUT',
      what: 'The jobs were not left out',
      why: `the scenario does not stand without them: ${fault.message}`,
      unaffected: 'the scenario, which is as it was',
      next: 'Run it as a guess, or change the inputs.',
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
    return forkOf(this.parts.onScreen.monitor, input, this.#played)
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

  /** What is played back from a file of its own: it is forked in the place of the source. */
  get #played(): RecordedCluster | undefined {
    const { playback } = this.parts.onScreen
    return playback instanceof Playback && playback.file !== null ? playback.viewed : undefined
  }

  run(input: RunInput, signal?: AbortSignal): Result<AsyncGenerator<RunEvent, void, void>> {
    return this.#runs.run(input, signal)
  }

  /** @param run  id of the result that the variant comes from: its scenario must be a fork of the source on screen, or none. */
  stage(
    variant: Variant,
    verdict: string,
    expireMinutes: number,
    run: string | null = null,
  ): Result<{ staged: number; text: string }> {
    const from = run === null ? undefined : this.#runs.result(run)
    if (from && !from.ok) return from
    const cluster = from?.value.cluster
    return stageVariant(this.parts.onScreen, { variant, verdict, expireMinutes, cluster })
  }

  export(id: string, format: ExportFormat): Result<Exported> {
    const kept = this.#runs.result(id)
    return kept.ok ? ok(exportResult(kept.value.result, format)) : kept
  }

  /** A result of this start of the host, what it was a fork of and when it was made; null: the newest. Failures: NO_RESULT. */
  kept(id: string | null): Result<KeptRun> {
    return this.#runs.result(id)
  }

  close(): void {
    this.#runs.close()
    this.#closing.abort()
    this.#reader.close()
  }
}
