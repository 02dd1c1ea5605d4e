/**
 * Rules that a controller wants on one server, and their names.
 *
 * A name is the controller's prefix and ten hexadecimal digits of (server, job id). Rules with other names are never touched.
 */
import { METADATA_CONTROLLER } from '../controllers/definitions.ts'
import { definitionOf, type ControllerName, type RulingController } from '../controllers/registry.ts'
import { shortHash } from '../base/hash.ts'
import { JOB_ID_MAX } from '../lustre/job-id.ts'
import { RATE_MAX } from '../lustre/nrs-tbf-rule.ts'
import type { Decision } from './controller.ts'

export interface DesiredRule {
  readonly name: string
  /** Conditions as sent, for example `jobid={4690.python.u1021}`. */
  readonly conditions: string
  /** RPC/s per class, integer 1..999999. */
  readonly rate: number
}

export const ruleName = (controller: RulingController, server: string, jobId: string): string =>
  `${definitionOf(controller).rulePrefix}_${shortHash(`${server}\u0000${jobId}`)}`

/** Name of a rule of the metadata controller: one job, and the RPC opcodes of one service that it limits (none: all of them). */
export const metadataRuleName = (server: string, service: string, jobId: string, opcodes: readonly string[]): string =>
  `${METADATA_CONTROLLER.rulePrefix}_${shortHash([server, service, jobId, ...opcodes].join('\u0000'))}`

/**
 * True if a rule can match exactly this job id: job ids are text that any user chooses, and the grammar has no quoting. Blanks, braces,
 * `,`, `&` and `*` have a meaning in it; longer ids never match; quotes and control characters are excluded for shells.
 */
export const isMatchable = (jobId: string): boolean =>
  jobId.length > 0 && jobId.length <= JOB_ID_MAX && /^[A-Za-z0-9.@_:/+#%=~^-]+$/.test(jobId)

/**
 * Most rules of a controller on one server: the number that one timer can name within the 128 KiB that Linux allows per argument, and a
 * bound against invented job ids.
 */
export const RULES_MAX = 1_000

/**
 * Derives one server's rules from the decisions of its targets. A rule of `ost_io` acts on the whole server, so a job's rate is the sum
 * of its targets' allocations (spec/adaptbf A23), up to a rule's maximum.
 *
 * @param decisions  one per target of the server.
 * @returns          highest priority first. Jobs that no rule can name, and those beyond RULES_MAX, are omitted and counted.
 */
export function desiredRules(
  controller: ControllerName,
  server: string,
  decisions: readonly Decision[],
): { rules: DesiredRule[]; skipped: { unmatchable: number; overCap: number } } {
  if (controller === 'none') return { rules: [], skipped: { unmatchable: 0, overCap: 0 } }
  const rates = new Map<string, number>()
  for (const d of decisions) for (const a of d.allocations) rates.set(a.jobId, (rates.get(a.jobId) ?? 0) + a.ratePerSec)
  const rules: DesiredRule[] = []
  const skipped = { unmatchable: 0, overCap: 0 }
  for (const [jobId, rate] of rates) {
    if (!isMatchable(jobId)) skipped.unmatchable++
    else if (rules.length >= RULES_MAX) skipped.overCap++
    else {
      const name = ruleName(controller, server, jobId)
      rules.push({ name, conditions: `jobid={${jobId}}`, rate: Math.min(RATE_MAX, rate) })
    }
  }
  return { rules, skipped }
}

/**
 * Checks whether the rules of the last decision are gone: none of its jobs has a rule any more, although a rule is possible. A single
 * missing rule may have been stopped manually; if all are missing, the server was replaced or the timer stopped them.
 *
 * @param jobIds  jobs with tokens in the last decision.
 * @param names   rules in force on the server.
 */
export function haveLapsed(
  controller: RulingController,
  server: string,
  jobIds: readonly string[],
  { names, isSystem }: { readonly names: ReadonlySet<string>; readonly isSystem: (jobId: string) => boolean },
): boolean {
  const held = jobIds.filter((jobId) => isMatchable(jobId) && !isSystem(jobId))
  return held.length > 0 && !held.some((jobId) => names.has(ruleName(controller, server, jobId)))
}
