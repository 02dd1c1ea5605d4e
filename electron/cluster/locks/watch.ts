/**
 * Looks at a lock manager that tells every step, once a sample: totals for the hour, alarms for as long as samples are kept,
 * and the few events an operator wants to read of it.
 */
import { NS_PER_S } from '#core/base/units.ts'
import type { LockWorld, TraceAlarm } from '#core/seqdlm/trace/trace.ts'
import type { EventLog } from '../state/event-log.ts'
import { LockSeries } from './series.ts'
import { convoysBetween, type SeenAlarm } from './peaks.ts'
import { alarmWords, resourceName } from './words.ts'

export type { SeenAlarm } from './peaks.ts'

/** Samples that a storm stays in sight for: fifteen seconds, as far as a found moment may lie back. */
export const STORM_SAMPLES = 150
/** Alarms of one kind that are kept of a sample, the worst ones. */
const ALARMS_MAX = 4
/** Samples that alarms are kept for: as many as the views can go back to. */
const KEPT = 1_800
/** A client is at risk from this share of the timeout on. */
const RISK = 0.5
/** A convoy is news from this many waiters on. */
const CONVOY_LEAST = 8
/** A storm is news when it begins, and again after it was not seen for this long. */
const QUIET_MS = 10_000
/** Storms of one kind told by name in ten seconds; of the others their number is told. */
const NAMED_MAX = 3

/** The oldest callback is always told; it is a risk when it is near its timeout. */
const isStorm = ({ alarm: a }: SeenAlarm): boolean => a.kind !== 'eviction' || a.ageNs > RISK * a.timeoutNs

const severity = (a: TraceAlarm): number =>
  a.kind === 'convoy' ? a.waiting : a.kind === 'ping-pong' ? a.perSecond : a.ageNs / a.timeoutNs

const KINDS = ['convoy', 'ping-pong', 'eviction'] as const
type Kind = (typeof KINDS)[number]
const WORDS: Readonly<Record<Kind, string>> = {
  ...{ convoy: 'Convoy', 'ping-pong': 'Ping-pong', eviction: 'Eviction risk' },
}
const keyOf = (a: TraceAlarm): string => `${a.kind} ${a.resource}`

/** Worst first; equal ones in the order of their resources, so that lists stand still. */
const byWorst = (a: TraceAlarm, b: TraceAlarm): number => severity(b) - severity(a) || a.resource - b.resource

/**
 * Each alarm as it stood at its worst, kind by kind, worst first; of equals the first one named.
 *
 * A convoy that is served hands its lock over, too: there the queue is what matters, and its ping-pong is left out.
 */
function worstOf(seen: readonly SeenAlarm[]): SeenAlarm[] {
  const worst = new Map<string, SeenAlarm>()
  for (const s of seen) {
    const known = worst.get(keyOf(s.alarm))
    if (!known || severity(s.alarm) > severity(known.alarm)) worst.set(keyOf(s.alarm), s)
  }
  return KINDS.flatMap((kind) =>
    [...worst.values()]
      .filter(({ alarm: a }) => a.kind === kind && !(kind === 'ping-pong' && worst.has(`convoy ${a.resource}`)))
      .sort((a, b) => byWorst(a.alarm, b.alarm)),
  )
}

export class LockWatch {
  readonly world: LockWorld
  readonly series = new LockSeries()
  readonly #events: EventLog
  /** Alarms by sample; only of samples that have any. */
  readonly #kept = new Map<number, readonly SeenAlarm[]>()
  /** When each storm was last seen, ms. */
  readonly #storms = new Map<string, number>()
  /** Marks of the present ten seconds, by kind, and storms that were not told by name. */
  #budget = { sinceMs: -Infinity, told: new Map<Kind, number>(), untold: new Map<Kind, number>() }
  #last: { atNs: number; held: number } | undefined

  constructor(world: LockWorld, events: EventLog) {
    this.world = world
    this.#events = events
  }

  /** Takes sample number `sample`; every sample is told, in order. */
  look(sample: number, atNs: number, atMs: number): void {
    const { trace } = this.world
    const sinceNs = this.#last?.atNs ?? 0
    this.#measure(atNs, atMs)
    const now = trace.alarms(atNs).map((alarm) => ({ alarm, atNs }))
    const seen = worstOf([...now, ...convoysBetween(trace, sinceNs, atNs)])
    this.#keep(sample, seen)
    this.#tell(atMs, seen)
  }

