/** Places where a job's metadata operations meet rules: one spot per class of RPCs that a Sluice rule can limit. */
import { metadataRuleName } from '../../control/desired-rule.ts'
import type { RuleLine } from '../../lustre/nrs-tbf-rule.ts'
import type { Profile } from '../../lustre/profile.ts'
import {
  countOfRpc,
  MDS_RPCS,
  MDS_SCOPES,
  MDS_SERVICES,
  type MdsRpc,
  type MdsService,
  type OpCounts,
} from './operations.ts'
import { isCounted, OPCODE_GROUPS, ruleSupport, type RuleSupport, type ServiceReading } from './service-rules.ts'
import type { Scope } from '../vocabulary.ts'

/** Last reading of one metadata server. */
export interface MdsServer {
  readonly host: string
  readonly profile: Profile
  readonly services: Readonly<Record<MdsService, ServiceReading>>
  /** Recent operations of each job; undefined if unknown: its rules then stay as they are. */
  readonly jobs: ReadonlyMap<string, OpCounts> | undefined
  /** Seconds that these counts cover, > 0. */
  readonly spanS: number
}

export interface Spot {
  readonly host: string
  readonly service: MdsService
  /** Empty for every opcode of the service. */
  readonly opcodes: readonly string[]
  /** Rule name. */
  readonly name: string
  readonly conditions: string
  /** Classes that each get the rule's rate, over all CPTs. */
  readonly classes: number
  readonly rateMax: number
  /** Recent rate, op/s. */
  readonly used: number
  readonly isAtLimit: boolean
  /** Minimum part of a rate that stays reserved: more if no counter shows the use. */
  readonly leastPart: number
  /** Rate of the existing rule; undefined if there is none. */
  readonly present: number | undefined
  /** True if the rule must not be changed now. */
  readonly isHeld: boolean
}

/** Part of its rate from which a rule is taken to hold its job back. */
const AT_LIMIT = 0.9
const LEAST_PART = { counted: 0.01, uncounted: 0.05 } as const

/** Data shared by the spots of all jobs on one service. */
export interface ServicePlace {
  readonly server: MdsServer
  readonly service: MdsService
  readonly support: RuleSupport
  /** Existing Sluice rules by name, and the number of their classes on all CPTs. */
  readonly present: ReadonlyMap<string, { readonly rate: number; readonly classes: number }>
}

export function servicePlaces(servers: readonly MdsServer[]): ServicePlace[] {
  return servers.flatMap((server) =>
    MDS_SERVICES.map((service) => {
      const reading = server.services[service]
      return { server, service, support: ruleSupport(reading, server.profile), present: presentOf(reading.rules) }
    }),
  )
}

function presentOf(rules: readonly RuleLine[]): ServicePlace['present'] {
  const present = new Map<string, { rate: number; classes: number }>()
  for (const r of rules) {
    if (r.queue !== 'reg') continue
    const known = present.get(r.name)
    if (known) known.classes += Math.max(0, r.ref)
    else present.set(r.name, { rate: r.rate, classes: Math.max(0, r.ref) })
  }
  return present
}

/** True if a limit of a scope covers the spot. */
export function isOf({ opcodes }: Pick<Spot, 'opcodes'>, scope: Scope): boolean {
  const { coversAll, opcodes: wanted } = MDS_SCOPES[scope]
  return opcodes.length === 0 ? coversAll : opcodes.some((o) => wanted.includes(o))
}

/**
 * Returns the spots of one job on one service.
 *
 * @param clients  NIDs that it sends from; undefined if unknown.
 * @returns        a string is the reason for having none.
 */
export function spotsOf(place: ServicePlace, job: string, clients: number | undefined): readonly Spot[] | string {
  const { server, service, support, present } = place
  if (support.kind === 'none') return support.why
  if (support.isPerClient && clients === undefined) {
    return 'each client of a job is a separate class there, and the number of its clients is unknown'
  }
  const ops = server.jobs?.get(job) ?? NO_COUNTS
  const groups = support.hasOpcode ? OPCODE_GROUPS[service] : [MDS_RPCS.filter((r) => r.service === service)]
  return groups.map((rpcs): Spot => {
    const opcodes = support.hasOpcode ? rpcs.map((r) => r.opcode) : []
    const name = metadataRuleName(server.host, service, job, opcodes)
    const known = present.get(name)
    const perOpcode = (support.isPerClient ? (clients ?? 1) : support.cpts) * Math.max(1, opcodes.length)
    const used = rpcs.reduce((n, r) => n + countOfRpc(ops, r), 0) / server.spanS
    return {
      host: server.host,
      service,
      opcodes,
      name,
      used,
      conditions: `jobid={${job}}${opcodes.length > 0 ? `&opcode={${opcodes.join(' ')}}` : ''}`,
      // May be more classes than expected: clients unknown to the resource manager, or several users.
      classes: Math.max(perOpcode, known?.classes ?? 0),
      rateMax: support.rateMax,
      isAtLimit: known !== undefined && used >= AT_LIMIT * known.rate * Math.max(1, known.classes),
      leastPart: LEAST_PART[isUsageKnown(rpcs, server.profile) ? 'counted' : 'uncounted'],
      present: known?.rate,
      isHeld: server.jobs === undefined,
    }
  })
}

/** True if the use of a spot is known: counted by its release, or so rare that nothing counts it. */
const isUsageKnown = (rpcs: readonly MdsRpc[], profile: Profile): boolean =>
  isCounted(rpcs, profile) || rpcs.every((r) => r.counters.length === 0)

const NO_COUNTS: OpCounts = new Map()
