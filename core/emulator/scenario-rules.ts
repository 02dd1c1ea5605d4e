/**
 * The `rules` section of a scenario: TBF rules that exist on its servers at the start, in the syntax of `lctl set_param`.
 *
 * They are parsed with the grammar of each server's release and under its active policy, in the order of the list.
 */
import * as z from 'zod'
import { profileOf, type Profile } from '../lustre/profile.ts'
import { parseVersion } from '../lustre/version.ts'
import { diagnoseRule } from '../tbf/diagnose-rule.ts'
import { NrsService } from '../tbf/nrs-service.ts'
import { OST_IO_POLICIES, OTHER_POLICIES } from '../tbf/policy-command.ts'
import { COMMAND_MAX } from '../tbf/rule-command.ts'
import { hostName } from './scenario-servers.ts'

export const RULE_SERVICES = ['ost_io', 'mdt', 'mdt_readpage'] as const
export type RuleService = (typeof RULE_SERVICES)[number]
const RULES_MAX = 5000

const rule = z.strictObject({
  service: z.enum(RULE_SERVICES),
  line: z
    .string()
    .min(1)
    .max(COMMAND_MAX)
    .regex(/^[\u0001-\u00ff]*$/, 'a rule is bytes: characters up to U+00FF')
    .describe('command for nrs_tbf_rule, for example start cap jobid={a.*} rate=400'),
  /** Default: every server of the service. */
  servers: z.array(hostName).min(1).optional(),
})

export const rules = z
  .array(rule)
  .max(RULES_MAX)
  .default([])
  .describe('TBF rules in force at the start, started in this order: each precedes those started before it')

export type InitialRule = z.infer<typeof rule>

interface Server {
  readonly name: string
  readonly version: string
  readonly policy?: string | undefined
}

/** Rest of the scenario that the section is checked against. */
interface ScenarioContext {
  readonly rules: readonly InitialRule[]
  readonly policy: string
  readonly oss: readonly Server[]
  readonly mds: readonly Server[]
}

/** Servers of the service that have the rule. */
export const serversOfRule = (
  { service, servers }: InitialRule,
  { oss, mds }: Pick<ScenarioContext, 'oss' | 'mds'>,
): readonly Server[] =>
  (service === 'ost_io' ? oss : mds).filter((s) => servers === undefined || servers.includes(s.name))

/** Checks that every server accepts its rules, in order. */
export function checkRules(s: ScenarioContext, issue: (path: (string | number)[], message: string) => void): void {
  const services = new Map<string, NrsService<never>>()
  s.rules.forEach((r, i) => {
    const all = r.service === 'ost_io' ? s.oss : s.mds
    if (all.length === 0) return issue(['rules', i, 'service'], `no server runs ${r.service}: the scenario has no mds`)
    r.servers?.forEach((name, k) => {
      if (!all.some((x) => x.name === name))
        issue(['rules', i, 'servers', k], `no server of ${r.service} is called ${name}`)
    })
    for (const { name, version, policy = s.policy } of serversOfRule(r, s)) {
      const profile = profileOf(parseVersion(version))
      const key = `${r.service} ${name}`
      let service = services.get(key)
      if (!service) {
        const policies = r.service === 'ost_io' ? OST_IO_POLICIES : OTHER_POLICIES
        service = new NrsService({ cpts: 1, hp: r.service !== 'mdt_readpage', policies, profile })
        service.writePolicies(policy)
        services.set(key, service)
      }
      const taken = service.writeRule(r.line)
      if (!taken.ok)
        return issue(['rules', i, 'line'], `${name} rejects it (${taken.error})${why(service, r, profile)}`)
    }
  })
}

/** Explanation of a server's error number; '' if unknown. */
function why(service: NrsService<never>, { service: of, line }: InitialRule, profile: Profile): string {
  const type = service.runningType('reg')
  const names = [...new Set(service.rules().map((x) => x.name))]
  const { fault } = diagnoseRule(line, { type: type && type.fields, profile, hp: of !== 'mdt_readpage', names })
  return fault && !fault.isMishandled ? `: ${fault.why}` : ''
}
