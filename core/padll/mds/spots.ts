/** Where a job's metadata operations meet rules: one spot for each class of RPCs that a rule of ours can hold. */
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

/** One metadata server as it was last read. */
export interface MdsServer {
  readonly host: string
  readonly profile: Profile
  readonly services: Readonly<Record<MdsService, ServiceReading>>
  /** What each job did of late; undefined where that is not known: then its rules stay as they are. */
  readonly jobs: ReadonlyMap<string, OpCounts> | undefined
  /** Seconds that these counts cover, > 0. */
  readonly spanS: number
}

export interface Spot {
  readonly host: string
  readonly service: MdsService
  /** Empty: every opcode of the service. */
  readonly opcodes: readonly string[]
  /** Of the rule. */
  readonly name: string
  readonly conditions: string
  /** Classes that have the rule's rate, over all CPTs. */
  readonly classes: number
  readonly rateMax: number
  /** op/s of late. */
  readonly used: number
  readonly isAtLimit: boolean
  /** Least part of a rate that stays reserved: more where no counter tells the use. */
  readonly leastPart: number
  /** Rate of the rule as it stands there; undefined: it is not there. */
  readonly present: number | undefined
  /** No change is to be made there now. */
  readonly isHeld: boolean
}

/** From this part of its rate on, a rule is taken to hold its job back. */
const AT_LIMIT = 0.9
const LEAST_PART = { counted: 0.01, uncounted: 0.05 } as const

/** What the spots of all jobs on one service have in common. */
export interface ServicePlace {
  readonly server: MdsServer
  readonly service: MdsService
  readonly support: RuleSupport
  /** Our rules there by name, and the classes that each has on all CPTs. */
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

/** Whether a spot is one of those that a limit of a scope has to hold. */
export function isOf({ opcodes }: Pick<Spot, 'opcodes'>, scope: Scope): boolean {
  const { isWhole, opcodes: wanted } = MDS_SCOPES[scope]
  return opcodes.length === 0 ? isWhole : opcodes.some((o) => wanted.includes(o))
}

/**
 * The spots of one job on one service.
 *
 * @param clients  NIDs that it sends from; undefined where nobody tells.
 * @returns        a text says why there are none.
 */
export function spotsOf(place: ServicePlace, job: string, clients: number | undefined): readonly Spot[] | string {
  const { server, service, support, present } = place
  if (support.kind === 'none') return support.why
  if (support.isPerClient && clients === undefined) {
    return 'each client of a job is a class of its own there, and nobody tells how many clients the job has'
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
      ...{ host: server.host, service, opcodes, name, used },
      conditions: `jobid={${job}}${opcodes.length > 0 ? `&opcode={${opcodes.join(' ')}}` : ''}`,
      // More classes than were expected: of clients that the resource manager does not count, or several users.
      classes: Math.max(perOpcode, known?.classes ?? 0),
      rateMax: support.rateMax,
      isAtLimit: known !== undefined && used >= AT_LIMIT * known.rate * Math.max(1, known.classes),
      leastPart: LEAST_PART[isTold(rpcs, server.profile) ? 'counted' : 'uncounted'],
      present: known?.rate,
      isHeld: server.jobs === undefined,
    }
  })
}

/** Whether the use of a spot is known: counted by its release, or so rare that nothing counts it. */
const isTold = (rpcs: readonly MdsRpc[], profile: Profile): boolean =>
  isCounted(rpcs, profile) || rpcs.every((r) => r.counters.length === 0)

const NO_COUNTS: OpCounts = new Map()
