/** Rules of the span by their text, with when each stood on which server. */
import { plainText } from '#core/base/plain-text.ts'
import { RULES_MOST, STANDS_MOST, type ReplayData } from '#core/snapshot/replay-data.ts'
import type { HistoryReader, KeptRule } from '../../history/reader.ts'

const TEXT_MOST = 4_096
type Stood = [server: number, place: number, fromMs: number, toMs: number | null]

/** Partitions of a server's processors hold the same rules: what differs in them alone is one. */
export function replayRules(
  reader: HistoryReader,
  fromMs: number,
  lastMs: number,
): Pick<ReplayData, 'servers' | 'rules' | 'rulesMore'> {
  const servers = new Map<string, number>()
  const rules = new Map<string, { rule: KeptRule; stood: Stood[]; last: Map<string, Stood> }>()
  let [stands, left] = [0, 0]
  for (const rule of reader.rulesBetween(fromMs, lastMs)) {
    const text = JSON.stringify([rule.queue, rule.name, rule.conditions, rule.rate])
    let of = rules.get(text)
    if (!of && rules.size < RULES_MOST) rules.set(text, (of = { rule, stood: [], last: new Map() }))
    let server = servers.get(rule.server)
    if (server === undefined) servers.set(rule.server, (server = servers.size))
    const partition = JSON.stringify([server, rule.fromMs])
    const same = of?.last.get(partition)
    if (same) {
      same[1] = Math.min(same[1], rule.position)
      if (same[3] !== null) same[3] = rule.toMs === null ? null : Math.max(same[3], rule.toMs)
    } else if (of && stands < STANDS_MOST) {
      const stood: Stood = [server, rule.position, rule.fromMs, rule.toMs]
      of.stood.push(stood)
      of.last.set(partition, stood)
      stands++
    } else left++
  }
  return {
    servers: [...servers.keys()].map(plainText),
    rules: [...rules.values()].map(({ rule, stood }) => ({
      ...{ queue: rule.queue, name: plainText(rule.name), rate: rule.rate, stood },
      conditions: plainText(rule.conditions.slice(0, TEXT_MOST)),
    })),
    rulesMore: left,
  }
}
