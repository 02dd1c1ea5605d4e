/** Rule list of one queue for planning: the common rules of all CPTs, and their differences. */
import type { Queue } from '../lustre/nrs-policies.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { Item } from './rule-edit.ts'
import { cptsOf, DEFAULT_RULE, headOf, isSameHead, type ServerRules } from './server-rules.ts'

/** Names in the order of the first head; a name missing there is placed before its successor in another head. */
function unionOf(heads: readonly (readonly RuleLine[])[]): string[] {
  const names = (heads[0] ?? []).map((r) => r.name)
  for (const head of heads.slice(1)) {
    for (const [i, r] of [...head.entries()].reverse()) {
      if (names.includes(r.name)) continue
      const next = head[i + 1]
      names.splice(next ? names.indexOf(next.name) : names.length, 0, r.name)
    }
  }
  return names
}

/**
 * The rules of a queue as one list. Commands reach every CPT, so a plan cannot treat CPTs differently; a rule that differs between CPTs
 * is marked uneven.
 *
 * @param rules  in written form.
 */
export function queueList(rules: readonly RuleLine[], queue: Queue, realtime: ServerRules['realtime']): Item[] {
  const heads = cptsOf(rules, queue).map((cpt) => headOf(rules, queue, cpt))
  const first = heads[0] ?? []
  const areEqual = heads.every((h) => isSameHead(h, first))
  const names = areEqual ? first.map((r) => r.name) : unionOf(heads)
  const byName = (areEqual ? [first] : heads).map((h) => new Map(h.map((r) => [r.name, r])))
  return names.map((name, id) => {
    const lines = byName.flatMap((h) => h.get(name) ?? [])
    const line = lines[0] as RuleLine
    const isEven = areEqual || (lines.length === heads.length && lines.every((l) => l.conditions === line.conditions))
    return {
      id,
      name,
      conditions: line.conditions,
      rate: line.rate,
      realtime: name === DEFAULT_RULE ? false : realtime?.get(name),
      isEven,
      rates: [...new Set(lines.map((l) => l.rate))],
    }
  })
}

/** Returns the differences between the CPTs of a queue, as text by rule; empty if they agree. */
export function disagreements(rules: readonly RuleLine[], queue: Queue): { rule: string; text: string }[] {
  const cpts = cptsOf(rules, queue)
  const heads = cpts.map((cpt) => headOf(rules, queue, cpt))
  const first = heads[0]
  if (!first || heads.every((h) => isSameHead(h, first))) return []
  const out: { rule: string; text: string }[] = []
  for (const name of unionOf(heads)) {
    const lines = heads.map((h) => h.find((r) => r.name === name))
    const missing = cpts.filter((_, i) => !lines[i])
    const there = lines.filter((l) => l !== undefined)
    const rates = new Set(there.map((l) => l.rate))
    if (missing.length > 0) out.push({ rule: name, text: `CPT ${missing.join(', ')} of ${queue} lacks ${name}` })
    else if (new Set(there.map((l) => l.conditions)).size > 1) {
      out.push({ rule: name, text: `${name} has other conditions on CPTs of ${queue}` })
    } else if (rates.size > 1) {
      const each = lines.map((l, i) => `${l?.rate ?? 0} on CPT ${cpts[i] as number}`)
      out.push({ rule: name, text: `${name} has rate ${each.join(', ')} of ${queue}` })
    }
  }
  if (out.length === 0) {
    const other = heads.findIndex((h) => !isSameHead(h, first))
    const at = first.findIndex((r, i) => r.name !== heads[other]?.[i]?.name)
    const rule = first[at]?.name ?? ''
    out.push({ rule, text: `CPT ${cpts[other] as number} of ${queue} has ${rule} in another place` })
  }
  return out
}
