/** `sluice rules plan CLUSTER --desired FILE`: literal commands, ceilings and affected jobs. Nothing is sent. */
import type { Command } from 'commander'
import type { ServiceName, RuleForm } from '#core/api/rule-edits.ts'
import { ceiling } from '#core/control/ceiling.ts'
import { typeOn, QUEUES, type ServerRules } from '#core/control/server-rules.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import type { Queue } from '#core/lustre/nrs-policies.ts'
import { literals } from '../../base/connection.ts'
import { SERVICES } from '../../base/service.ts'
import { commandsOf, inverseOf } from '../../enforce/server-change.ts'
import { checkDraft } from '../../host/rules/check.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import { isWork, type RulePlan } from '../../host/rules/rule-plan.ts'
import { planRefusal } from '../../host/rules/refusal.ts'
import { stagedFrame } from '../../host/views/rules/staged.ts'
import { flagsOf } from '../clusters-flags.ts'
import { readDesired, startOrder, type DesiredRule } from '../desired-file.ts'
import { openCluster, stopOpening, worstOfMissing } from '../live.ts'
import { EXIT, jsonText, line, must, plain, stopJson } from '../output.ts'
import { commandRules, openStore } from './command-rules.ts'
import { planDocumentOf } from './documents.ts'

interface DesiredTerms {
  readonly expiresS: number
  readonly reason: string
}

const formOf = (r: DesiredRule): RuleForm => ({
  verb: 'start',
  name: r.name,
  conditions: r.match,
  rate: String(r.rate),
  rank: r.rank ?? '',
  realtime: false,
  queue: r.queue,
})
const stopForm = (name: string, queue: Queue | 'both'): RuleForm => ({
  verb: 'stop',
  name,
  conditions: '',
  rate: '',
  rank: '',
  realtime: false,
  queue,
})

/** Queues of any server that have a rule of this name. */
const queuesOf = (servers: readonly ServerRules[], name: string): Queue[] =>
  QUEUES.filter((q) => servers.some((s) => s.rules.some((r) => r.queue === q && r.name === name)))

const refused = (code: string, why: string, next: string): Result<never> =>
  fail({ code, what: 'Nothing was planned', why, unaffected: 'Nothing was sent.', next })

/** True if an operator started the rule from this data folder on every server and queue that has it; also if none has it. */
function isManaged(
  ruleService: RuleService,
  service: ServiceName,
  servers: readonly ServerRules[],
  name: string,
): boolean {
  return servers.every(({ server, rules }) =>
    rules.every(
      (r) => r.name !== name || ruleService.rules.find({ service, host: server, queue: r.queue, name }) !== undefined,
    ),
  )
}

