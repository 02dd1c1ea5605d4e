/**
 * State machine of the control cycle: collect, compute, lower rates, raise rates, sleep. Each step waits for the
 * answers of the step before, up to a deadline. A change in between (a job joins, a policy is due) starts a cycle
 * without collecting; frequent changes share one. Source: spec/padll 5; 6 row 8.
 */
import { LOCAL_ANSWER_NS } from './protocol.ts'
import type { GlobalSettings } from './settings.ts'
import type { LocalPeer } from './stage-record.ts'

/** Step whose answers are awaited. */
export type Phase = 'asleep' | 'collect' | 'lower' | 'raise'

/** Peers that owe an answer in a step, with the request number. */
export type OutstandingRequests = ReadonlyMap<LocalPeer, number>

/** Actions of the cycle's steps. */
export interface Steps {
  collect(): OutstandingRequests
  /** Called when all counts of the rounds have arrived. */
  endRounds(): void
  compute(): void
  lower(): OutstandingRequests
  raise(): OutstandingRequests
  /** Called with the peers that did not answer in time. */
  missed(phase: Phase, peers: readonly LocalPeer[]): void
}

/** Least time between two computations that only changes trigger, as a part of the interval. */
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
  /** Set if something changed that needs a computation soon. */
  isDue = false
  /** Cycles with a collection so far, and the duration of the last one. */
  count = 0
  tookNs = 0

  constructor(nowNs: number, steps: Steps) {
    this.#steps = steps
    this.#beganNs = nowNs
    this.#nextNs = nowNs
  }

  /** Latest time for the next `tick`; `dueNs` is the time of the next scheduled change. */
  nextNs(settings: GlobalSettings, dueNs: number): number {
    if (this.#phase !== 'asleep') return this.#deadlineNs
    const change = this.isDue ? this.#computedNs : dueNs
    return Math.min(this.#nextNs, Math.max(change, this.#computedNs + gapNs(settings)))
  }

  /** Called after a change of settings: the interval may have become shorter. */
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
    this.advance(settings, nowNs)
  }

  /** Advances through every step that waits for nothing. */
  advance(settings: GlobalSettings, nowNs: number): void {
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

  /** Computes new rates if due; commands without an answer are sent again in any case. */
  #lower(nowNs: number): void {
    if (this.isDue) {
      this.isDue = false
      this.#computedNs = nowNs
      this.#steps.compute()
    }
    this.#enter('lower', this.#steps.lower(), nowNs)
  }

  #enter(phase: Phase, outstanding: OutstandingRequests, nowNs: number): void {
    this.#phase = phase
    this.#waiting = new Map(outstanding)
    this.#deadlineNs = nowNs + LOCAL_ANSWER_NS
  }
}

const gapNs = (settings: GlobalSettings): number => Math.floor(settings.intervalNs * GAP_PART)
