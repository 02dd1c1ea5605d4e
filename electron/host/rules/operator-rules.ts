/** Rules committed by operators: their reasons, and the timers that end them. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'

export interface RuleTimer {
  readonly unit: string
  readonly expiresMs: number
  /** Stop command, if the server has no timer and this console stops the rule. */
  readonly stop?: string | undefined
}

export interface OperatorRule {
  readonly reason: string
  readonly createdMs: number
  /** Timer that stops the rule; undefined for a rule without expiry. */
  readonly timer: RuleTimer | undefined
  readonly realtime: boolean
}

/** Place of a rule. Each queue of a server has its own rules. */
export interface RulePlace {
  readonly service: ServiceName
  readonly host: string
  readonly queue: Queue
  readonly name: string
}

/** A rule that a timer will stop, or has stopped. */
interface TimedRule {
  readonly place: RulePlace
  readonly rule: OperatorRule
  readonly timer: RuleTimer
}

/** Time after a commit by which a reading must show the rule. */
export const SETTLES_MS = 2_000
/** systemd fires timers up to a minute late. */
export const LATE_MS = 90_000

/** Key of a rule on one server. */
export const rulePlaceKey = (p: RulePlace): string => [p.service, p.host, p.queue, p.name].join('\u0000')

/** Persistent store of rules. */
export interface RuleSink {
  keepRule(place: RulePlace, rule: OperatorRule): void
  forgetRule(place: RulePlace): void
}

export class OperatorRules {
  readonly #sink: RuleSink | undefined
  readonly #rules = new Map<string, { readonly place: RulePlace; readonly rule: OperatorRule }>()

  constructor(sink?: RuleSink) {
    this.#sink = sink
  }

  /** Adds a rule that is stored already. */
  take(place: RulePlace, rule: OperatorRule): void {
    this.#rules.set(rulePlaceKey(place), { place, rule })
  }

  find(place: RulePlace): OperatorRule | undefined {
    return this.#rules.get(rulePlaceKey(place))?.rule
  }

  keep(place: RulePlace, rule: OperatorRule): void {
    this.#rules.set(rulePlaceKey(place), { place, rule })
    this.#sinkDoes((sink) => sink.keepRule(place, rule))
  }

  forget(place: RulePlace): void {
    this.#rules.delete(rulePlaceKey(place))
    this.#sinkDoes((sink) => sink.forgetRule(place))
  }

  /**
   * While its disk is full the store accepts nothing: the state in memory applies, and after a restart the servers'
   * rules.
   */
  #sinkDoes(act: (sink: RuleSink) => void): void {
    try {
      if (this.#sink) act(this.#sink)
    } catch {
      // See above.
    }
  }

  /** Rules that this console must stop now. */
  due(nowMs: number): { readonly place: RulePlace; readonly stop: string }[] {
    return [...this.#rules.values()].flatMap(({ place, rule: { timer } }) =>
      timer?.stop !== undefined && timer.expiresMs <= nowMs ? [{ place, stop: timer.stop }] : [],
    )
  }

  /** Rules that no server timer stops: only this console does. */
  get bound(): { readonly place: RulePlace; readonly rule: OperatorRule; readonly expiresMs: number }[] {
    return [...this.#rules.values()].flatMap(({ place, rule }) =>
      rule.timer?.stop === undefined ? [] : [{ place, rule, expiresMs: rule.timer.expiresMs }],
    )
  }

  /** Rules that a timer will stop, soonest first. */
  expiring(nowMs: number): TimedRule[] {
    return this.timed
      .filter(({ timer }) => timer.expiresMs > nowMs)
      .sort((a, b) => a.timer.expiresMs - b.timer.expiresMs)
  }

  /**
   * Next rule to be stopped by a timer, the number of servers where it is, and the number of running timers; undefined
   * without one.
   */
  nextStop(nowMs: number):
    | {
        service: ServiceName
        name: string
        createdMs: number
        expiresMs: number
        servers: number
        running: number
      }
    | undefined {
    const timed = this.expiring(nowMs)
    const [first] = timed
    if (!first) return undefined
    const { name } = first.place
    return {
      service: first.place.service,
      name,
      createdMs: first.rule.createdMs,
      expiresMs: first.timer.expiresMs,
      servers: new Set(
        timed.filter((t) => t.place.name === name && t.place.service === first.place.service).map((t) => t.place.host),
      ).size,
      // One timer may end the rules of both queues.
      running: new Set(timed.map((t) => `${t.place.host} ${t.timer.unit}`)).size,
    }
  }

  /** All rules under a timer. */
  get timed(): TimedRule[] {
    return [...this.#rules.values()].flatMap(({ place, rule }) =>
      rule.timer === undefined ? [] : [{ place, rule, timer: rule.timer }],
    )
  }

  /** Timers of rules on a server. */
  unitsOn(host: string): string[] {
    const on = [...this.#rules.values()].filter(({ place }) => place.host === host)
    return [...new Set(on.flatMap(({ rule: { timer } }) => (timer && timer.stop === undefined ? timer.unit : [])))]
  }

  /** Rules that this timer stops. */
  underTimer(service: ServiceName, host: string, unit: string): RulePlace[] {
    return [...this.#rules.values()].flatMap(({ place, rule }) =>
      place.service === service && place.host === host && rule.timer?.unit === unit ? [place] : [],
    )
  }

  /** Realtime flags of a server's rules that were started from here: servers do not report them. */
  realtime(service: ServiceName, host: string): ReadonlyMap<string, boolean> {
    const out = new Map<string, boolean>()
    const unclear = new Set<string>()
    for (const { place, rule } of this.#rules.values()) {
      if (place.service !== service || place.host !== host) continue
      if ((out.get(place.name) ?? rule.realtime) !== rule.realtime) unclear.add(place.name)
      out.set(place.name, rule.realtime)
    }
    for (const name of unclear) out.delete(name)
    return out
  }

  /**
   * Forgets rules that no longer exist, stopped by their timers or by someone else: a later rule of the same name is a
   * different one. A rule with a pending timer is kept, because the timer would stop that one, too.
   *
   * @param isThere  undefined if the server was not read.
   */
  forgetGone(nowMs: number, isThere: (place: RulePlace) => boolean | undefined): void {
    for (const { place, rule } of [...this.#rules.values()]) {
      const isPending = rule.timer !== undefined && nowMs < rule.timer.expiresMs + LATE_MS
      if (isPending || nowMs < rule.createdMs + SETTLES_MS) continue
      if (isThere(place) === false) this.forget(place)
    }
  }
}
