/**
 * Events for rules that expire: one for each rule name, with the servers where it is gone. Expiries are carried out by
 * timers of the servers, so they are detected from readings, also those that happened while no console ran.
 */
import type { Mark } from '#core/api/frames.ts'
import {
  LATE_MS,
  rulePlaceKey,
  SETTLES_MS,
  type OperatorRules,
  type RulePlace,
  type RuleTimer,
} from './operator-rules.ts'

/** Servers that stop a rule within this time of each other are reported together. */
const TOGETHER_MS = 3_000

const timedKey = (place: RulePlace, { unit }: RuleTimer): string => `${rulePlaceKey(place)}\u0000${unit}`

interface Gone {
  readonly name: string
  readonly seenMs: number
  readonly expiresMs: number
  readonly hosts: Set<string>
  /** Stopped by this console, because the server keeps no timers. */
  isByConsole: boolean
}

export class ExpiryEvents {
  readonly #add: (mark: Mark) => void
  /** Rules that were gone before they expired: stopped by someone else. */
  readonly #early = new Set<string>()
  /** Expired rules that are gone: reported, unless they were gone before. */
  readonly #reported = new Set<string>()
  /** Rules reported as active after their expiry. */
  readonly #overdue = new Set<string>()
  readonly #gone = new Map<string, Gone>()

  constructor(add: (mark: Mark) => void) {
    this.#add = add
  }

  /** @param isThere  undefined if the server was not read. */
  look(nowMs: number, rules: OperatorRules, isThere: (place: RulePlace) => boolean | undefined): void {
    const keys = new Set<string>()
    for (const { place, rule, timer } of rules.timed) {
      const key = timedKey(place, timer)
      // One timer stops the rule on both queues.
      const ofBoth = [place.service, place.host, place.name, timer.unit].join('\u0000')
      keys.add(key).add(ofBoth)
      const is = nowMs < rule.createdMs + SETTLES_MS ? undefined : isThere(place)
      if (is === undefined || this.#reported.has(key)) continue
      if (nowMs < timer.expiresMs) {
        if (is) this.#early.delete(key)
        else this.#early.add(key)
      } else if (!is) {
        this.#reported.add(key)
        if (!this.#early.has(key)) this.#note(place, timer, nowMs, false)
      } else if (nowMs >= timer.expiresMs + LATE_MS && !this.#overdue.has(ofBoth)) {
        this.#overdue.add(ofBoth)
        this.#late(place, nowMs)
      }
    }
    for (const seen of [this.#early, this.#reported, this.#overdue]) {
      for (const key of seen) if (!keys.has(key)) seen.delete(key)
    }
    this.#report(nowMs)
  }

  /** A rule that this console stopped at its expiry. */
  stopped(place: RulePlace, timer: RuleTimer, nowMs: number): void {
    this.#note(place, timer, nowMs, true)
  }

  #note({ service, host, name }: RulePlace, { expiresMs }: RuleTimer, seenMs: number, isByConsole: boolean): void {
    const key = `${service} ${name}`
    let gone = this.#gone.get(key)
    if (!gone) this.#gone.set(key, (gone = { name, seenMs, expiresMs, hosts: new Set(), isByConsole }))
    gone.hosts.add(host)
    gone.isByConsole ||= isByConsole
  }

  #report(nowMs: number): void {
    for (const [key, { name, seenMs, expiresMs, hosts, isByConsole }] of this.#gone) {
      if (nowMs < seenMs + TOGETHER_MS) continue
      this.#gone.delete(key)
      this.#add({
        // An expiry while no console ran has its own time.
        atMs: seenMs - expiresMs > LATE_MS ? expiresMs : seenMs,
        kind: 'stop',
        level: 'ok',
        subject: 'Rule',
        text: `${name} expired, stopped by ${isByConsole ? 'this console' : 'its server timer'}`,
        where: hosts.size === 1 ? ([...hosts][0] ?? '') : `${hosts.size} servers`,
      })
    }
  }

  #late({ host, name }: RulePlace, atMs: number): void {
    const text = `${name} has expired but is still active: stop it`
    this.#add({ atMs, kind: 'stop', level: 'bad', subject: 'Rule', text, where: host })
  }
}
