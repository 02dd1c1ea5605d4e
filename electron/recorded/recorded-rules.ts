/** Rules as they stood at an instant, by the server (and service) that they stood on. */
import { formatCptTitle, formatQueueTitle, formatRuleLine, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { placeOf } from '../base/service.ts'
import type { RulesRead } from '../cluster/viewed.ts'
import type { HistoryReader, KeptRule } from '../history/reader.ts'

/** Instants whose rules are held. */
const HELD = 8
/** Rules are read a stretch at a time: a controller makes dozens a second, and the cursor goes on by tenths of one. */
const STRETCH_MS = 10_000
const STRETCHES = 4
/** A stretch with so many is not whole. */
const MANY = 100_000

/** A list as a server prints it. */
class KeptRules implements RulesRead {
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
  let [text, queue, cpt] = ['', '', -1]
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

/** The list as it stood before, its shape alone, or neither. */
function listLike(last: KeptRules | undefined, list: readonly RuleLine[]): KeptRules {
  const before = last?.lines
  if (!last || before?.length !== list.length) return new KeptRules(list, {})
  let isSame = true
  for (let i = 0; i < list.length; i++) {
    const [x, y] = [before[i] as RuleLine, list[i] as RuleLine]
    if (!isAlike(x, y)) return new KeptRules(list, {})
    isSame &&= x.rate === y.rate && x.ref === y.ref
  }
  return isSame ? last : new KeptRules(list, last.shape)
}

export class RecordedRules {
  readonly #reader: HistoryReader
  readonly #dataServers: ReadonlySet<string>
  readonly #held = new Map<number, ReadonlyMap<string, RulesRead>>()
  readonly #stretches = new Map<number, Stretch | 'many'>()
  /** The last list of each place: while it stands, what was made of it stays. */
  readonly #last = new Map<string, KeptRules>()

  constructor(reader: HistoryReader) {
    this.#reader = reader
    this.#dataServers = new Set(reader.allTargets().flatMap((t) => (/-MDT|^MDT/i.test(t.target) ? [] : [t.node])))
  }

  /** By place (`placeOf`); a place of which nothing is kept is not there. */
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

  /** Rules that stand at an instant, and others. */
  #around(atMs: number): Stretch {
    const begin = Math.floor(atMs / STRETCH_MS) * STRETCH_MS
    let stretch = this.#stretches.get(begin)
    if (!stretch) {
      // Those that ended where it begins stand no more.
      const rules = this.#reader.rulesBetween(begin, begin + STRETCH_MS)
      this.#stretches.set(begin, (stretch = rules.length >= MANY ? 'many' : this.#placed(rules)))
      if (this.#stretches.size > STRETCHES) this.#stretches.delete(this.#stretches.keys().next().value as number)
    }
    return stretch === 'many' ? this.#placed(this.#reader.rulesAt(atMs)) : stretch
  }

  #placed(rules: readonly KeptRule[]): Stretch {
    // Older files name the server alone for the first service of an MDS.
    const placeIn = (server: string): string =>
      server.includes('/') || this.#dataServers.has(server) ? server : placeOf(server, 'mdt')
    const out = new Map<string, KeptRule[]>()
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

/** By place, each list in match order. */
type Stretch = ReadonlyMap<string, readonly KeptRule[]>
