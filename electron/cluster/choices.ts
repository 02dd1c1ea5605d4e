/** Applies the operator's choices for a cluster: recorded first, then in force. */
import type { ControllerName } from '#core/controllers/registry.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { checkLoopOptions, type LoopOptions, type SourceKnowledge } from '#core/adaptbf/loop-options.ts'
import type { Mode } from '#core/control/controller.ts'
import type { Audit } from '../base/audit.ts'
import type { ClusterSource } from '../base/connection.ts'
import type { ControlLoop } from './control/control-loop.ts'
import type { EventLog } from './state/event-log.ts'
import type { JobIdWatch } from './state/job-id-watch.ts'
import type { MetadataLoop } from './metadata/loop.ts'
import { choiceOf } from './metadata/settings.ts'
import type { MetadataChange } from './metadata/state.ts'
import type { PairJournal } from './state/pair-journal.ts'
import type { ProbeScheduler } from './probes/probe-scheduler.ts'

export interface ChoiceParts {
  readonly source: ClusterSource
  readonly audit: Audit
  readonly events: EventLog
  readonly loop: ControlLoop
  readonly metadata: MetadataLoop
  readonly journal: PairJournal
  readonly board: ProbeScheduler
  readonly jobIds: JobIdWatch
  readonly sample: () => number
}

export class Choices {
  readonly #parts: ChoiceParts

  constructor(parts: ChoiceParts) {
    this.#parts = parts
  }

  /** Data available from the source beyond `job_stats`. */
  get knowledge(): SourceKnowledge {
    const isEmulated = this.#parts.source.inside !== undefined
    return { backlog: isEmulated, deviceBusy: isEmulated }
  }

  /** Fails if the choice cannot be recorded; a choice that reduces writing applies all the same. */
  setMode(mode: Mode): Result<undefined> {
    const { loop, board, jobIds } = this.#parts
    if (mode === loop.mode) return ok(undefined)
    const unsafe = mode === 'enforce' && this.#isControlled() ? jobIds.refusal : undefined
    if (unsafe) return fail(unsafe)
    const off = (['job_stats', 'rules'] as const).find((id) => board.has(id) && !board.isOn(id))
    if (mode === 'enforce' && off !== undefined) {
      return fail({
        code: 'PROBE_NEEDED',
        what: 'Nothing can be enforced',
        why: `the probe ${off} is off: rules could be neither evaluated nor read back`,
        unaffected: 'The mode is unchanged.',
        next: `Switch ${off} on under Connections first.`,
      })
    }
    if (mode !== 'enforce') loop.setMode(mode)
    const chosen = this.record(`mode ${mode}`)
    if (chosen.ok) loop.setMode(mode)
    jobIds.chosen()
    return chosen
  }

  /** True while rules are decided automatically: by a controller, or by policies for metadata. */
  #isControlled(controller: ControllerName = this.#parts.loop.controller): boolean {
    const { hasServers, settings } = this.#parts.metadata
    return controller !== 'none' || (hasServers && settings.policies !== '')
  }

  /**
   * Leaves enforce once root's jobs can no longer be identified: rules of controllers are removed. To be called before
   * they act.
   */
  leaveUnsafe(): void {
    const { loop, jobIds, events, source } = this.#parts
    if (loop.mode !== 'enforce' || !this.#isControlled()) return
    const why = jobIds.check()
    if (!why) return
    loop.setMode('advise')
    this.record('mode advise')
    const atMs = source.toUnixMs(source.nowNs())
    const text = `${why.what}: ${why.why ?? ''}`
    events.add({ atMs, kind: 'mode', level: 'bad', subject: 'Job ids', text, where: source.cluster })
  }

  /** Reasons why controllers may not enforce, or stopped enforcing. */
  get failures(): readonly Failure[] {
    const { loop, jobIds } = this.#parts
    if (loop.mode === 'observe' || !this.#isControlled()) return jobIds.ended ? [jobIds.ended] : []
    const why = jobIds.refusal ?? jobIds.ended
    return why ? [why] : []
  }

  /** Fails, and changes nothing, if the choice cannot be recorded. */
  setController(name: ControllerName): Result<undefined> {
    const { loop, journal, sample, jobIds } = this.#parts
    if (name === loop.controller) return ok(undefined)
    const unsafe = loop.mode === 'enforce' && this.#isControlled(name) ? jobIds.refusal : undefined
    if (unsafe) return fail(unsafe)
    const chosen = this.record(`controller ${name}`)
    if (!chosen.ok) return chosen
    loop.setController(name)
    journal.clear(sample())
    return chosen
  }

  /**
   * Changes settings of AdapTBF; records and debts are kept. Fails, and changes nothing, for settings that this source
   * does not support (`checkLoopOptions`) and if the choice cannot be recorded.
   */
  setControllerOptions(change: Partial<LoopOptions>): Result<undefined> {
    const { controllers } = this.#parts.loop
    const checked = checkLoopOptions({ ...controllers.options, ...change }, this.knowledge)
    if (!checked.ok) return checked
    const named = Object.entries(change).map(([name, value]) => `${name}=${String(value)}`)
    if (named.length === 0) return ok(undefined)
    const chosen = this.record(`adaptbf ${named.join(' ')}`)
    if (chosen.ok) controllers.setOptions(checked.value)
    return chosen
  }

  /**
   * Changes settings of metadata control. Fails, and changes nothing, for invalid settings (`changedSettings`) and if
   * the choice cannot be recorded.
   */
  setMetadata(change: MetadataChange): Result<undefined> {
    const { metadata } = this.#parts
    const checked = metadata.check(change)
    if (!checked.ok) return checked
    const text = choiceOf(change)
    if (text === '') return ok(undefined)
    const chosen = this.record(text)
    if (chosen.ok) metadata.apply(checked.value, text)
    return chosen
  }

  /** Called when controllers left enforce by themselves: recorded, and added to the event log. */
  left(why: Failure): void {
    const { source, audit, events } = this.#parts
    const atMs = source.toUnixMs(source.nowNs())
    const text = `mode observe: ${why.why ?? why.what}`
    try {
      audit.write(atMs, source.cluster, 'mode', text)
    } catch {
      // It only reduces writing, so it applies whether it can be recorded or not.
    }
    events.add({ atMs, kind: 'mode', level: 'bad', subject: 'Mode', text, where: source.cluster })
  }

  /** Records a choice, and adds it to the event log. */
  record(text: string): Result<undefined> {
    const { source, audit, events } = this.#parts
    const atMs = source.toUnixMs(source.nowNs())
    try {
      audit.write(atMs, source.cluster, 'mode', text)
    } catch (e) {
      return fail({
        code: 'NOT_ON_RECORD',
        what: `The choice of ${text} could not be recorded`,
        why: e instanceof Error ? e.message : String(e),
        next: 'Free space for the history and choose again.',
      })
    }
    events.add({ atMs, kind: 'mode', level: 'ok', subject: 'Mode', text, where: source.cluster })
    return ok(undefined)
  }
}
