/** Changes that bring a cluster to a desired rule file: what is ours and not wanted goes, the rest is started anew. */
import type { RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { QUEUES, type ServerRules } from '#core/control/server-rules.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import { startOrder, type DesiredRule } from '../desired-file.ts'

export interface DesiredTerms {
  readonly expiresS: number
  readonly reason: string
}

const formOf = (r: DesiredRule): RuleForm => ({
  ...{ verb: 'start', name: r.name, conditions: r.match, rate: String(r.rate), rank: r.rank ?? '' },
  ...{ realtime: false, queue: r.queue },
})
const stopForm = (name: string, queue: Queue | 'both'): RuleForm => ({
  ...{ verb: 'stop', name, conditions: '', rate: '', rank: '', realtime: false, queue },
})

/** Queues of any server on which a rule of this name stands. */
const queuesOf = (servers: readonly ServerRules[], name: string): Queue[] =>
  QUEUES.filter((q) => servers.some((s) => s.rules.some((r) => r.queue === q && r.name === name)))

const refused = (code: string, why: string, next: string): Result<never> =>
  fail({ code, what: 'Nothing was planned', why, unaffected: 'Nothing was sent.', next })

/** Whether a rule that stands somewhere was started by a person from here, on every server that has it. */
function isOwn(ruleService: RuleService, service: ServiceName, servers: readonly ServerRules[], name: string): boolean {
  return servers.every(({ server, rules }) =>
    rules.every(
      (r) => r.name !== name || ruleService.rules.find({ service, host: server, queue: r.queue, name }) !== undefined,
    ),
  )
}

/** Rules of ours that stand and that nobody wants any more. */
export function unwanted(ruleService: RuleService, service: ServiceName, desired: readonly DesiredRule[]): string[] {
  const servers = ruleService.servers(service)
  const wanted = new Set(desired.map((r) => r.name))
  const names = new Set(
    servers.flatMap(({ server, rules }) =>
      rules
        .filter((r) => ruleService.rules.find({ service, host: server, queue: r.queue, name: r.name }) !== undefined)
        .map((r) => r.name),
    ),
  )
  return [...names].filter((n) => !wanted.has(n) && !isControllerRule(n))
}

/**
 * Stages it. A rule that is there already is stopped and started, which a plan makes to the least that is needed: a new rate, or
 * another timer only.
 *
 * Failures: FOREIGN_RULE (a name that is somebody else's), those of the file's order, and those of staging with the line.
 */
export function stageDesired(
  ruleService: RuleService,
  service: ServiceName,
  desired: readonly DesiredRule[],
  terms: DesiredTerms,
): Result<{ readonly removed: readonly string[] }> {
  const order = startOrder(desired)
  if (!order.ok) return order
  const servers = ruleService.servers(service)
  const removed = unwanted(ruleService, service, desired)
  const put = (form: RuleForm, line?: number): Failure | undefined => {
    const staged = ruleService.stage(service, form, terms)
    if (staged.ok) return undefined
    const where = line === undefined ? '' : `line ${line}: `
    return { ...staged.error, why: `${where}${form.name}: ${staged.error.why ?? staged.error.what}` }
  }
  const there: { name: string; queue: Queue }[] = []
  for (const name of [...removed, ...desired.map((r) => r.name)]) {
    const queues = queuesOf(servers, name)
    if (queues.length > 0 && !isOwn(ruleService, service, servers, name)) {
      const at = desired.find((r) => r.name === name)?.line ?? 0
      const why = `line ${at}: a rule called ${name} is there, and it was not started from here`
      return refused('FOREIGN_RULE', why, 'Give the rule another name.')
    }
    there.push(...queues.map((queue) => ({ name, queue })))
  }
  for (const { name, queue } of there) {
    const failed = put(stopForm(name, queue))
    if (failed) return fail(failed)
  }
  for (const rule of order.value) {
    const failed = put(formOf(rule), rule.line)
    if (failed) return fail(failed)
  }
  return ok({ removed })
}
