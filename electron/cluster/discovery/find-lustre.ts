/** Discovers Lustre on a server: lctl and its version, targets, services, policies and rules, job id settings. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { ServerRole } from '#core/api/clusters.ts'
import { ok, type Result } from '#core/base/result.ts'
import { parseCpuPartitions } from '#core/lustre/cpu-partitions.ts'
import { parseDevices } from '#core/lustre/devices.ts'
import { getParamCommand, splitParams } from '#core/lustre/lctl.ts'
import { parseMgsLive } from '#core/lustre/mgs-live.ts'
import { parseNrsPolicies, primaryPolicy } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { parseVersion, type LustreVersion } from '#core/lustre/version.ts'
import { plainLine } from '../../ssh/failures.ts'
import type { ExecResult } from '../../base/connection.ts'
import { SERVICES } from '../../base/service.ts'
import { messageOf, type StepId } from './checklist.ts'
import type { DiscoveryFailure, NodeFacts, ServiceFacts } from '../remote/facts.ts'

/** Sends a line as part of a step, through the gate: commands that need root use sudo. */
export type RunStep = (id: StepId, line: string) => Promise<Result<ExecResult, DiscoveryFailure>>

/** Result of a step, and how it ended. */
type Found<T> = Result<T & { end: Ended }, DiscoveryFailure>

/** End of one step. */
export interface Ended {
  readonly state: 'ok' | 'watch' | 'bad' | 'skipped'
  readonly detail: string
  readonly fix?: string
}

