/** `sluice rules plan CLUSTER --desired FILE`: the literal commands, what they come to and whom they hit. Nothing is sent. */
import type { Command } from 'commander'
import type { ServiceName } from '#core/api/rule-edits.ts'
import { ceiling } from '#core/control/ceiling.ts'
import { typeOn } from '#core/control/server-rules.ts'
import { literals } from '../../base/connection.ts'
import { SERVICES } from '../../base/service.ts'
import { commandsOf, inverseOf } from '../../enforce/server-change.ts'
import { checkDraft } from '../../host/rules/check.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import { isWork, type RulePlan } from '../../host/rules/rule-plan.ts'
import { planRefusal } from '../../host/rules/refusal.ts'
import { stagedFrame } from '../../host/views/rules/staged.ts'
import { flagsOf } from '../clusters-flags.ts'
import { readDesired } from '../desired-file.ts'
import { openCluster, stopOpening, worstOfMissing } from '../live.ts'
import { EXIT, jsonText, line, must, plain, stopJson } from '../output.ts'
import { commandRules, openStore } from './command-rules.ts'
import { stageDesired } from './desired.ts'
import { planDocumentOf } from './documents.ts'

export interface PlanOptions {
  readonly json?: true
  readonly service: ServiceName
  readonly desired: string
  readonly expire: number
  readonly reason: string
}

/** What each started rule comes to at most, over CPTs, queues and servers. */
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
        ...{ rule: edit.name, match: edit.conditions, rate: edit.rate, cpts, servers: servers.length, queues },
        ...{ ceiling: perClass, text: text.map((t) => t.text).join('') },
      },
    ]
  })
}

/** A plan as it is printed. */
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
    ...{ id: plan.planId, cluster, service },
    nodes: plan.changes.filter(isWork).map((c) => {
      const node = ruleService.monitor.node(c.plan.server)
      const commands = literals(node, commandsOf(of, c))
      return { host: c.plan.server, commands, inverse: literals(node, inverseOf(of, c)), timers: c.keeps }
    }),
    lints: frame.lints,
    ceilings: ceilingsOf(ruleService, service, plan),
    blast: trial && {
      ...{ jobs_total: trial.jobCount, may: trial.mayCount, others: trial.otherCount, classes: trial.classes },
      ...{ targets: trial.targets, servers: trial.servers, rpcs_now: trial.rpcsNow, rpcs_after: trial.rpcsAfter },
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
    out.push(`${n.host}`, ...n.commands.map((c) => `  ${c}`), '  to undo:', ...n.inverse.map((c) => `    ${c}`))
  }
  // Where it cannot be applied, why says what is known.
  if (p.nodes.length === 0 && !p.refused) out.push('every server is as it should be: nothing to send')
  for (const c of p.ceilings) out.push(`${c.rule}: ${c.text === '' ? `up to ${c.ceiling} RPC/s` : c.text}`)
  if (p.blast) {
    const { jobs_total: jobs, may, targets, servers } = p.blast
    out.push(`hits ${jobs} jobs${may > 0 ? ` and perhaps ${may} more` : ''}, ${targets} targets, ${servers} servers`)
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
  const opened = await openCluster(name, flags, { comesBack: false })
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
      const text = `${rule} is ours and not in the file: it is stopped`
      return { code: 'REMOVED', level: 'watch', rule, text }
    }),
    ...(shown['lints'] as object[]),
  ]
  const document = planDocumentOf(service, ruleService.typedTarget(service), made)
  store.plans.keep({ id: made.planId, cluster: cluster.name, atMs: Date.now(), state: 'planned', document })
  const missing = cluster.missing()
  const all = { ...shown, lints, ...(missing.length > 0 ? { missing } : {}) }
  line(json ? jsonText(all) : planText(all as unknown as PlanShown, cluster.name))
  // A plan that leaves out a server of the service cannot be applied: that is said with the code.
  process.exitCode = worstOfMissing(cluster, cluster.source.monitor.serversOf(service))
  await cluster.close()
  store.close()
}
