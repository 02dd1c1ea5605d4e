/**
 * Sends one change to a daemon of the cluster, such as PADLL's global controller or a data node, under the safety rules of the
 * console: only in enforce, recorded before it is sent, one at a time, and read back afterwards. The outcome is known, or
 * reported as unknown.
 */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { NodeConnection } from '../base/connection.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import { within } from '../base/deadline.ts'

/** Answer timeout, wall ms; the controller may still apply the change later. */
const ANSWER_MS = 30_000
/** Most characters of an answer that are shown. */
const STDERR_MAX = 500

/** Reader of a daemon: its connection, and its state as last read. */
export interface DaemonReader {
  readonly node: NodeConnection
  readonly failure: Failure | undefined
  /** Reads the current state; true if it was stored. */
  readNow(clockMs: () => number): Promise<boolean>
}

/** A kind of daemon in messages. */
export interface DaemonKind {
  /** `controller`. */
  readonly noun: string
  /** Subject of its events, and prefix of refusals. */
  readonly subject: string
  readonly refusedCode: string
  /** View in which its state is shown. */
  readonly view: string
}

/** Name of a change, its literal command, and a test of whether the state that was read back shows it. */
export interface DaemonChange {
  readonly title: string
  readonly command: string
  readonly isApplied: () => boolean
}

export class CommandLink {
  readonly #monitor: ClusterMonitor
  readonly #kind: DaemonKind
  #isSending = false

  constructor(monitor: ClusterMonitor, kind: DaemonKind) {
    this.#monitor = monitor
    this.#kind = kind
  }

  #refuse(code: string, why: string, next: string): { readonly ok: false; readonly error: Failure } {
    const what = `The ${this.#kind.noun} was not changed`
    return fail({ code, what, why, unaffected: 'It continues unchanged.', next })
  }

  /** Reason why nothing may be sent now; undefined if allowed. */
  refusal(reader: DaemonReader): Failure | undefined {
    const { loop } = this.#monitor
    if (loop.mode !== 'enforce') {
      const why = `the mode is ${loop.mode}: nothing is written`
      return this.#refuse('MODE', why, 'Choose Enforce, then change it again.').error
    }
    if (reader.failure) return reader.failure
    if (this.#isSending) return this.#refuse('BUSY', 'another change is being sent', 'Wait until it ends.').error
    return undefined
  }

  /**
   * Sends a change. Failures: those of `refusal`, NOT_ON_RECORD, the kind's refusal (with its message), UNKNOWN (no
   * answer, or it could not be read back), NOT_IN_FORCE (the read-back differs).
   */
  async send(reader: DaemonReader, change: DaemonChange): Promise<Result<undefined>> {
    const refused = this.refusal(reader)
    if (refused) return fail(refused)
    const intent = this.#record(reader, 'intent', change.command)
    if (!intent.ok) return intent
    this.#isSending = true
    try {
      const done = await this.#carry(reader, change)
      const text = done.ok ? 'done: verified by read-back' : `${done.error.code}: ${done.error.why ?? ''}`
      this.#record(reader, 'outcome', text)
      const level = done.ok ? 'ok' : 'bad'
      const atMs = this.#monitor.nowMs()
      const where = reader.node.host
      const { subject } = this.#kind
      this.#monitor.events.add({ atMs, kind: 'change', level, subject, text: change.title, where })
      return done
    } finally {
      this.#isSending = false
      this.#monitor.changed()
    }
  }

  #record(reader: DaemonReader, kind: 'intent' | 'outcome', text: string): Result<undefined> {
    const { audit } = this.#monitor
    try {
      audit.write(this.#monitor.nowMs(), reader.node.host, kind, text)
      return ok(undefined)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return this.#refuse('NOT_ON_RECORD', why, 'Free space for the history and change it again.')
    }
  }

  async #carry(reader: DaemonReader, { command, isApplied }: DaemonChange): Promise<Result<undefined>> {
    const unknown = (why: string): Result<undefined> =>
      fail({ code: 'UNKNOWN', what: 'The outcome of the change is unknown', why, next: `Check ${this.#kind.view}.` })
    const answer = await within(reader.node.exec(command), ANSWER_MS)
    if (!answer.ok) return unknown(`${reader.node.host} did not answer`)
    const { code, stderr } = answer.value
    if (code !== 0) {
      const message = stderr.trim().slice(0, STDERR_MAX)
      const why = message === '' ? `it exited with ${code}` : message
      return this.#refuse(this.#kind.refusedCode, why, 'Correct it and change it again.')
    }
    if (!(await reader.readNow(() => this.#monitor.nowMs()))) return unknown('it could not be read back')
    const { noun, view } = this.#kind
    const why = `the ${noun} accepted it, but its status differs`
    return isApplied() ? ok(undefined) : this.#refuse('NOT_IN_FORCE', why, `Check ${view}, and try again.`)
  }
}
