/**
 * Alert hysteresis: raise after `forMs` high, clear after `holdMs` low.
 *
 * `high` must be uninterrupted; `held` keeps an active subject active and resets a pending one. `unknown` stops both clocks: a gap
 * neither begins nor ends anything. Of two rules that differ only in their thresholds, the ranges of the stricter one lie within those of
 * the other.
 */
import type { Judgement, AlertCondition } from './figures.ts'

/** A pending subject that stays unknown for longer than this starts over, ms. */
const FORGOTTEN_MS = 60_000

interface State {
  condition: AlertCondition
  lastMs: number
  /** First `high` of the current run, and its known duration. */
  sinceMs: number
  highMs: number
  isOn: boolean
  /** The same for `low`, of an active subject; lowMs < 0 while it is not low. */
  lowSinceMs: number
  lowMs: number
}

export interface HysteresisChanges<J extends Judgement = Judgement> {
  readonly began: readonly { readonly judged: J; readonly fromMs: number }[]
  /** Subjects already active, judged in this sample. */
  readonly going: readonly J[]
  readonly ended: readonly { readonly subject: string; readonly endMs: number }[]
}

export class AlertHysteresis {
  readonly #holdMs: number
  /** State of a subject that is absent from a sample. */
  readonly #absent: 'low' | 'unknown'
  readonly #states = new Map<string, State>()

  constructor(holdMs: number, absent: 'low' | 'unknown' = 'low') {
    this.#holdMs = holdMs
    this.#absent = absent
  }

  /** Active subjects. */
  get on(): string[] {
    return [...this.#states].flatMap(([subject, s]) => (s.isOn ? [subject] : []))
  }

  /** Active and pending subjects. */
  get size(): number {
    return this.#states.size
  }

  look<J extends Judgement>(atMs: number, judged: readonly J[], forMs: number): HysteresisChanges<J> {
    const began: { judged: J; fromMs: number }[] = []
    const going: J[] = []
    const ended: { subject: string; endMs: number }[] = []
    const reported = new Set<string>()
    for (const j of judged) {
      reported.add(j.subject)
      const what = this.#step(j.subject, j.condition, atMs, forMs)
      if (what === 'began') began.push({ judged: j, fromMs: j.sinceMs ?? this.#states.get(j.subject)?.sinceMs ?? atMs })
      else if (what === 'on') going.push(j)
      else if (typeof what === 'number') ended.push({ subject: j.subject, endMs: what })
    }
    for (const subject of [...this.#states.keys()]) {
      if (reported.has(subject)) continue
      const what = this.#step(subject, this.#absent, atMs, forMs)
      if (typeof what === 'number') ended.push({ subject, endMs: what })
    }
    return { began, going, ended }
  }

  /** Clears all subjects. */
  clear(): void {
    this.#states.clear()
  }

  /** Resets the pending subjects. */
  forgetPending(): void {
    for (const [subject, s] of this.#states) if (!s.isOn) this.#states.delete(subject)
  }

  /** Returns 'began', 'on' while active, the time of the end, or nothing. */
  #step(subject: string, condition: AlertCondition, atMs: number, forMs: number): 'began' | 'on' | number | undefined {
    let s = this.#states.get(subject)
    if (!s) {
      if (condition !== 'high') return undefined
      s = { condition: 'unknown', lastMs: atMs, sinceMs: atMs, highMs: 0, isOn: false, lowSinceMs: atMs, lowMs: 0 }
      this.#states.set(subject, s)
    }
    if (condition === 'unknown') {
      if (!s.isOn && atMs - s.lastMs > FORGOTTEN_MS) this.#states.delete(subject)
      s.condition = condition
      return s.isOn ? 'on' : undefined
    }
    // Counts only the time between two known observations.
    const dt = s.condition === 'unknown' ? 0 : Math.max(0, atMs - s.lastMs)
    ;[s.condition, s.lastMs] = [condition, atMs]
    return s.isOn ? this.#goOn(subject, s, dt, atMs) : this.#wait(subject, s, dt, forMs)
  }

  #wait(subject: string, s: State, dt: number, forMs: number): 'began' | undefined {
    if (s.condition !== 'high') {
      this.#states.delete(subject)
      return undefined
    }
    s.highMs += dt
    if (s.highMs < forMs) return undefined
    s.isOn = true
    s.lowMs = -1
    return 'began'
  }

  #goOn(subject: string, s: State, dt: number, atMs: number): 'on' | number {
    if (s.condition !== 'low') {
      s.lowMs = -1
      return 'on'
    }
    // The first `low` observation is the end, if the subject stays low.
    if (s.lowMs < 0) [s.lowMs, s.lowSinceMs] = [0, atMs]
    else s.lowMs += dt
    if (s.lowMs < this.#holdMs) return 'on'
    this.#states.delete(subject)
    return s.lowSinceMs
  }
}
