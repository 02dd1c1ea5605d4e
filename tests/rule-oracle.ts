/** Servers for tests of rules: core/tbf's own service, written and read as text like a real one. */
import { parseNrsPolicies, type PolicyStatus } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { profile } from '#core/lustre/profile.ts'
import type { Release } from '#core/lustre/release.ts'
import { serverRules, type ServerRules } from '#core/control/server-rules.ts'
import { NrsService } from '#core/tbf/nrs-service.ts'
import type { RequestKey } from '#core/tbf/conditions.ts'

export type Service = NrsService<RequestKey>

/** Writes a value that the service must accept. */
export function write(service: Service, value: string): void {
  const done = service.writeRule(value)
  if (!done.ok) throw new Error(`${value}: ${JSON.stringify(done.error)}`)
}

/** A service with TBF running and rules started in the given order. */
export function serviceWith(
  policy: string,
  values: readonly string[],
  { cpts = 2, hp = true, release = 'dev' }: { cpts?: number; hp?: boolean; release?: Release } = {},
): Service {
  const service: Service = new NrsService<RequestKey>({ cpts, hp, profile: profile(release) })
  const done = service.writePolicies(policy)
  if (!done.ok) throw new Error(`${policy}: ${JSON.stringify(done.error)}`)
  for (const v of values) write(service, v)
  return service
}

/** Rules as a server prints them; empty if it answers with an error. */
export function rulesText(service: Service): string {
  const r = service.readRules()
  return r.ok ? r.value : ''
}

const policiesText = (service: Service): string => {
  const r = service.readPolicies()
  return r.ok ? r.value : ''
}

export const readPolicies = (service: Service): PolicyStatus[] => parseNrsPolicies(policiesText(service)).policies

export const readServer = (service: Service, server = 'oss01'): ServerRules =>
  serverRules(server, readPolicies(service), parseNrsTbfRule(rulesText(service)).rules, service.profile)
