/** Rules of every server at a sample, and the rule that each job falls under. */
import { Binder } from '#core/control/binding.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { RuleMatcher, writtenLines } from '../../cluster/rule-matcher.ts'
import type { RulesRead, Viewed } from '../../cluster/viewed.ts'

/** The first rule of a job on one server; undefined when only `default` matches. */
interface Finder {
  readonly find: (jobId: string) => RuleLine | undefined
  /** Jobs that rules can have to do with; undefined: any. */
  readonly ids: Iterable<string> | undefined
}

/** Structures of conditions stay from sample to sample; what is read of one text stays as long as the text does. */
const matcher = new RuleMatcher()
const lines = new WeakMap<RulesRead, readonly RuleLine[]>()
const finders = new WeakMap<readonly RuleLine[], Finder>()

/** The rules of one server as written, each with its field. */
export function linesOf(kept: RulesRead | undefined): readonly RuleLine[] {
  if (!kept) return []
  let known = lines.get(kept)
  if (!known) {
    known = writtenLines(kept.lines ?? parseNrsTbfRule(kept.text).rules, kept.policy)
    lines.set(kept, known)
  }
  return known
}

/** Rules of every server at a sample, parsed. */
export function rulesAt(viewed: Viewed, sample: number): Map<string, readonly RuleLine[]> {
  return new Map(viewed.servers.map((host) => [host, linesOf(viewed.recent.rulesAt(host, sample))]))
}

function finderOf(list: readonly RuleLine[]): Finder {
  let finder = finders.get(list)
  if (!finder) {
    const head = list.filter((r) => r.queue === 'reg' && r.cpt === 0)
    const type = { fields: [], isList: head.some((r) => r.conditions.startsWith('{')) }
    const binder = new Binder(writtenLines(head, ''), type, matcher.shapes)
    const known = new Map<string, RuleLine | undefined>()
    const ask = (jobId: string): RuleLine | undefined => binder.bind({ jobId }).sure
    const remembered = (jobId: string): RuleLine | undefined => {
      if (!known.has(jobId)) known.set(jobId, ask(jobId))
      return known.get(jobId)
    }
    // Where rules name jobs exactly it takes no going through them.
    finder = { find: binder.ids ? ask : remembered, ids: binder.ids && [...binder.ids] }
    finders.set(list, finder)
  }
  return finder
}

export type RuleOf = (jobId: string) => { readonly name: string; readonly rate: number } | undefined

/**
 * The rule that each job falls under: its name and its rate summed over the servers that have it.
 *
 * @complexity  O(servers) a job that a rule can have to do with, O(1) for one that none can.
 */
export function ruleLookup(rules: ReadonlyMap<string, readonly RuleLine[]>): RuleOf {
  const servers = [...rules.values()].map(finderOf)
  const named = servers.every((s) => s.ids !== undefined)
    ? new Set(servers.flatMap((s) => [...(s.ids ?? [])]))
    : undefined
  return (jobId) => {
    if (named?.has(jobId) === false) return undefined
    let name: string | undefined
    let rate = 0
    for (const { find } of servers) {
      const r = find(jobId)
      if (!r) continue
      name ??= r.name
      rate += r.rate
    }
    return name === undefined ? undefined : { name, rate }
  }
}