/** Managed rules in force that the file no longer contains. */
function unwanted(ruleService: RuleService, service: ServiceName, desired: readonly DesiredRule[]): string[] {
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
 * Stages the changes that bring a cluster to a desired rule file. Managed rules that are not in the file are stopped. A
 * rule that already exists is stopped and started, which the planner reduces to the minimum: a new rate, or only another
 * timer.
 *
 * Failures: FOREIGN_RULE (the name is in use by a rule not managed by Sluice), those of the start order, and those of staging with
 * the line.
 */
function stageDesired(
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
    if (queues.length > 0 && !isManaged(ruleService, service, servers, name)) {
      const at = desired.find((r) => r.name === name)?.line ?? 0
      const why = `line ${at}: a rule called ${name} exists, and was not started from here`
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

export interface PlanOptions {
  readonly json?: true
  readonly service: ServiceName
  readonly desired: string
  readonly expire: number
  readonly reason: string
}

/** Ceiling of each started rule, over CPTs, queues and servers. */
function ceilingsOf(ruleService: RuleService, service: ServiceName, plan: RulePlan): object[] {
  const servers = ruleService.servers(service)
  return plan.staged.flatMap(({ edit, form }) => {
    const [first] = servers
    if (edit.verb !== 'start' || !first) return []
    const fields = (typeOn(first, edit.queue === 'hp' ? 'hp' : 'reg') ?? typeOn(first, 'hp'))?.fields ?? []
    const cpts = Math.max(...servers.map((s) => s.cpts))
    const queues = edit.queue === 'both' && first.hp ? 2 : 1
    const { perClass } = ceiling({ rate: edit.rate, cpts, servers: servers.length, queues, fields })
    const text = checkDraft(ruleService, service, { form }).ceiling
    return [
      {
        rule: edit.name,
        match: edit.conditions,
        rate: edit.rate,
        cpts,
        servers: servers.length,
        queues,
        ceiling: perClass,
        text: text.map((t) => t.text).join(''),
      },
    ]
  })
}

/** JSON form of a plan. */
export function planJson(
  ruleService: RuleService,
  service: ServiceName,
  cluster: string,
  plan: RulePlan,
): Record<string, unknown> {
  const of = SERVICES[service]
  const frame = stagedFrame(ruleService, { service }, 0)
  const trial = frame.review?.trial
  const review = frame.review
  const refused = planRefusal(ruleService.monitor, service, plan, undefined)
  return {
    id: plan.planId,
    cluster,
    service,
    nodes: plan.changes.filter(isWork).map((c) => {
      const node = ruleService.monitor.node(c.plan.server)
      const commands = literals(node, commandsOf(of, c))
      return { host: c.plan.server, commands, inverse: literals(node, inverseOf(of, c)), timers: c.keeps }
    }),
    lints: frame.lints,
    ceilings: ceilingsOf(ruleService, service, plan),
    blast: trial && {
      jobs_total: trial.jobCount,
      may: trial.mayCount,
      others: trial.otherCount,
      classes: trial.classes,
      targets: trial.targets,
      servers: trial.servers,
      rpcs_now: trial.rpcsNow,
      rpcs_after: trial.rpcsAfter,
      jobs: trial.jobs.map((j) => ({ job_id: j.jobId, how: j.how, rpcs: j.rpcs, rule: j.before, change: j.change })),
    },
    target: ruleService.typedTarget(service),
    expires_s: review?.expiresS ?? null,
    ...(refused
      ? { refused: { code: refused.code, message: [refused.what, refused.why].filter(Boolean).join(': ') } }
      : {}),
  }
}

interface PlanShown {
  readonly id: string
  readonly nodes: readonly { host: string; commands: string[]; inverse: string[] }[]
  readonly lints: readonly { level: string; text: string }[]
  readonly ceilings: readonly { rule: string; text: string; ceiling: number }[]
  readonly blast: { jobs_total: number; may: number; targets: number; servers: number } | undefined
  readonly target: string
  readonly refused?: { message: string }
}

function planText(p: PlanShown, cluster: string): string {
  const out = [`plan ${p.id} of ${cluster}`]
  for (const n of p.nodes) {
    out.push(`${n.host}`, ...n.commands.map((c) => `  ${c}`), '  rollback:', ...n.inverse.map((c) => `    ${c}`))
  }
  // A plan that cannot be applied shows its reason instead.
  if (p.nodes.length === 0 && !p.refused) out.push('no changes: every server matches the file')
  for (const c of p.ceilings) out.push(`${c.rule}: ${c.text === '' ? `up to ${c.ceiling} RPC/s` : c.text}`)
  if (p.blast) {
    const { jobs_total: jobs, may, targets, servers } = p.blast
    out.push(
      `affects ${jobs} jobs${may > 0 ? ` and possibly ${may} more` : ''}, ${targets} targets, ${servers} servers`,
    )
  }
  for (const l of p.lints) out.push(`${l.level}: ${l.text}`)
  if (p.refused) out.push(`cannot be applied: ${p.refused.message}`)
  else if (p.nodes.length > 0) out.push(`apply with: sluice rules apply ${p.id} --target ${p.target}`)
  return out.map((l) => plain(l.replaceAll('×', 'x'))).join('\n')
}

export async function plan(name: string, options: PlanOptions, command: Command): Promise<void> {
  const { json, service, expire, reason } = options
  const flags = flagsOf(command)
  const read = readDesired(options.desired)
  if (!read.ok) return stopJson(read.error, json, EXIT.usage)
  const store = must(openStore(flags))
  const opened = await openCluster(name, flags, { reconnects: false })
  if (!opened.ok) return stopOpening(opened.error, json)
  const cluster = opened.value
  const ruleService = commandRules(cluster, store)
  const staged = stageDesired(ruleService, service, read.value, { expiresS: expire, reason })
  if (!staged.ok) {
    await cluster.close()
    store.close()
    return stopJson(staged.error, json, EXIT.failed)
  }
  const made = ruleService.plan(service)
  const shown = planJson(ruleService, service, cluster.name, made)
  const lints = [
    ...staged.value.removed.map((rule) => {
      const text = `${rule} is managed by Sluice and not in the file: it is stopped`
      return { code: 'REMOVED', level: 'watch', rule, text }
    }),
    ...(shown['lints'] as object[]),
  ]
  const document = planDocumentOf(service, ruleService.typedTarget(service), made)
  store.plans.keep({ id: made.planId, cluster: cluster.name, atMs: Date.now(), state: 'planned', document })
  const missing = cluster.missing()
  const all = { ...shown, lints, ...(missing.length > 0 ? { missing } : {}) }
  line(json ? jsonText(all) : planText(all as unknown as PlanShown, cluster.name))
  // A plan that lacks a server of the service cannot be applied; the exit code reports it.
  process.exitCode = worstOfMissing(cluster, cluster.source.monitor.serversOf(service))
  await cluster.close()
  store.close()
}
