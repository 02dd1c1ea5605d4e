/**
 * Which subjects have been wrong for long enough, and which have been well for long enough again.
 *
 * A subject begins after `forMs` of `high` without a break, and ends after `holdMs` of `low`; `held` keeps one that goes on and breaks
 * one that does not. `unknown` stops both clocks: a gap begins nothing and ends nothing. Of two rules that differ in their thresholds
 * alone, the stretches of the stricter one lie within those of the other.
 */
import type { Judged, Stand } from './figures.ts'

/** A pending subject that is not known for longer than this begins anew, ms. */
const FORGOTTEN_MS = 60_000

interface State {
  stand: Stand
  lastMs: number
  /** First `high` of the present run, and how long of it is known. */
  sinceMs: number
  highMs: number
  isOn: boolean
  /** The same of `low`, of one that goes on; less than 0: it is not low. */
  lowSinceMs: number
  lowMs: number
}

export interface Turn<J extends Judged = Judged> {
  readonly began: readonly { readonly judged: J; readonly fromMs: number }[]
  /** Those that go on, told of just now. */
  readonly going: readonly J[]
  readonly ended: readonly { readonly subject: string; readonly endMs: number }[]
}

export class Lasting {
  readonly #holdMs: number
  /** What it means that a subject is not spoken of. */
  readonly #absent: 'low' | 'unknown'
  readonly #states = new Map<string, State>()

  constructor(holdMs: number, absent: 'low' | 'unknown' = 'low') {
    this.#holdMs = holdMs
    this.#absent = absent
  }

  /** Subjects that go on. */
  get on(): string[] {
    return [...this.#states].flatMap(([subject, s]) => (s.isOn ? [subject] : []))
  }

  /** Subjects that go on or may begin. */
  get size(): number {
    return this.#states.size
  }

  look<J extends Judged>(atMs: number, judged: readonly J[], forMs: number): Turn<J> {
    const [began, going, ended]: [{ judged: J; fromMs: number }[], J[], { subject: string; endMs: number }[]] = [
      [],
      [],
      [],
    ]
    const told = new Set<string>()
    for (const j of judged) {
      told.add(j.subject)
      const what = this.#step(j.subject, j.stand, atMs, forMs)
      if (what === 'began') began.push({ judged: j, fromMs: j.sinceMs ?? this.#states.get(j.subject)?.sinceMs ?? atMs })
      else if (what === 'on') going.push(j)
      else if (typeof what === 'number') ended.push({ subject: j.subject, endMs: what })
    }
    for (const subject of [...this.#states.keys()]) {
      if (told.has(subject)) continue
      const what = this.#step(subject, this.#absent, atMs, forMs)
      if (typeof what === 'number') ended.push({ subject, endMs: what })
    }
    return { began, going, ended }
  }

  /** Nothing goes on any more. */
  clear(): void {
    this.#states.clear()
  }

  /** What has not begun yet begins anew. */
  forgetPending(): void {
    for (const [subject, s] of this.#states) if (!s.isOn) this.#states.delete(subject)
  }

  /** 'began', 'on' while it goes on, the instant of its end, or nothing. */
  #step(subject: string, stand: Stand, atMs: number, forMs: number): 'began' | 'on' | number | undefined {
    let s = this.#states.get(subject)
    if (!s) {
      if (stand !== 'high') return undefined
      s = { stand: 'unknown', lastMs: atMs, sinceMs: atMs, highMs: 0, isOn: false, lowSinceMs: atMs, lowMs: 0 }
      this.#states.set(subject, s)
    }
    if (stand === 'unknown') {
      if (!s.isOn && atMs - s.lastMs > FORGOTTEN_MS) this.#states.delete(subject)
      s.stand = stand
      return s.isOn ? 'on' : undefined
    }
    // Only time between two looks that both know is known time.
    const dt = s.stand === 'unknown' ? 0 : Math.max(0, atMs - s.lastMs)
    ;[s.stand, s.lastMs] = [stand, atMs]
    return s.isOn ? this.#goOn(subject, s, dt, atMs) : this.#wait(subject, s, dt, forMs)
  }

  #wait(subject: string, s: State, dt: number, forMs: number): 'began' | undefined {
    if (s.stand !== 'high') {
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
    if (s.stand !== 'low') {
      s.lowMs = -1
      return 'on'
    }
    // The first look that finds it well is where it ended, if it stays so.
    if (s.lowMs < 0) [s.lowMs, s.lowSinceMs] = [0, atMs]
    else s.lowMs += dt
    if (s.lowMs < this.#holdMs) return 'on'
    this.#states.delete(subject)
    return s.lowSinceMs
  }
}