const NAMES = 512
const text = (value: string | undefined): string => plainLine(value ?? '', 64)
const count = (n: number, one: string): string => `${n} ${one}${n === 1 ? '' : 's'}`
const some = (names: readonly string[], most = 6): string =>
  names.length <= most ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${names.length - most} more`

/** True for a refusal by sudo, as opposed to lctl. */
export const isSudoRefusal = (r: ExecResult): boolean =>
  r.code === 1 && !isLctlGone(r) && /^sudo: |^Sorry, user /m.test(r.stderr)

/** True if lctl does not exist: sudo was allowed, and found no such program. */
export const isLctlGone = (r: ExecResult): boolean =>
  /^sudo: (?:unable to execute )?\S{1,200}lctl: (?:command not found|No such file or directory)/m.test(r.stderr)

/** Parses the path printed by `command -v lctl`. */
export function lctlPath(stdout: string): string | undefined {
  return stdout.split('\n').find((line) => /^\/[A-Za-z0-9_./-]{1,200}\/lctl$/.test(line))
}

export interface VersionFound {
  readonly version: LustreVersion | undefined
  readonly versionText: string
}

/** Parses the last line that is a version: a login script may have printed others before. */
export function readVersion(stdout: string): VersionFound {
  const lines = stdout.trim().split('\n')
  const line = lines.findLast((l) => parseVersion(l) !== undefined)
  return {
    version: line === undefined ? undefined : parseVersion(line),
    versionText: plainLine(line ?? lines.at(-1) ?? '', 64),
  }
}

export type RolesFound = Pick<NodeFacts, 'roles' | 'targets' | 'expected'>

/** Finds roles and targets that are set up, from `lctl dl`; and the targets registered at the MGS. */
export async function findRoles(runStep: RunStep): Promise<Found<RolesFound>> {
  const answer = await runStep('role', 'lctl dl')
  if (!answer.ok) return answer
  const listed = answer.value
  const { devices } = parseDevices(listed.stdout)
  const isOf = (...types: readonly string[]): boolean => devices.some((d) => types.includes(d.type))
  const roles: ServerRole[] = []
  if (isOf('mgs')) roles.push('mgs')
  if (isOf('mds', 'mdt')) roles.push('mds')
  if (isOf('ost', 'obdfilter')) roles.push('oss')
  const ownTargets = devices.filter((d) => d.type === 'obdfilter' || d.type === 'mdt').slice(0, NAMES)
  const targets = ownTargets.map((d) => text(d.name))
  const registered = isOf('mgs') ? await findExpected(runStep) : ok([])
  if (!registered.ok) return registered
  const expected = registered.value
  const found = { roles, targets, expected }
  const end = (state: Ended['state'], detail: string, fix = ''): Found<RolesFound> =>
    ok({ ...found, end: { state, detail, fix } })
  const ill = ownTargets.filter((d) => d.status !== 'UP').map((d) => `${text(d.name)} is ${d.status}`)
  const what = `${roles.join(' + ')}: ${targets.length === 0 ? 'no target' : some(targets)}`
  if (devices.length === 0) {
    if (isSudoRefusal(listed)) return end('bad', `the devices cannot be listed: ${messageOf(listed)}`)
    if (listed.code !== 0 || /\/dev\/obd failed/.test(listed.stderr)) {
      return end(
        'bad',
        `the devices cannot be listed: ${messageOf(listed)}`,
        'Load Lustre on it (modprobe lustre), and mount its targets.',
      )
    }
    return end(
      'watch',
      'nothing is set up: no target is mounted',
      'Mount its targets; they are then detected automatically.',
    )
  }
  if (roles.length === 0)
    return end('watch', 'a client: it has devices, and none of a server', 'Leave it out of the cluster.')
  if (ill.length > 0)
    return end('watch', `${what}; ${some(ill)}`, 'See dmesg on the server: a target that is not UP serves no clients.')
  if (targets.length === 0 && !roles.includes('mgs')) {
    return end('watch', what, 'Mount its targets; they are then detected automatically.')
  }
  if (roles.length === 1 && targets.length === 0) {
    return end('ok', `mgs alone: no target to sample, ${count(expected.length, 'target')} registered`)
  }
  return end('ok', expected.length > 0 ? `${what}; ${count(expected.length, 'target')} registered at the MGS` : what)
}

async function findExpected(runStep: RunStep): Promise<Result<readonly string[], DiscoveryFailure>> {
  const live = await runStep('role', getParamCommand('mgs.MGS.live.*'))
  if (!live.ok) return live
  const names = [...splitParams(live.value.stdout)].flatMap(([name, value]) =>
    name.startsWith('mgs.MGS.live.') ? (parseMgsLive(value)?.targets ?? []) : [],
  )
  return ok([...new Set(names)].slice(0, NAMES * 8))
}

/** Services of servers with these roles. */
const servicesFor = (roles: readonly ServerRole[]): readonly ServiceName[] =>
  Object.values(SERVICES)
    .filter((s) => (s.role === 'oss' && roles.includes('oss')) || (s.role === 'mds' && roles.includes('mds')))
    .map((s) => s.name)

export type PoliciesFound = Pick<NodeFacts, 'services' | 'cpts'>

/** Reads policies and rules of each service, and the number of CPTs. */
export async function findPolicies(runStep: RunStep, roles: readonly ServerRole[]): Promise<Found<PoliciesFound>> {
  const names = servicesFor(roles)
  const parameters = names.flatMap((n) => [SERVICES[n].policies, SERVICES[n].rules])
  const answer = await runStep('policy', getParamCommand('cpu_partition_table', ...parameters))
  if (!answer.ok) return answer
  const read = answer.value
  const values = splitParams(read.stdout)
  const { partitions } = parseCpuPartitions(values.get('cpu_partition_table') ?? '')
  const cpts = partitions.length > 0 ? partitions.length : undefined
  const services = names.flatMap((service): ServiceFacts[] => {
    const value = values.get(SERVICES[service].policies)
    if (value === undefined) return []
    const { policies } = parseNrsPolicies(value)
    const rulesText = values.get(SERVICES[service].rules)
    const { rules } = parseNrsTbfRule(rulesText ?? '')
    return [{ service, policies, readsRules: rulesText !== undefined, rules }]
  })
  const found = { services, cpts }
  const summaries = services.map((s) => {
    const policy = primaryPolicy(s.policies, 'reg')
    const name = policy ? text(`${policy.name}${policy.arg === '' ? '' : ` ${policy.arg}`}`) : 'no policy'
    const rules = new Set(s.rules.map((r) => r.name)).size
    return `${s.service} ${name}${s.readsRules ? `, ${count(rules, 'rule')}` : ''}`
  })
  const detail = [...summaries, cpts === undefined ? 'CPTs not readable' : count(cpts, 'CPT')].join('; ')
  const hidden = services.filter((s) => !s.readsRules && primaryPolicy(s.policies, 'reg')?.name === 'tbf')
  const end = (state: Ended['state'], text: string): Found<PoliciesFound> =>
    ok({ ...found, end: { state, detail: text } })
  if (names.length === 0) return end('ok', detail)
  if (services.length === 0) {
    const why = isSudoRefusal(read) ? 'sudo does not let it be read' : 'the policies cannot be read'
    return end('bad', `${why}: ${messageOf(read)}`)
  }
  const missing = names.filter((n) => !services.some((s) => s.service === n))
  if (missing.length > 0) return end('watch', `${detail}; not readable: ${missing.join(', ')}`)
  if (hidden.length > 0) {
    const where = hidden.map((s) => s.service).join(', ')
    return end('watch', `${detail}; rules not readable: ${where}: ${messageOf(read)}`)
  }
  return end('ok', detail)
}

/** Reads the job id settings of this server, and whether its targets count by job. */
export async function findJobs(
  runStep: RunStep,
  roles: readonly ServerRole[],
): Promise<Found<Pick<NodeFacts, 'jobid'>>> {
  const kinds = [...new Set(servicesFor(roles).map((n) => SERVICES[n].jobStats))]
  // Bare names come first: after them every line belongs to the value before.
  const lines = [...kinds.map((k) => `-N '${k}'`), 'jobid_var jobid_name'].map((rest) => `lctl get_param ${rest}`)
  const answer = await runStep('jobs', lines.join('; '))
  if (!answer.ok) return answer
  const read = answer.value
  const values = splitParams(read.stdout)
  const variable = values.get('jobid_var')
  const jobid = variable === undefined ? undefined : { variable: text(variable), name: text(values.get('jobid_name')) }
  const counted = new Set(read.stdout.match(/^(?:obdfilter|mdt)\.[^\s=]{1,64}\.job_stats$/gm) ?? []).size
  const end = (state: Ended['state'], detail: string, fix = ''): Found<Pick<NodeFacts, 'jobid'>> =>
    ok({ jobid, end: { state, detail, fix } })
  if (!jobid) return end('bad', `jobid_var cannot be read: ${messageOf(read)}`)
  const named = `jobid_var=${jobid.variable} jobid_name=${jobid.name}`
  const enable =
    'On the MGS: lctl set_param -P jobid_var=SLURM_JOB_ID jobid_name=%j.%e (or another variable of the scheduler).'
  if (kinds.length > 0 && counted === 0)
    return end('watch', `${named}; no job_stats is there`, 'Mount a target; without one there is nothing to count.')
  if (jobid.variable === 'disable')
    return end('watch', `${named}: jobs are not distinguished, unless clients are configured otherwise`, enable)
  return end('ok', `${named}; job_stats of ${count(counted, 'target')}`)
}
