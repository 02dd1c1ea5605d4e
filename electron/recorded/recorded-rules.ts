/** Rules in force at a time, by server (and service). */
import { formatCptTitle, formatQueueTitle, formatRuleLine, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { placeOf } from '../base/service.ts'
import type { RulesRead } from '../cluster/cluster-view.ts'
import type { HistoryReader, HistoryRule } from '../history/reader.ts'

/** Times whose rules are cached. */
const HELD = 8
/** Rules are read a range at a time: a controller makes dozens a second, and the cursor moves by tenths of one. */
const RANGE_MS = 10_000
const RANGES = 4
/** A range with this many rules is incomplete. */
const MANY = 100_000

/** Rule list as a server prints it. */
class RecordedList implements RulesRead {
  readonly policy = ''
  readonly lines: readonly RuleLine[]
  readonly shape: object
  #text: string | undefined

  constructor(lines: readonly RuleLine[], shape: object) {
    this.lines = lines
    this.shape = shape
  }

  get text(): string {
    return (this.#text ??= printed(this.lines))
  }
}

function printed(lines: readonly RuleLine[]): string {
  let text = ''
  let queue = ''
  let cpt = -1
  for (const r of lines) {
    if (r.queue !== queue) {
      text += formatQueueTitle(r.queue)
      ;[queue, cpt] = [r.queue, -1]
    }
    if (r.cpt !== cpt) text += formatCptTitle((cpt = r.cpt))
    text += formatRuleLine(r)
  }
  return text
}

const isAlike = (x: RuleLine, y: RuleLine): boolean =>
  x === y || (x.name === y.name && x.conditions === y.conditions && x.queue === y.queue && x.cpt === y.cpt)

/** Returns the previous list if equal, else a new list that reuses its shape if that is equal. */
function listLike(last: RecordedList | undefined, list: readonly RuleLine[]): RecordedList {
  const before = last?.lines
  if (!last || before?.length !== list.length) return new RecordedList(list, {})
  let isSame = true
  for (let i = 0; i < list.length; i++) {
    const x = before[i] as RuleLine
    const y = list[i] as RuleLine
    if (!isAlike(x, y)) return new RecordedList(list, {})
    isSame &&= x.rate === y.rate && x.ref === y.ref
  }
  return isSame ? last : new RecordedList(list, last.shape)
}

export class RecordedRules {
  readonly #reader: HistoryReader
  readonly #dataServers: ReadonlySet<string>
  readonly #held = new Map<number, ReadonlyMap<string, RulesRead>>()
  readonly #ranges = new Map<number, RuleRange | 'many'>()
  /** Last list of each place: reused while it is unchanged, together with results derived from it. */
  readonly #last = new Map<string, RecordedList>()

  constructor(reader: HistoryReader) {
    this.#reader = reader
    this.#dataServers = new Set(reader.allTargets().flatMap((t) => (/-MDT|^MDT/i.test(t.target) ? [] : [t.node])))
  }

  /** Rules by place (`placeOf`); a place without stored rules is absent. */
  at(atMs: number): ReadonlyMap<string, RulesRead> {
    let held = this.#held.get(atMs)
    if (!held) {
      this.#held.set(atMs, (held = this.#read(atMs)))
      if (this.#held.size > HELD) this.#held.delete(this.#held.keys().next().value as number)
    }
    return held
  }

  #read(atMs: number): ReadonlyMap<string, RulesRead> {
    const out = new Map<string, RulesRead>()
    for (const [place, all] of this.#around(atMs)) {
      const list = all.filter((r) => r.fromMs <= atMs && (r.toMs === null || r.toMs > atMs))
      if (list.length === 0) continue
      const rules = listLike(this.#last.get(place), list)
      this.#last.set(place, rules)
      out.set(place, rules)
    }
    return out
  }

  /** Rules in force at a time, among others of the same range. */
  #around(atMs: number): RuleRange {
    const begin = Math.floor(atMs / RANGE_MS) * RANGE_MS
    let range = this.#ranges.get(begin)
    if (!range) {
      // Rules that ended where the range begins are no longer in force.
      const rules = this.#reader.rulesBetween(begin, begin + RANGE_MS)
      this.#ranges.set(begin, (range = rules.length >= MANY ? 'many' : this.#placed(rules)))
      if (this.#ranges.size > RANGES) this.#ranges.delete(this.#ranges.keys().next().value as number)
    }
    return range === 'many' ? this.#placed(this.#reader.rulesAt(atMs)) : range
  }

  #placed(rules: readonly HistoryRule[]): RuleRange {
    // Older files name only the server for the first service of an MDS.
    const placeIn = (server: string): string =>
      server.includes('/') || this.#dataServers.has(server) ? server : placeOf(server, 'mdt')
    const out = new Map<string, HistoryRule[]>()
    for (const rule of rules) {
      const place = placeIn(rule.server)
      const list = out.get(place)
      if (list) list.push(rule)
      else out.set(place, [rule])
    }
    for (const list of out.values()) list.sort((a, b) => a.position - b.position)
    return out
  }
}

/** Rules by place, each list in match order. */
type RuleRange = ReadonlyMap<string, readonly HistoryRule[]>
