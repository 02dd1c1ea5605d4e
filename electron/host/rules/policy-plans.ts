/** A staged change of a service's policy as it is planned for every server, and what stands against it. */
import { createHash, randomBytes } from 'node:crypto'
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { Failure } from '#core/base/result.ts'
import { planPolicy, type PolicyChoice, type PolicyStep } from '#core/control/policy-plan.ts'
import { standingHash } from '#core/control/standing.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import type { PolicyStatus } from '#core/lustre/nrs-policies.ts'
import { SERVICES } from '../../cluster/service.ts'
import { policyLines, type PolicyServer } from '../../enforce/policy-commit.ts'
import type { DeskServer } from './desk-plan.ts'
import { failure } from './refusal.ts'

export interface StagedPolicy {
  readonly id: string
  readonly service: ServiceName
  readonly to: PolicyChoice
  readonly reason: string
  readonly stagedMs: number
  /** Of an undoing: by server, the rules that went with the policy. */
  readonly restores?: ReadonlyMap<string, readonly PolicyStep[]> | undefined
}

export interface PolicyDeskPlan {
  readonly staged: StagedPolicy
  readonly servers: readonly (PolicyServer & { readonly version: string })[]
  readonly planId: string
}

export interface PolicyRead extends ServerRules {
  readonly policies: readonly PolicyStatus[]
}

/** Least and most time that a policy has to stop, wall ms. */
const WAIT_MS = { least: 60_000, most: 900_000 } as const

export const wordsOf = ({ name, arg }: PolicyChoice): string => (arg === '' ? name : `${name} ${arg}`)

export const newPolicy = (staged: Omit<StagedPolicy, 'id'>): StagedPolicy => ({
  id: randomBytes(3).toString('hex'),
  ...staged,
})

export function planPolicies(
  staged: StagedPolicy,
  servers: readonly PolicyRead[],
  factsOf: (host: string) => DeskServer,
): PolicyDeskPlan {
  const plans = servers.map((found) => {
    const { version } = factsOf(found.server)
    const planned = planPolicy(found, found.policies, staged.to)
    const rules = planned.steps.length === 0 ? [] : (staged.restores?.get(found.server) ?? [])
    const plan = { ...planned, steps: [...planned.steps, ...rules] }
    // Twice what the slowest rule takes: estimates of a queue are no promise.
    const waitMs = Math.min(WAIT_MS.most, Math.max(WAIT_MS.least, plan.drain.mostS * 2_000))
    return { plan, found, policies: found.policies, to: staged.to, waitMs, version: version?.text ?? '' }
  })
  const texts = plans.map(({ plan, found, version }) => [
    found.server,
    policyLines(plan.steps, SERVICES[staged.service]),
    plan.steps.length > 0 ? [standingHash(found), version] : [],
  ])
  const planId = createHash('sha256')
    .update(JSON.stringify([staged.service, texts]))
    .digest('hex')
    .slice(0, 16)
  return { staged, servers: plans, planId }
}

/** Why a change of policy cannot be committed; undefined when it can. */
export function policyRefusal({ servers }: PolicyDeskPlan, missing: readonly string[]): Failure | undefined {
  const what = 'The policy cannot be changed'
  if (missing.length > 0) {
    return failure('SERVER_MISSING', what, `${missing.join(', ')} does not answer`, 'Wait until every server answers.')
  }
  const unread = servers.filter((s) => s.version === '')
  if (unread.length > 0) {
    const why = `the release of ${unread.map((s) => s.found.server).join(', ')} could not be read, and releases differ in what a change of policy does`
    return failure('VERSION_UNKNOWN', what, why, 'Let the server name its version, then review again.')
  }
  const refused = servers.find((s) => s.plan.refused !== undefined)
  if (refused) return failure('POLICY_REFUSED', what, refused.plan.refused ?? '', 'Choose another policy, or wait.')
  if (servers.some((s) => s.plan.steps.length > 0)) return undefined
  return failure('NO_CHANGE', 'There is nothing to send', 'every server runs it already', 'Take the change back.')
}
