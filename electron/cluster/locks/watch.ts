/**
 * Samples a lock manager that reports every step: totals for the hour, conditions as long as samples are kept, and a few
 * events.
 */
import { NS_PER_S } from '#core/base/units.ts'
import type { ResourceId } from '#core/seqdlm/messages.ts'
import type { LockWorld, TracedCondition } from '#core/seqdlm/trace/trace.ts'
import { SeriesTable } from '#core/series/series-table.ts'
import type { EventLog } from '../state/event-log.ts'
import { convoysBetween, type SeenCondition } from './peaks.ts'
import { conditionText, resourceName } from './condition-text.ts'

const RAW = 1_800
const SECONDS = 3_600
/** Counts and rates per second. */
const LOCK_COLUMNS = ['held', 'grants', 'cancels', 'waiting'] as const
type LockMeasure = (typeof LOCK_COLUMNS)[number]
const ALL = 'all'
const UNKNOWN: Readonly<Record<LockMeasure, number>> = { held: NaN, grants: NaN, cancels: NaN, waiting: NaN }
const column = (m: LockMeasure): number => LOCK_COLUMNS.indexOf(m)

const orNull = (v: number): number | null => (Number.isNaN(v) ? null : v)

/** Locks held, granted, canceled and waited for: every sample for three minutes, means of a second for an hour. */
export class LockSeries {
  readonly #raw = new SeriesTable(RAW, LOCK_COLUMNS)
  readonly #seconds = new SeriesTable(SECONDS, LOCK_COLUMNS)
  #secondMs = 0
  #secondFrom = 1

