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

/** Rules that name one job exactly, by that job; the usual case for ours, and O(1) to look up. */
export function exactRules(rules: readonly RuleLine[]): Map<string, RuleLine> {
  const out = new Map<string, RuleLine>()
  for (const r of rules) {
    const id = /^jobid=\{([^{}* ]+)\}$/.exec(r.conditions)?.[1]
    if (r.queue === 'reg' && r.cpt === 0 && id !== undefined && !out.has(id)) out.set(id, r)
  }
  return out
}
