/** `sluice policy plan CLUSTER --policy "tbf jobid"`: commands with waits, their rollback, and what is lost. Nothing is sent. */
import type { Command } from 'commander'
import * as z from 'zod'
import { policyChoice, queueChoice, service as serviceName, type ServiceName } from '#core/api/rule-edits.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { ceiling } from '#core/control/ceiling.ts'
import { type PolicyChoice } from '#core/control/policy-plan.ts'
import type { QueueChoice } from '#core/control/rule-edit.ts'
import { DEFAULT_RULE } from '#core/control/server-rules.ts'
import { LUSTRE_DEFAULTS } from '#core/tbf/rule-list.ts'
import { parseTbfType } from '#core/tbf/tbf-type.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { SERVICES } from '../../base/service.ts'
import { policyLines } from '../../enforce/policy-commit.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import { lostOn, titleOf, type PlannedPolicy } from '../../host/rules/policy-plans.ts'
import { liveJobs } from '../../host/rules/servers.ts'
import { stagedFrame } from '../../host/views/rules/staged.ts'
import { flagsOf } from '../clusters-flags.ts'
import { openCluster, stopOpening, worstOfMissing } from '../live.ts'
import { EXIT, jsonText, line, must, plain, stopJson } from '../output.ts'
import { commandRules, openStore } from '../rules/command-rules.ts'
import { server, serverDocument } from '../rules/documents.ts'

export interface PlanOptions {
  readonly json?: true
  readonly policy: PolicyChoice
  readonly service: ServiceName
  readonly queue: QueueChoice
  readonly server?: readonly string[]
  readonly reason: string
}

const planDocument = z.object({
  kind: z.literal('policy'),
  service: serviceName,
  /** Target name that the operator must type to apply it. */
  typed: z.string(),
  to: policyChoice,
  queue: queueChoice,
  hosts: z.array(z.string()).optional(),
  reason: z.string(),
  servers: z.array(server),
})
export type PolicyDocument = z.infer<typeof planDocument>

/** Parses a stored plan; undefined for any other document. */
export const readPolicyDocument = (value: unknown): PolicyDocument | undefined => planDocument.safeParse(value).data

/** Stages the change by itself. Failures: UNKNOWN_SERVER, and those of staging. */
export function stagePolicy(
  ruleService: RuleService,
  { service, to, queue, hosts, reason }: Pick<PolicyDocument, 'service' | 'to' | 'queue' | 'hosts' | 'reason'>,
): Result<PlannedPolicy> {
  const known = ruleService.monitor.serversOf(service)
  const unknown = hosts?.filter((h) => !known.includes(h)) ?? []
  if (unknown.length > 0) {
    const why = `${unknown.join(', ')} is not a server of ${service}`
    const next = `Known: ${known.join(', ')}.`
    return fail({ code: 'UNKNOWN_SERVER', what: 'Nothing was planned', why, unaffected: 'Nothing was sent.', next })
  }
  const staged = ruleService.policies.stage(service, to, reason, { queue, hosts })
  if (!staged.ok) return staged
  const plan = ruleService.policies.plan(service)
  if (!plan) throw new Error('a staged policy has no plan')
  return ok(plan)
}

/** Commands as sent; waits between them (`#`) stay as they are. */
const literal = (node: NodeConnection | undefined, lines: readonly string[]): string[] =>
  lines.map((l) => (l.startsWith('#') ? l : (node?.literal?.(l) ?? l)))

/** Ceiling of TBF's built-in rule, which limits every class without another rule. */
function ceilingsOf(plan: PlannedPolicy): object[] {
  const work = plan.servers.filter((s) => s.plan.wanted.some((w) => w.policy.name === 'tbf'))
  const [first] = work
  const to = first?.plan.wanted.find((w) => w.policy.name === 'tbf')?.policy
  if (!first || !to) return []
  const type = parseTbfType(to.arg === '' ? undefined : to.arg, first.found.profile.rules)
  const cpts = Math.max(...work.map((s) => s.found.cpts))
  const queues = Math.max(...work.map((s) => s.plan.wanted.length))
  const { rate } = LUSTRE_DEFAULTS
  const fields = type.ok ? type.value.fields : []
  const { perClass } = ceiling({ rate, cpts, servers: work.length, queues, fields })
  return [{ rule: DEFAULT_RULE, match: '*', rate, cpts, servers: work.length, queues, ceiling: perClass }]
}