  /** Adds the next sample; samples are numbered from 1, without gaps. */
  add(atMs: number, values: Readonly<Record<LockMeasure, number>>): void {
    const second = Math.floor(atMs / 1000) * 1000
    if (second !== this.#secondMs) this.#closeSecond(second)
    this.#raw.push(atMs)
    this.#raw.set(ALL, ...LOCK_COLUMNS.map((m) => values[m]))
  }

  value(measure: LockMeasure, sample: number): number | null {
    return orNull(this.#raw.value(ALL, column(measure), sample))
  }

  /** Mean of the last `n` samples up to `sample`; null if none of them is known. */
  mean(measure: LockMeasure, sample: number, n: number): number | null {
    return orNull(this.#raw.mean(ALL, column(measure), sample, n))
  }

  /** Mean of the window before the one that ends at a sample; null if it begins before the data in memory, or all of it is a gap. */
  meanBefore(measure: LockMeasure, sample: number, windowMs: number): number | null {
    const { table, to } = this.#tableFor(sample, 2 * windowMs)
    const border = table.sampleAt(table.atMs(to) - windowMs)
    const from = table.sampleAt(table.atMs(border) - windowMs)
    if (!(table.atMs(border) - windowMs >= table.atMs(table.oldest))) return null
    return orNull(table.mean(ALL, column(measure), border, border - from))
  }

  /**
   * Window that ends at a sample, downsampled by means.
   *
   * @param points  most points, >= 2.
   */
  window(
    sample: number,
    windowMs: number,
    points: number,
  ): { readonly t: number[] } & Readonly<Record<LockMeasure, (number | null)[]>> {
    const { table, to } = this.#tableFor(sample, windowMs)
    if (to === 0) return { t: [], held: [], grants: [], cancels: [], waiting: [] }
    const { from, step } = table.window(to, windowMs, points)
    const of = (m: LockMeasure): (number | null)[] => table.downsample(ALL, column(m), from, to, step)
    return {
      t: table.times(from, to, step),
      held: of('held'),
      grants: of('grants'),
      cancels: of('cancels'),
      waiting: of('waiting'),
    }
  }

  /** Table for a window: raw samples if they reach back far enough, else seconds. */
  #tableFor(sample: number, windowMs: number): { table: SeriesTable; to: number } {
    const raw = { table: this.#raw, to: Math.min(sample, this.#raw.newest) }
    const atMs = this.#raw.atMs(raw.to)
    const isEnough = this.#raw.oldest === 1 || atMs - windowMs >= this.#raw.atMs(this.#raw.oldest)
    if (isEnough) return raw
    // A second is known once it has ended: a coarse view of the past never includes later data.
    const next = this.#seconds.sampleAt(atMs - 1000)
    const to = this.#seconds.atMs(next) <= atMs - 1000 ? next : next - 1
    return to >= this.#seconds.oldest ? { table: this.#seconds, to } : raw
  }

  #closeSecond(next: number): void {
    const from = this.#secondFrom
    const to = this.#raw.newest
    if (to >= from && this.#secondMs > 0) {
      this.#seconds.push(this.#secondMs)
      this.#seconds.set(ALL, ...LOCK_COLUMNS.map((_, c) => this.#raw.mean(ALL, c, to, to - from + 1)))
    }
    this.#secondMs = next
    this.#secondFrom = to + 1
  }
}

export type { SeenCondition } from './peaks.ts'

/** Samples for which a storm stays visible: fifteen seconds, the largest distance of a search hit. */
export const STORM_SAMPLES = 150
/** Maximum conditions of one kind per sample, the worst ones. */
const CONDITIONS_MAX = 4
/** Samples with stored conditions: as many as the views can go back. */
const SAMPLES_MAX = 1_800
/** Part of the timeout from which a client is at risk. */
const RISK = 0.5
/** Number of waiters from which a convoy is reported. */
const CONVOY_LEAST = 8
/** A storm has ended after it was absent for this long. */
const QUIET_MS = 10_000
/**
 * A storm that comes back within this time is a repeat: repeats are counted, and reported together at most this often. An
 * eviction risk is always reported.
 */
const REPEAT_MS = 300_000
/** Storms of one kind reported by name in ten seconds; the others are counted. */
const NAMED_MAX = 3

/** The oldest callback is always in the list; it is a storm only if it is near its timeout. */
const isStorm = ({ condition: a }: SeenCondition): boolean => a.kind !== 'eviction' || a.ageNs > RISK * a.timeoutNs

const severity = (a: TracedCondition): number =>
  a.kind === 'convoy' ? a.waiting : a.kind === 'ping-pong' ? a.perSecond : a.ageNs / a.timeoutNs

const KINDS = ['convoy', 'ping-pong', 'eviction'] as const
type Kind = (typeof KINDS)[number]
const LABELS: Readonly<Record<Kind, string>> = {
  convoy: 'Convoy',
  'ping-pong': 'Ping-pong',
  eviction: 'Eviction risk',
}
const keyOf = (a: TracedCondition): string => `${a.kind} ${a.resource}`

/** Worst first; equal ones in the order of their resources, for a stable order. */
const byWorst = (a: TracedCondition, b: TracedCondition): number => severity(b) - severity(a) || a.resource - b.resource

/**
 * Worst state of each condition, kind by kind, worst first; of equal ones the first.
 *
 * A convoy that is being served hands its lock over, too: its queue is what matters, so its ping-pong is omitted.
 */
function worstOf(seen: readonly SeenCondition[]): SeenCondition[] {
  const worst = new Map<string, SeenCondition>()
  for (const s of seen) {
    const known = worst.get(keyOf(s.condition))
    if (!known || severity(s.condition) > severity(known.condition)) worst.set(keyOf(s.condition), s)
  }
  return KINDS.flatMap((kind) =>
    [...worst.values()]
      .filter(({ condition: a }) => a.kind === kind && !(kind === 'ping-pong' && worst.has(`convoy ${a.resource}`)))
      .sort((a, b) => byWorst(a.condition, b.condition)),
  )
}

export class LockWatch {
  readonly world: LockWorld
  readonly series = new LockSeries()
  readonly #events: EventLog
  /** Conditions by sample; only of samples that have any. */
  readonly #conditions = new Map<number, readonly SeenCondition[]>()
  /** Time at which each storm was last seen, ms; kept until it would no longer be a repeat. */
  readonly #storms = new Map<string, number>()
  /** Repeats since the first one that was not reported yet, by kind. */
  readonly #repeats = new Map<Kind, { readonly sinceMs: number; times: number; readonly resources: Set<ResourceId> }>()
  /** Marks of the present ten seconds, by kind, and number of unnamed storms. */
  #budget = { sinceMs: -Infinity, reported: new Map<Kind, number>(), unreported: new Map<Kind, number>() }
  #last: { atNs: number; held: number } | undefined
  /** Values of the last sample with new data. */
  #measured: Readonly<Record<LockMeasure, number>> | undefined

  constructor(world: LockWorld, events: EventLog) {
    this.world = world
    this.#events = events
  }

  /** Processes sample number `sample`; must be called for every sample, in order. */
  look(sample: number, sampledNs: number, atMs: number): void {
    const { trace, reading } = this.world
    // Of a trace that is read from servers, each sample sees what was read since the one before.
    const atNs = Math.min(sampledNs, reading?.seenNs ?? sampledNs)
    const sinceNs = this.#last?.atNs ?? 0
    if (reading && (reading.isSilent || !(atNs > sinceNs))) {
      this.series.add(atMs, (!reading.isSilent && this.#measured) || UNKNOWN)
      return
    }
    this.#measure(atNs, atMs)
    const now = trace.conditions(atNs).map((condition) => ({ condition, atNs }))
    const seen = worstOf([...now, ...convoysBetween(trace, sinceNs, atNs)])
    this.#keep(sample, seen)
    this.#report(atMs, seen)
  }

  /**
   * Conditions of the `n` samples up to `sample`, each in its worst state: a convoy lasts only milliseconds, and would
   * flicker otherwise. Eviction risks are those of the sample itself. Worst first within a kind.
   */
  conditions(sample: number, n: number): readonly SeenCondition[] {
    const all: SeenCondition[] = []
    for (let s = sample; s > sample - n; s--) {
      all.push(...(this.#conditions.get(s) ?? []).filter((seen) => s === sample || seen.condition.kind !== 'eviction'))
    }
    return worstOf(all)
  }

  /** Same, without open callbacks that are not near their timeout. */
  storms(sample: number, n: number): readonly SeenCondition[] {
    return this.conditions(sample, n).filter(isStorm)
  }

  #measure(atNs: number, atMs: number): void {
    const last = this.#last
    const seconds = (atNs - (last?.atNs ?? 0)) / NS_PER_S
    const modes = this.world.trace.modes(atNs, atNs - (last?.atNs ?? 0))
    const sum = (of: (m: (typeof modes)[number]) => number): number => modes.reduce((n, m) => n + of(m), 0)
    const held = sum((m) => m.held)
    const grants = sum((m) => m.grants)
    // Every lock that was granted and is no longer held has ended.
    const ended = Math.max(0, grants - (held - (last?.held ?? 0)))
    const waiting = sum((m) => m.waiting)
    const isComplete = this.world.reading?.isComplete(last?.atNs ?? 0, atNs) ?? true
    this.#measured = {
      held,
      grants: isComplete ? grants / seconds : NaN,
      cancels: isComplete ? ended / seconds : NaN,
      waiting,
    }
    this.series.add(atMs, this.#measured)
    this.#last = { atNs, held }
  }

  #keep(sample: number, seen: readonly SeenCondition[]): void {
    const worst = KINDS.flatMap((kind) => seen.filter((s) => s.condition.kind === kind).slice(0, CONDITIONS_MAX))
    if (worst.length > 0) this.#conditions.set(sample, worst)
    for (const first of this.#conditions.keys()) {
      if (first > sample - SAMPLES_MAX) break
      this.#conditions.delete(first)
    }
  }

  #report(atMs: number, seen: readonly SeenCondition[]): void {
    if (atMs - this.#budget.sinceMs >= QUIET_MS) this.#renew(atMs)
    for (const s of seen) {
      const { condition } = s
      if ((condition.kind === 'convoy' && condition.waiting < CONVOY_LEAST) || !isStorm(s)) continue
      if (condition.kind === 'ping-pong' && this.#isActive(`convoy ${condition.resource}`, atMs)) continue
      const key = keyOf(condition)
      if (!this.#storms.has(key)) this.#mark(s, atMs)
      else if (!this.#isActive(key, atMs)) {
        if (condition.kind === 'eviction') this.#mark(s, atMs)
        else this.#repeat(condition, condition.kind, atMs)
      }
      this.#storms.set(key, atMs)
    }
    for (const [key, lastMs] of this.#storms) if (atMs - lastMs >= REPEAT_MS) this.#storms.delete(key)
    this.#reportRepeats(atMs)
  }

  #isActive(key: string, atMs: number): boolean {
    const lastMs = this.#storms.get(key)
    return lastMs !== undefined && atMs - lastMs < QUIET_MS
  }

  #repeat({ resource }: TracedCondition, kind: Kind, atMs: number): void {
    let of = this.#repeats.get(kind)
    if (!of) this.#repeats.set(kind, (of = { sinceMs: atMs, times: 0, resources: new Set() }))
    of.times++
    of.resources.add(resource)
  }

  /** Reports the repeats of a kind in one line: the resource if it is only one, else the number of resources. */
  #reportRepeats(atMs: number): void {
    for (const [kind, { sinceMs, times, resources }] of this.#repeats) {
      if (atMs - sinceMs < REPEAT_MS) continue
      this.#repeats.delete(kind)
      const [only] = resources
      const name = resources.size === 1 && only !== undefined ? resourceName(this.world, only) : ''
      const where = name === '' ? `${resources.size} resources` : name
      const often = times === 1 ? 'once more' : `${times} more times`
      const text = `${LABELS[kind]} on ${where}, ${often} in ${REPEAT_MS / 60_000} min`
      this.#events.add({ atMs, kind: 'alarm', level: 'watch', subject: 'Locks', text, where: name })
    }
  }

  #mark({ condition, atNs }: SeenCondition, atMs: number): void {
    const { reported, unreported } = this.#budget
    const n = reported.get(condition.kind) ?? 0
    if (n >= NAMED_MAX) {
      unreported.set(condition.kind, (unreported.get(condition.kind) ?? 0) + 1)
      return
    }
    reported.set(condition.kind, n + 1)
    const { text, note } = conditionText(this.world, condition, atNs)
    this.#events.add({
      atMs,
      kind: 'alarm',
      level: condition.kind === 'eviction' ? 'bad' : 'watch',
      subject: 'Locks',
      text: condition.kind === 'eviction' ? `${text} ${note}` : text,
      where: resourceName(this.world, condition.resource),
    })
  }

  /** Begins the next ten seconds; unnamed storms of the last ones are reported in one line. */
  #renew(atMs: number): void {
    for (const [kind, n] of this.#budget.unreported) {
      const text = `${LABELS[kind]} on ${n} more ${n === 1 ? 'resource' : 'resources'}`
      this.#events.add({ atMs, kind: 'alarm', level: 'watch', subject: 'Locks', text, where: '' })
    }
    this.#budget = { sinceMs: atMs, reported: new Map(), unreported: new Map() }
  }
}
