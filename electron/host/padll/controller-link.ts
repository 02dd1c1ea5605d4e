/**
 * Sends one change to the global controller, under the safety rules of the console: only in enforce, recorded before it
 * is sent, one at a time, and read back afterwards. The outcome is known, or reported as unknown.
 */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { PadllStatus } from '#core/padll/status.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { PadllReader } from '../../cluster/metadata/padll-reader.ts'
import { within } from '../../base/deadline.ts'

/** Answer timeout, wall ms; the controller may still apply the change later. */
const ANSWER_MS = 30_000
/** Most characters of an answer that are shown. */
const STDERR_MAX = 500

export const NO_STAGES: Failure = {
  code: 'NO_CONTROLLER',
  what: 'Nothing was sent',
  why: 'this source has no controller of stages',
  next: 'Set the PADLL controller under Edit cluster.',
}

/** Name of a change, its literal command, and a test of whether the read-back status shows it. */
export interface ControllerChange {
  readonly title: string
  readonly command: string
  readonly isApplied: (status: PadllStatus) => boolean
}

const refuse = (code: string, why: string, next: string): Result<never> =>
  fail({ code, what: 'The controller was not changed', why, unaffected: 'It continues unchanged.', next })

export class ControllerLink {
  readonly #monitor: ClusterMonitor
  #isSending = false

  constructor(monitor: ClusterMonitor) {
    this.#monitor = monitor
  }

  /** Reason why nothing may be sent now; undefined if allowed. */
  refusal(): Failure | undefined {
    const { loop, padll } = this.#monitor
    if (!padll) return NO_STAGES
    if (loop.mode !== 'enforce') {
      const why = `the mode is ${loop.mode}: nothing is written`
      return failureOf(refuse('MODE', why, 'Choose Enforce, then change it again.'))
    }
    if (padll.failure) return padll.failure
    if (this.#isSending) return failureOf(refuse('BUSY', 'another change is being sent', 'Wait until it ends.'))
    return undefined
  }

  /**
   * Sends a change. Failures: those of `refusal`, NOT_ON_RECORD, CONTROLLER_REFUSED (with its message), UNKNOWN (no
   * answer, or it could not be read back), NOT_IN_FORCE (the read-back differs).
   */
  async send(change: ControllerChange): Promise<Result<undefined>> {
    const refused = this.refusal()
    const { padll } = this.#monitor
    if (refused || !padll) return fail(refused ?? NO_STAGES)
    const intent = this.#record(padll, 'intent', change.command)
    if (!intent.ok) return intent
    this.#isSending = true
    try {
      const done = await this.#carry(padll, change)
      const text = done.ok ? 'done: verified by read-back' : `${done.error.code}: ${done.error.why ?? ''}`
      this.#record(padll, 'outcome', text)
      const level = done.ok ? 'ok' : 'bad'
      const atMs = this.#monitor.nowMs()
      const where = padll.node.host
      this.#monitor.events.add({ atMs, kind: 'change', level, subject: 'PADLL', text: change.title, where })
      return done
    } finally {
      this.#isSending = false
      this.#monitor.changed()
    }
  }

  #record(padll: PadllReader, kind: 'intent' | 'outcome', text: string): Result<undefined> {
    const { audit } = this.#monitor
    try {
      audit.write(this.#monitor.nowMs(), padll.node.host, kind, text)
      return ok(undefined)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return refuse('NOT_ON_RECORD', why, 'Free space for the history and change it again.')
    }
  }

  async #carry(padll: PadllReader, { command, isApplied }: ControllerChange): Promise<Result<undefined>> {
    const unknown = (why: string): Result<undefined> =>
      fail({ code: 'UNKNOWN', what: 'The outcome of the change is unknown', why, next: 'Check Metadata QoS.' })
    const answer = await within(padll.node.exec(command), ANSWER_MS)
    if (!answer.ok) return unknown(`${padll.node.host} did not answer`)
    const { code, stderr } = answer.value
    if (code !== 0) {
      const message = stderr.trim().slice(0, STDERR_MAX)
      const why = message === '' ? `it exited with ${code}` : message
      return refuse('CONTROLLER_REFUSED', why, 'Correct it and change it again.')
    }
    const isRead = await padll.readNow(() => this.#monitor.nowMs())
    const status = padll.documents.newest?.status
    if (!isRead || !status) return unknown('it could not be read back')
    return isApplied(status)
      ? ok(undefined)
      : refuse(
          'NOT_IN_FORCE',
          'the controller accepted it, but its status differs',
          'Check Metadata QoS, and try again.',
        )
  }
}

const failureOf = (r: Result<never>): Failure | undefined => (r.ok ? undefined : r.error)
