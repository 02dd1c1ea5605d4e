/** Requests of the global controller that need the answers of several stages, each with a deadline. */
import type { ChannelCounts, LocalToGlobal } from './messages.ts'
import type { StageSession } from './stage-session.ts'
import type { Scope } from '../vocabulary.ts'

export interface Batch {
  /** Connection of the requesting global controller. */
  readonly link: number
  readonly deadlineNs: number
  readonly isDone: boolean
  /** Called when the stage is gone and will not answer. */
  lost(session: StageSession, why: string): void
  /** Stops waiting; returns the stages without an answer, and the answer to send. */
  end(): { readonly missing: readonly StageSession[]; readonly answer: LocalToGlobal }
}

export class CollectBatch implements Batch {
  readonly link: number
  readonly deadlineNs: number
  readonly #request: number
  readonly #windowNs: number
  readonly #waiting: Set<StageSession>
  readonly #stages: { readonly key: string; readonly channels: readonly ChannelCounts[] }[] = []

  constructor(
    of: { link: number; request: number; windowNs: number; deadlineNs: number },
    sessions: Set<StageSession>,
  ) {
    this.link = of.link
    this.deadlineNs = of.deadlineNs
    this.#request = of.request
    this.#windowNs = of.windowNs
    this.#waiting = sessions
  }

  get isDone(): boolean {
    return this.#waiting.size === 0
  }

  /** Returns false if the batch has ended or the stage has answered before. */
  counts(session: StageSession, channels: readonly ChannelCounts[]): boolean {
    if (!this.#waiting.delete(session)) return false
    this.#stages.push({ key: session.key, channels: session.withLate(channels) })
    return true
  }

  lost(session: StageSession): void {
    this.#waiting.delete(session)
  }

  end(): { missing: StageSession[]; answer: LocalToGlobal } {
    const missing = [...this.#waiting]
    this.#waiting.clear()
    const silent = missing.map((s) => s.key)
    const stages = this.#stages
    return { missing, answer: { kind: 'counts', request: this.#request, windowNs: this.#windowNs, stages, silent } }
  }
}

interface Failed {
  readonly key: string
  readonly scope: Scope
  readonly why: string
}

export class EnforceBatch implements Batch {
  readonly link: number
  readonly deadlineNs: number
  readonly #request: number
  /** Unanswered commands: scope by session and request. */
  readonly #waiting = new Map<StageSession, Map<number, Scope>>()
  readonly #failed: Failed[] = []

  constructor(of: { link: number; request: number; deadlineNs: number }) {
    this.link = of.link
    this.deadlineNs = of.deadlineNs
    this.#request = of.request
  }

  get isDone(): boolean {
    return this.#waiting.size === 0
  }

  sent(session: StageSession, request: number, scope: Scope): void {
    const of = this.#waiting.get(session) ?? new Map<number, Scope>()
    this.#waiting.set(session, of.set(request, scope))
  }

  fail(key: string, scope: Scope, why: string): void {
    this.#failed.push({ key, scope, why })
  }

  ack(session: StageSession, request: number, failed: string | undefined): void {
    const of = this.#waiting.get(session)
    const scope = of?.get(request)
    if (!of || scope === undefined) return
    of.delete(request)
    if (of.size === 0) this.#waiting.delete(session)
    if (failed !== undefined) this.fail(session.key, scope, failed)
  }

  lost(session: StageSession, why: string): void {
    for (const scope of new Set(this.#waiting.get(session)?.values())) this.fail(session.key, scope, why)
    this.#waiting.delete(session)
  }

  end(): { missing: StageSession[]; answer: LocalToGlobal } {
    const missing = [...this.#waiting.keys()]
    for (const session of missing) this.lost(session, 'it did not answer in time')
    return { missing, answer: { kind: 'ack', request: this.#request, failed: this.#failed } }
  }
}
