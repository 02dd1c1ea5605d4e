/**
 * The control cycle's clockwork: collect, compute, tell what falls, tell what rises, sleep. Each step waits for the answers of
 * the one before, up to a deadline. A change in between (a job joins, a policy is due) begins one without collecting, though
 * not at each of many joins. Source: spec/padll 5; 6 row 8.
 */
import { LOCAL_ANSWER_NS } from './protocol.ts'
import type { GlobalSettings } from './settings.ts'
import type { LocalPeer } from './stage-record.ts'

/** What is waited for. */
export type Phase = 'asleep' | 'collect' | 'lower' | 'raise'

/** Who is asked in a step, and with which request. */
export type Asked = ReadonlyMap<LocalPeer, number>

/** What the steps are. */
export interface Steps {
  collect(): Asked
  /** All counts of the rounds are there. */
  endRounds(): void
  compute(): void
  lower(): Asked
  raise(): Asked
  /** These did not answer in time. */
  missed(phase: Phase, peers: readonly LocalPeer[]): void
}

/** Least part of an interval between two computations that nothing but changes ask for. */
const GAP_PART = 0.05

export class Cycle {
  readonly #steps: Steps
  #phase: Phase = 'asleep'
  #waiting = new Map<LocalPeer, number>()
  #deadlineNs = Infinity
  #beganNs: number
  #nextNs: number
  #computedNs = -Infinity
  #rounds = 0
  /** Something changed: compute soon. */
  isDue = false
  /** Cycles with a collection so far, and what the last one took. */
  count = 0
  tookNs = 0

  constructor(nowNs: number, steps: Steps) {
    this.#steps = steps
    this.#beganNs = nowNs
    this.#nextNs = nowNs
  }

  /** When `tick` is to be called at the latest, `dueNs` being when something will change by itself. */
  nextNs(settings: GlobalSettings, dueNs: number): number {
    if (this.#phase !== 'asleep') return this.#deadlineNs
    const change = this.isDue ? this.#computedNs : dueNs
    return Math.min(this.#nextNs, Math.max(change, this.#computedNs + gapNs(settings)))
  }

  /** The interval may have become shorter. */
  changed(settings: GlobalSettings, nowNs: number): void {
    this.#nextNs = Math.min(this.#nextNs, nowNs + settings.intervalNs)
    this.isDue = true
  }

  answered(peer: LocalPeer, request: number): void {
    if (this.#waiting.get(peer) === request) this.#waiting.delete(peer)
  }

  lost(peer: LocalPeer): void {
    this.#waiting.delete(peer)
    this.isDue = true
  }

  tick(settings: GlobalSettings, nowNs: number): void {
    if (this.#phase !== 'asleep' && nowNs >= this.#deadlineNs) {
      const missing = [...this.#waiting.keys()]
      this.#waiting.clear()
      this.#steps.missed(this.#phase, missing)
    }
    if (this.#phase === 'asleep' && nowNs >= this.#nextNs) {
      this.#beganNs = nowNs
      this.#nextNs += settings.intervalNs
      if (this.#nextNs <= nowNs) this.#nextNs = nowNs + settings.intervalNs
      this.#enter('collect', this.#steps.collect(), nowNs)
    }
    this.goOn(settings, nowNs)
  }

  /** Takes every step that waits for nothing. */
  goOn(settings: GlobalSettings, nowNs: number): void {
    while (this.#waiting.size === 0) {
      if (this.#phase === 'asleep') {
        if (!this.isDue || nowNs < this.#computedNs + gapNs(settings)) return
        this.#beganNs = nowNs
        this.#lower(nowNs)
      } else if (this.#phase === 'collect') {
        this.count++
        if (++this.#rounds >= settings.collectRounds) {
          this.#rounds = 0
          this.isDue = true
          this.#steps.endRounds()
        }
        this.#lower(nowNs)
      } else if (this.#phase === 'lower') {
        this.#enter('raise', this.#steps.raise(), nowNs)
      } else {
        this.#phase = 'asleep'
        this.tookNs = nowNs - this.#beganNs
      }
    }
  }

  /** Computes where there is a reason to; what was told in vain is told again in any case. */
  #lower(nowNs: number): void {
    if (this.isDue) {
      this.isDue = false
      this.#computedNs = nowNs
      this.#steps.compute()
    }
    this.#enter('lower', this.#steps.lower(), nowNs)
  }

  #enter(phase: Phase, asked: Asked, nowNs: number): void {
    this.#phase = phase
    this.#waiting = new Map(asked)
    this.#deadlineNs = nowNs + LOCAL_ANSWER_NS
  }
}

const gapNs = (settings: GlobalSettings): number => Math.floor(settings.intervalNs * GAP_PART)
