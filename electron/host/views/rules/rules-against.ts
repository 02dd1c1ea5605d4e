/** Rules at A beside those at the cursor: their state at A, and rules that no longer exist. */
import type { RulesFrame } from '#core/api/frames.ts'
import type { ServiceName } from '#core/api/rule-edits.ts'
import { placeOf } from '../../../base/service.ts'
import type { Against } from '../against.ts'
import { linesOf } from '../rule-lookup.ts'
import { mergeRules, ruleKey, type MergedRule } from './rule-rows.ts'

/** Most removed rules listed in one frame. */
const GONE = 200

const ratesOf = (rule: MergedRule): number[] => rule.lines.map((l) => l.line.rate)

type Row = RulesFrame['rows'][number]

export interface RulesAgainst {
  readonly of: (rule: Pick<MergedRule, 'name' | 'conditions'>) => { against: NonNullable<Row['against']> }
  /** Rules at A that are not among the present ones, by key. */
  readonly gone: (now: Iterable<Pick<MergedRule, 'name' | 'conditions'>>) => NonNullable<RulesFrame['gone']>
}

/** @param hosts  shown servers. */
export function rulesAgainst(
  a: Against,
  { service, queue }: { readonly service: ServiceName; readonly queue: 'reg' | 'hp' },
  hosts: readonly string[],
): RulesAgainst {
  const servers = hosts.map((host) => ({
    host,
    rules: linesOf(a.viewed.recent.rulesAt(placeOf(host, service), a.sample)),
  }))
  const then = new Map(mergeRules(servers, queue).map((r) => [ruleKey(r), r]))
  return {
    of: (rule) => {
      const old = then.get(ruleKey(rule))
      if (!old) return { against: { there: false, rateMin: null, rateMax: null } }
      const rates = ratesOf(old)
      return { against: { there: true, rateMin: Math.min(...rates), rateMax: Math.max(...rates) } }
    },
    gone: (now) => {
      const remaining = new Map(then)
      for (const rule of now) remaining.delete(ruleKey(rule))
      return [...remaining.values()].slice(0, GONE).map((r) => {
        const { name, conditions } = r
        return { name, conditions, rate: Math.max(...ratesOf(r)) }
      })
    },
  }
}
