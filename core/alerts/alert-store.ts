/**
 * Alerts of one source. Subjects that begin at about the same time share one entry, which names the worst and counts the rest; a subject
 * that returns soon reopens its entry. The numbers of active entries (OPEN_MOST) and of all entries (ENTRIES_MOST) are
 * bounded.
 */
import type { AlertKind } from '../snapshot/notebook.ts'
import type { Judgement } from './figures.ts'
import type { HysteresisChanges } from './hysteresis.ts'

/** Subjects that begin within this time of an entry of their kind are assumed to have the same cause, ms. */
export const GROUP_MS = 60_000
/** A subject that returns within this time of its end reopens its entry, ms. */
export const COOL_DOWN_MS = 300_000
export const OPEN_MOST = 20
export const ENTRIES_MOST = 100
/** Most members that an entry tracks by name. */
const MEMBERS_MOST = 1_000
/** Growth of the worst measure that updates the text. */
const WORSE = 1.5

export interface Entry {
  readonly id: string
  readonly kind: AlertKind
  readonly level: 'watch' | 'bad'
  readonly text: string
  readonly where: string
  readonly fromMs: number
  /** null while active. */
  readonly endMs: number | null
  /** Subjects besides the one named. */
  readonly others: number
  /** Times the alert was reopened. */
  readonly returns: number
}

export interface Change {
  readonly what: 'opened' | 'worse' | 'joined' | 'reopened' | 'ended'
  readonly entry: Entry
}

interface Open extends Entry {
  level: Entry['level']
  text: string
  where: string
  endMs: number | null
  others: number
  returns: number
  /** First report; `fromMs` is the start of the condition. */
  readonly reportedMs: number
  /** Subjects that were part of the entry, at most MEMBERS_MOST. */
  readonly members: Set<string>
  /** Those still active. */
  readonly active: Set<string>
  worst: number
  headline: string
}

export class AlertStore {
  readonly #newId: () => string
  #entries: Open[] = []

  /** @param newId  creates the id of the next entry; unique over all sources. */
  constructor(newId: () => string) {
    this.#newId = newId
  }

  /** Active entries first, newest first. */
  get entries(): readonly Entry[] {
    return [...this.#entries].sort(
      (a, b) =>
        Number(a.endMs !== null) - Number(b.endMs !== null) || b.fromMs - a.fromMs || b.reportedMs - a.reportedMs,
    )
  }

  take(kind: AlertKind, atMs: number, { began, going, ended }: HysteresisChanges): Change[] {
    const changes: Change[] = []
    for (const { judged, fromMs } of began) {
      const change = this.#begin(kind, atMs, judged, fromMs)
      if (change) changes.push(change)
    }
    for (const j of going) {
      const e = this.#openOf(kind, j.subject)
      if (e && j.measure >= WORSE * e.worst) changes.push(this.#update(e, j, 'worse'))
    }
    for (const { subject, endMs } of ended) {
      const e = this.#openOf(kind, subject)
      e?.active.delete(subject)
      if (e?.active.size === 0) changes.push(this.#end(e, endMs))
    }
    return changes
  }

  /** Ends the active entries of one kind or of all. */
  close(atMs: number, kind?: AlertKind): Change[] {
    return this.#entries
      .filter((e) => e.endMs === null && (kind === undefined || e.kind === kind))
      .map((e) => this.#end(e, atMs))
  }

  #begin(kind: AlertKind, atMs: number, j: Judgement, fromMs: number): Change | undefined {
    const same = this.#entries.findLast(
      (e) => e.kind === kind && e.members.has(j.subject) && (e.endMs === null || atMs - e.endMs < COOL_DOWN_MS),
    )
    if (same) {
      const wasOver = same.endMs !== null
      same.active.add(j.subject)
      if (!wasOver) return undefined
      same.endMs = null
      same.returns++
      return { what: 'reopened', entry: same }
    }
    const cause = this.#entries.findLast((e) => e.kind === kind && e.endMs === null && atMs - e.reportedMs <= GROUP_MS)
    if (cause) {
      cause.active.add(j.subject)
      if (cause.members.size >= MEMBERS_MOST) return undefined
      cause.members.add(j.subject)
      cause.others = cause.members.size - 1
      return this.#update(cause, j.measure > cause.worst ? j : undefined, 'joined')
    }
    if (this.#entries.filter((e) => e.endMs === null).length >= OPEN_MOST) return undefined
    const headline = j.text()
    const entry: Open = {
      id: this.#newId(),
      kind,
      level: j.level,
      text: headline,
      headline,
      where: j.where,
      fromMs,
      reportedMs: atMs,
      endMs: null,
      others: 0,
      returns: 0,
      worst: j.measure,
      members: new Set([j.subject]),
      active: new Set([j.subject]),
    }
    this.#entries.push(entry)
    if (this.#entries.length > ENTRIES_MOST) {
      const first = this.#entries.findIndex((e) => e.endMs !== null)
      this.#entries.splice(Math.max(0, first), 1)
    }
    return { what: 'opened', entry }
  }

  #update(e: Open, worst: Judgement | undefined, what: Change['what']): Change {
    if (worst) {
      e.worst = worst.measure
      e.headline = worst.text()
      e.where = worst.where
      if (worst.level === 'bad') e.level = 'bad'
    }
    // The text of a disconnect already names all servers of the source.
    e.text = e.others === 0 || e.kind === 'disconnect' ? e.headline : `${e.headline}; and ${e.others} more`
    return { what, entry: e }
  }

  #end(e: Open, endMs: number): Change {
    e.active.clear()
    e.endMs = Math.max(e.fromMs, endMs)
    return { what: 'ended', entry: e }
  }

  #openOf(kind: AlertKind, subject: string): Open | undefined {
    return this.#entries.findLast((e) => e.kind === kind && e.endMs === null && e.members.has(subject))
  }
}
