/** Rules that were committed by hand in this run of the console: why they stand, and the timers that end them. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'

export interface RuleTimer {
  readonly unit: string
  readonly expiresMs: number
  /** The value that stops the rule, where the server keeps no timer and this console stops it. */
  readonly stop?: string | undefined
}

export interface OperatorRule {
  readonly reason: string
  readonly createdMs: number
  /** Timer on the server that stops it; undefined for a rule without one. */
  readonly timer: RuleTimer | undefined
  readonly realtime: boolean
}

/** Where a rule stands. Each queue of a server has rules of its own. */
export interface RulePlace {
  readonly service: ServiceName
  readonly host: string
  readonly queue: Queue
  readonly name: string
}

/** A rule is there at the latest at the reading that follows its commit. */
const SETTLES_MS = 2_000
/** systemd fires timers up to a minute late. */
const LATE_MS = 90_000

const keyOf = (p: RulePlace): string => [p.service, p.host, p.queue, p.name].join('\u0000')

/** Where rules are kept besides the memory. */
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

  /** Takes over a rule that is kept already. */
  take(place: RulePlace, rule: OperatorRule): void {
    this.#rules.set(keyOf(place), { place, rule })
  }

  find(place: RulePlace): OperatorRule | undefined {
    return this.#rules.get(keyOf(place))?.rule
  }

  keep(place: RulePlace, rule: OperatorRule): void {
    this.#rules.set(keyOf(place), { place, rule })
    this.#sinkDoes((sink) => sink.keepRule(place, rule))
  }

  forget(place: RulePlace): void {
    this.#rules.delete(keyOf(place))
    this.#sinkDoes((sink) => sink.forgetRule(place))
  }

  /** While its disk is full the store takes nothing: what is known here holds, and the servers tell the rest after a restart. */
  #sinkDoes(act: (sink: RuleSink) => void): void {
    try {
      if (this.#sink) act(this.#sink)
    } catch {
      // As above.
    }
  }

  /** Rules that this console must stop, whose time has come. */
  due(nowMs: number): { readonly place: RulePlace; readonly stop: string }[] {
    return [...this.#rules.values()].flatMap(({ place, rule: { timer } }) =>
      timer?.stop !== undefined && timer.expiresMs <= nowMs ? [{ place, stop: timer.stop }] : [],
    )
  }

  /** Rules that no server stops: only this console does. */
  get bound(): { readonly place: RulePlace; readonly rule: OperatorRule; readonly expiresMs: number }[] {
    return [...this.#rules.values()].flatMap(({ place, rule }) =>
      rule.timer?.stop === undefined ? [] : [{ place, rule, expiresMs: rule.timer.expiresMs }],
    )
  }

  /** The rule that a timer stops next, on how many servers it does, and how many timers run in all; undefined without one. */
  nextStop(
    nowMs: number,
  ): { name: string; createdMs: number; expiresMs: number; servers: number; running: number } | undefined {
    const timed = [...this.#rules.values()].flatMap(({ place, rule: { createdMs, timer } }) =>
      timer && timer.expiresMs > nowMs
        ? [{ name: place.name, host: place.host, createdMs, expiresMs: timer.expiresMs, unit: timer.unit }]
        : [],
    )
    const first = timed.reduce<(typeof timed)[number] | undefined>(
      (soonest, t) => (soonest && soonest.expiresMs <= t.expiresMs ? soonest : t),
      undefined,
    )
    if (!first) return undefined
    const { name, createdMs, expiresMs } = first
    return {
      name,
      createdMs,
      expiresMs,
      servers: new Set(timed.filter((t) => t.name === name).map((t) => t.host)).size,
      // The rules of both queues may end by one timer.
      running: new Set(timed.map((t) => `${t.host} ${t.unit}`)).size,
    }
  }

  /** Timers of rules on a server. */
  unitsOn(host: string): string[] {
    const on = [...this.#rules.values()].filter(({ place }) => place.host === host)
    return [...new Set(on.flatMap(({ rule: { timer } }) => (timer && timer.stop === undefined ? timer.unit : [])))]
  }

  /** Places whose rule this timer stops. */
  underTimer(service: ServiceName, host: string, unit: string): RulePlace[] {
    return [...this.#rules.values()].flatMap(({ place, rule }) =>
      place.service === service && place.host === host && rule.timer?.unit === unit ? [place] : [],
    )
  }

  /** Realtime flags of a server's rules as far as they were started from here: servers do not tell. */
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
   * Forgets rules that are gone, stopped by their timers or by somebody else: what is started under their names later is
   * another rule. One whose timer is pending is kept, because the timer would stop that one, too.
   *
   * @param isThere  undefined where the server was not read.
   */
  forgetGone(nowMs: number, isThere: (place: RulePlace) => boolean | undefined): void {
    for (const { place, rule } of [...this.#rules.values()]) {
      const isPending = rule.timer !== undefined && nowMs < rule.timer.expiresMs + LATE_MS
      if (isPending || nowMs < rule.createdMs + SETTLES_MS) continue
      if (isThere(place) === false) this.forget(place)
    }
  }
}
