/** Rules as they stood at an instant, by the server (and service) that they stood on. */
import { formatCptTitle, formatQueueTitle, formatRuleLine, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
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
  #text: string | undefined

  constructor(lines: readonly RuleLine[]) {
    this.lines = lines
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

const isSame = (a: readonly RuleLine[], b: readonly RuleLine[]): boolean =>
  a.length === b.length &&
  a.every((x, i) => {
    const y = b[i] as RuleLine
    return (
      x.name === y.name &&
      x.rate === y.rate &&
      x.conditions === y.conditions &&
      x.queue === y.queue &&
      x.cpt === y.cpt &&
      x.ref === y.ref
    )
  })

export class RecordedRules {
  readonly #reader: HistoryReader
  readonly #held = new Map<number, ReadonlyMap<string, RulesRead>>()
  readonly #stretches = new Map<number, readonly KeptRule[]>()
  /** The last list of each place: while it stands, what was made of it stays. */
  readonly #last = new Map<string, KeptRules>()

  constructor(reader: HistoryReader) {
    this.#reader = reader
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
    const byPlace = new Map<string, KeptRule[]>()
    for (const rule of this.#standing(atMs)) {
      const list = byPlace.get(rule.server)
      if (list) list.push(rule)
      else byPlace.set(rule.server, [rule])
    }
    const out = new Map<string, RulesRead>()
    for (const [place, list] of byPlace) {
      list.sort((a, b) => a.position - b.position)
      const last = this.#last.get(place)
      const rules = last && isSame(last.lines, list) ? last : new KeptRules(list)
      this.#last.set(place, rules)
      out.set(place, rules)
    }
    return out
  }

  #standing(atMs: number): readonly KeptRule[] {
    const begin = Math.floor(atMs / STRETCH_MS) * STRETCH_MS
    let rules = this.#stretches.get(begin)
    if (!rules) {
      // Those that ended where it begins stand no more.
      rules = this.#reader.rulesBetween(begin, begin + STRETCH_MS)
      this.#stretches.set(begin, rules)
      if (this.#stretches.size > STRETCHES) this.#stretches.delete(this.#stretches.keys().next().value as number)
    }
    if (rules.length >= MANY) return this.#reader.rulesAt(atMs)
    return rules.filter((r) => r.fromMs <= atMs && (r.toMs === null || r.toMs > atMs))
  }
}
