/**
 * Which rule a job falls under, judged by its job id alone. Rules that ask for more than the job id (nid, uid, opcode)
 * cannot be judged from job_stats and are passed over.
 */
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { parseConditions, type Conditions } from '#core/tbf/conditions.ts'

export class RuleMatcher {
  readonly #parsed = new Map<string, Conditions | undefined>()

  /** The first rule of queue `reg`, CPT 0, that matches; undefined when only `default` does. */
  find(rules: readonly RuleLine[], jobId: string): RuleLine | undefined {
    for (const r of rules) {
      if (r.queue !== 'reg' || r.cpt !== 0 || r.name === 'default') continue
      if (this.#conditions(r.conditions)?.matches({ jobId, nid: '' })) return r
    }
    return undefined
  }

  #conditions(text: string): Conditions | undefined {
    if (this.#parsed.has(text)) return this.#parsed.get(text)
    if (this.#parsed.size > 20_000) this.#parsed.clear()
    const read = parseConditions(text, ['jobid'])
    const conditions = read.ok ? read.value : undefined
    this.#parsed.set(text, conditions)
    return conditions
  }
}

/**
 * How to find the rule of a job among the rules of one server: O(1) where every rule names one job exactly, as ours do,
 * else by going through them.
 */
export function ruleFinder(rules: readonly RuleLine[], matcher: RuleMatcher): (jobId: string) => RuleLine | undefined {
  const exact = new Map<string, RuleLine>()
  for (const r of rules) {
    if (r.queue !== 'reg' || r.cpt !== 0 || r.name === 'default') continue
    const id = /^jobid=\{([^{}* ]+)\}$/.exec(r.conditions)?.[1]
    if (id === undefined) return (jobId) => matcher.find(rules, jobId)
    if (!exact.has(id)) exact.set(id, r)
  }
  return (jobId) => exact.get(jobId)
}