/** JSON form of a plan. */
function planJson(ruleService: RuleService, cluster: string, plan: PlannedPolicy) {
  const { service } = plan.staged
  const frame = stagedFrame(ruleService, { service }, 0)
  const work = plan.servers.filter((s) => s.plan.steps.length > 0)
  const hosts = new Set(work.map((s) => s.plan.server))
  const jobs = liveJobs(ruleService.monitor, service).filter((j) => j.servers.some((h) => hosts.has(h)))
  const refused = ruleService.policies.planRefusal(service, plan)
  return {
    id: plan.planId,
    cluster,
    service,
    policy: titleOf(plan.staged),
    nodes: work.map((s) => {
      const node = ruleService.monitor.node(s.plan.server)
      return {
        host: s.plan.server,
        commands: literal(node, policyLines(s.plan.steps, SERVICES[service])),
        inverse: literal(node, policyLines(s.plan.inverse, SERVICES[service])),
        lost: lostOn(service, s, ruleService.rules),
        drain: s.plan.drain,
      }
    }),
    lints: frame.lints,
    ceilings: ceilingsOf(plan),
    blast: {
      jobs_total: jobs.length,
      servers: work.length,
      targets: work.reduce((n, s) => n + (ruleService.monitor.reading(s.plan.server)?.targets.length ?? 0), 0),
      rpcs_now: Math.round(jobs.reduce((n, j) => n + j.rpcs, 0)),
      queued: work.reduce((n, s) => n + s.plan.drain.queued, 0),
    },
    target: ruleService.typedTarget(service),
    ...(refused
      ? { refused: { code: refused.code, message: [refused.what, refused.why].filter(Boolean).join(': ') } }
      : {}),
  }
}

function planText(p: ReturnType<typeof planJson>): string {
  const out = [`plan ${p.id} of ${p.cluster}: ${p.service} runs ${p.policy}`]
  for (const n of p.nodes) {
    out.push(n.host, ...n.commands.map((c) => `  ${c}`), '  rollback:', ...n.inverse.map((c) => `    ${c}`))
  }
  if (p.nodes.length === 0 && !p.refused) out.push('no changes: every server already runs it')
  const { jobs_total: jobs, targets, servers, queued } = p.blast
  if (p.nodes.length > 0)
    out.push(`affects ${jobs} jobs, ${targets} targets, ${servers} servers, ${queued} queued RPCs`)
  for (const l of p.lints) out.push(`${l.level}: ${l.text}`)
  if (p.refused) out.push(`cannot be applied: ${p.refused.message}`)
  else if (p.nodes.length > 0) out.push(`apply with: sluice policy apply ${p.id} --target ${p.target}`)
  return out.map(plain).join('\n')
}

export async function plan(name: string, options: PlanOptions, command: Command): Promise<void> {
  const { json, service, policy: to, queue, server: hosts, reason } = options
  const flags = flagsOf(command)
  const store = must(openStore(flags))
  const opened = await openCluster(name, flags, { reconnects: false })
  if (!opened.ok) return stopOpening(opened.error, json)
  const cluster = opened.value
  const ruleService = commandRules(cluster, store)
  const request = { service, to, queue, reason, ...(hosts && { hosts: [...new Set(hosts)] }) }
  const staged = stagePolicy(ruleService, request)
  if (!staged.ok) {
    await cluster.close()
    store.close()
    return stopJson(staged.error, json, staged.error.code === 'UNKNOWN_SERVER' ? EXIT.usage : EXIT.failed)
  }
  const made = staged.value
  const shown = planJson(ruleService, cluster.name, made)
  const servers = made.servers.map(serverDocument)
  const document: PolicyDocument = { kind: 'policy', typed: ruleService.typedTarget(service), ...request, servers }
  store.plans.keep({ id: made.planId, cluster: cluster.name, atMs: Date.now(), state: 'planned', document })
  const missing = cluster.missing()
  if (json) line(jsonText({ ...shown, ...(missing.length > 0 ? { missing } : {}) }))
  else line(planText(shown))
  const code = worstOfMissing(cluster, hosts ?? cluster.source.monitor.serversOf(service))
  process.exitCode = made.servers.some((s) => s.plan.refused !== undefined) ? EXIT.failed : code
  await cluster.close()
  store.close()
}