  /**
   * Alarms of the `n` samples up to `sample`, each as it stood at its worst: a convoy comes and goes within milliseconds, and
   * would flicker otherwise. Eviction risks are those of the sample itself. Worst first within a kind.
   */
  alarms(sample: number, n: number): readonly SeenAlarm[] {
    const all: SeenAlarm[] = []
    for (let s = sample; s > sample - n; s--) {
      all.push(...(this.#kept.get(s) ?? []).filter((seen) => s === sample || seen.alarm.kind !== 'eviction'))
    }
    return worstOf(all)
  }

  /** The same without callbacks that are open and not near their timeout. */
  storms(sample: number, n: number): readonly SeenAlarm[] {
    return this.alarms(sample, n).filter(isStorm)
  }

  #measure(atNs: number, atMs: number): void {
    const last = this.#last
    const seconds = (atNs - (last?.atNs ?? 0)) / NS_PER_S
    const modes = this.world.trace.modes(atNs, atNs - (last?.atNs ?? 0))
    const sum = (of: (m: (typeof modes)[number]) => number): number => modes.reduce((n, m) => n + of(m), 0)
    const [held, grants] = [sum((m) => m.held), sum((m) => m.grants)]
    // Every lock that was granted and is not held any more has ended, whichever way.
    const ended = Math.max(0, grants - (held - (last?.held ?? 0)))
    this.series.add(atMs, { held, grants: grants / seconds, cancels: ended / seconds, waiting: sum((m) => m.waiting) })
    this.#last = { atNs, held }
  }

  #keep(sample: number, seen: readonly SeenAlarm[]): void {
    const worst = KINDS.flatMap((kind) => seen.filter((s) => s.alarm.kind === kind).slice(0, ALARMS_MAX))
    if (worst.length > 0) this.#kept.set(sample, worst)
    for (const first of this.#kept.keys()) {
      if (first > sample - KEPT) break
      this.#kept.delete(first)
    }
  }

  #tell(atMs: number, seen: readonly SeenAlarm[]): void {
    if (atMs - this.#budget.sinceMs >= QUIET_MS) this.#renew(atMs)
    for (const s of seen) {
      const { alarm } = s
      if ((alarm.kind === 'convoy' && alarm.waiting < CONVOY_LEAST) || !isStorm(s)) continue
      if (alarm.kind === 'ping-pong' && this.#storms.has(`convoy ${alarm.resource}`)) continue
      const key = keyOf(alarm)
      if (!this.#storms.has(key)) this.#mark(s, atMs)
      this.#storms.set(key, atMs)
    }
    for (const [key, lastMs] of this.#storms) if (atMs - lastMs >= QUIET_MS) this.#storms.delete(key)
  }

  #mark({ alarm, atNs }: SeenAlarm, atMs: number): void {
    const { told, untold } = this.#budget
    const n = told.get(alarm.kind) ?? 0
    if (n >= NAMED_MAX) {
      untold.set(alarm.kind, (untold.get(alarm.kind) ?? 0) + 1)
      return
    }
    told.set(alarm.kind, n + 1)
    const { text, note } = alarmWords(this.world, alarm, atNs)
    this.#events.add({
      ...{ atMs, kind: 'alarm', level: alarm.kind === 'eviction' ? 'bad' : 'watch', subject: 'Locks' },
      text: alarm.kind === 'eviction' ? `${text} ${note}` : text,
      where: resourceName(this.world, alarm.resource),
    })
  }

  /** Begins the next ten seconds; what was not told by name in the last ones is told in one line. */
  #renew(atMs: number): void {
    for (const [kind, n] of this.#budget.untold) {
      const text = `${WORDS[kind]} on ${n} more ${n === 1 ? 'resource' : 'resources'}`
      this.#events.add({ atMs, kind: 'alarm', level: 'watch', subject: 'Locks', text, where: '' })
    }
    this.#budget = { sinceMs: atMs, told: new Map(), untold: new Map() }
  }
}
