/** Staged policy change in the staged frame: its steps, the rules it removes, and its review. */
import type { Lint, Review, ServiceName, StagedFrame } from '#core/api/rule-edits.ts'
import { policyText } from '#core/control/policy-plan.ts'
import { primaryPolicy } from '#core/lustre/nrs-policies.ts'
import { SERVICES } from '../../../base/service.ts'
import { CANARY_S } from '../../../enforce/change.ts'
import { policyLines } from '../../../enforce/policy-commit.ts'
import type { RuleService } from '../../rules/rule-service.ts'
import { foreignLoss, titleOf, type PlannedPolicy } from '../../rules/policy-plans.ts'
import { toNotice } from '../status.ts'

/** Most removed rules listed in the review. */
const LOST_LINES = 120

function nodesOf(service: ServiceName, { servers }: PlannedPolicy): Review['nodes'] {
  const groups = new Map<string, Review['nodes'][number]>()
  for (const { plan } of servers) {
    if (plan.steps.length === 0) continue
    const [commands, inverse] = [plan.steps, plan.inverse].map((s) => policyLines(s, SERVICES[service]))
    const key = JSON.stringify([commands, inverse])
    const group = groups.get(key)
    if (group) group.alike.push(plan.server)
    else groups.set(key, { host: plan.server, commands: commands ?? [], inverse: inverse ?? [], alike: [] })
  }
  return [...groups.values()]
}

type PolicyPart = Pick<StagedFrame, 'policy' | 'inverse' | 'lints' | 'review'>

export function policyPart(ruleService: RuleService, service: ServiceName, plan: PlannedPolicy): PolicyPart {
  const { staged, servers } = plan
  const work = servers.filter((s) => s.plan.steps.length > 0)
  const [first] = work
  const now = first && primaryPolicy(first.policies, 'reg')
  const lost = first?.plan.lost ?? []
  const refused = ruleService.policies.refusal(service, plan)
  const foreign = foreignLoss(plan, ruleService.rules)
  const notes = [...new Set(servers.flatMap((s) => s.plan.notes))]
  return {
    policy: {
      id: staged.id,
      to: titleOf(staged),
      reason: staged.reason,
      from: now ? policyText(now) : '',
      lost: lost.slice(0, LOST_LINES),
      drainS: Math.max(0, ...servers.map((s) => s.plan.drain.mostS)),
    },
    inverse: first ? policyLines(first.plan.inverse, SERVICES[service]) : [],
    lints: [
      ...(foreign === undefined
        ? []
        : [{ code: 'FOREIGN_RULES', level: 'bad', rule: '', text: foreign } satisfies Lint]),
      ...notes.map((text): Lint => ({ code: 'POLICY', level: 'watch', rule: '', text })),
    ],
    review: {
      planId: plan.planId,
      nodes: nodesOf(service, plan),
      list: lost.slice(0, LOST_LINES).map((text) => {
        const [name = '', ...rest] = text.split(' ')
        return { kind: 'del', rank: null, name, text: rest.join(' ') }
      }),
      more: Math.max(0, lost.length - LOST_LINES),
      trial: null,
      servers: work.length,
      serversTotal: ruleService.monitor.serversOf(service).length,
      refillTokens: 0,
      typed: ruleService.typedTarget(service),
      expiresS: null,
      timers: 'server',
      canaryS: ruleService.options.canaryS ?? CANARY_S,
      pending: [],
      refused: refused ? toNotice(refused) : null,
    },
  }
}
