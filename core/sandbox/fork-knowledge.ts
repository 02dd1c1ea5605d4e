/** Assumptions and unknowns of a fork, each listed once with its values, and the observed parts. */
import type { FittedDevice } from './fork-device.ts'
import type { Folded } from './fork-fold.ts'
import type { ForkInputs } from './fork-inputs.ts'
import type { CarriedPlanes } from './fork-planes.ts'
import { metadataMix } from './fork-operations.ts'
import { meanOr0 } from './fork-series.ts'

export interface Knowledge {
  readonly unknown: string[]
  readonly inRange: string[]
}

export interface ForkFacts {
  readonly devices: ReadonlyMap<string, FittedDevice>
  readonly folded: Folded
  readonly thinning: number
  readonly planes: CarriedPlanes
  /** Number of rules that servers would refuse. */
  readonly refusedRules: number
}

const NAMED_MAX = 4
const LINE_MAX = 600

const figure = (n: number): string => Math.round(n).toLocaleString('en')
const seconds = (s: number): string => (s < 120 ? `${figure(s)} s` : `${figure(s / 60)} min`)
const plural = (n: number, one: string, many = `${one}s`): string => `${figure(n)} ${n === 1 ? one : many}`

/** Target names are plain text of servers, but long lists are truncated. */
function names(list: readonly string[]): string {
  const short = list.slice(0, NAMED_MAX).map((n) => n.replace(/^.*-(?=(OST|MDT)[0-9a-f]{4})/, ''))
  return list.length > NAMED_MAX ? `${short.join(', ')} and ${figure(list.length - NAMED_MAX)} more` : short.join(', ')
}

/** Planes that a source without a scenario does not tell. */
function missingPlanes({ kind }: ForkInputs, { carried }: CarriedPlanes): string {
  const isRecorded = kind === 'RECORDED'
  const parts = [
    ...(isRecorded && !carried.includes('metadata') ? ["PADLL's stages"] : []),
    'extent locks',
    ...(carried.includes('locks') ? [] : ['ccPFS']),
    ...(carried.includes('tokens') ? [] : ['RDMA data nodes']),
  ]
  const last = parts.pop() ?? ''
  const list = parts.length > 0 ? `${parts.join(', ')} and ${last}` : last
  const why = isRecorded ? 'a recording does not have' : 'a live cluster does not report'
  return `${list.charAt(0).toUpperCase()}${list.slice(1)}: ${why} enough to fork them.`
}

export function knowledgeOf(inputs: ForkInputs, facts: ForkFacts): Knowledge {
  const { devices, folded, thinning, planes } = facts
  const span = seconds(inputs.binAtS.length * inputs.binS)
  const unknown: string[] = []
  const free = [...devices].filter(([, d]) => !d.wasSaturated && d.bins > 0).map(([n]) => n)
  const unseen = [...devices].filter(([, d]) => d.bins === 0).map(([n]) => n)
  const fitted = `Disk service times are fitted on ${span}.`
  const T = figure(inputs.control.maxRate)
  unknown.push(
    free.length === 0 ? fitted : `${fitted} Never saturated: ${names(free)}; T = ${T} RPC/s is used as their capacity.`,
  )
  if (unseen.length > 0) unknown.push(`No RPC was seen on ${names(unseen)}: 5 ms per RPC and T are assumed.`)
  unknown.push('Split of service time into operation and bytes: half each is assumed; other RPC sizes deviate by that.')
  if (inputs.workload === 'closed') {
    unknown.push('Requests that never reached a server: those waiting in clients for a slot are not in the demand.')
  } else unknown.push('Demand is the served rate: a throttled job would have requested more.')
  unknown.push('Client page caches. A capped writer may look idle for up to 30 s.')
  unknown.push(
    inputs.pending === undefined || inputs.pending === 0
      ? 'Jobs that start or end later.'
      : `Jobs that start or end later. The batch system has ${plural(inputs.pending, 'job')} pending.`,
  )
  const untargeted = folded.jobs.filter((j) => j.targets.length === 0 && meanOr0(j.rpcs) > 0).length
  if (untargeted > 0) unknown.push(`Targets of ${plural(untargeted, 'job')} are unknown: they use all OSTs evenly.`)
  else unknown.push('A job uses its targets evenly; sizes of its RPCs are their mean.')
  const mixed = folded.jobs.filter((j) => meanOr0(j.mdops) > 0 && metadataMix(j.ops).size === 0).length
  if (mixed > 0) unknown.push(`Kinds of metadata operations of ${plural(mixed, 'job')}: all count as stat.`)
  if (folded.idle > 0)
    unknown.push(
      `${plural(folded.idle, 'job')} had no activity in ${span} and ${folded.idle === 1 ? 'is' : 'are'} omitted.`,
    )
  if (folded.summed > 0)
    unknown.push(
      `The smallest ${plural(folded.summed, 'job')} are aggregated by account; their waits are not known per job.`,
    )
  if (folded.invalid > 0) unknown.push(`${plural(folded.invalid, 'job')} with an invalid id: aggregated by account.`)
  const lost = inputs.gaps.reduce((n, g) => n + g.toS - g.fromS, 0)
  if (lost > 0) {
    const part = Math.round((100 * lost) / inputs.spanS)
    unknown.push(
      `${plural(inputs.gaps.length, 'gap')}, ${seconds(lost)} (${part} % of the range), omitted: the load in them is unknown.`,
    )
  }
  const versions = inputs.servers.filter((s) => s.version === undefined).length
  if (versions > 0) unknown.push(`Release of ${plural(versions, 'server')}: the newest known one is used.`)
  if (inputs.servers.some((s) => s.cpts === undefined)) unknown.push('CPT counts that no server printed: 1 is assumed.')
  unknown.push(
    'Service threads, network and max_rpcs_in_flight of clients: assumed, so that none of them is the limit.',
  )
  if (facts.refusedRules > 0)
    unknown.push(
      `${plural(facts.refusedRules, 'rule')} that the emulated release refuses ${facts.refusedRules === 1 ? 'is' : 'are'} omitted.`,
    )
  if (inputs.controllerRules > 0)
    unknown.push(`${plural(inputs.controllerRules, 'rule')} of the controller: it starts again, with an empty ledger.`)
  if (inputs.scenario === undefined) unknown.push(missingPlanes(inputs, planes))
  unknown.push(...planes.origins)
  unknown.push(...planes.lost)
  const metadata = folded.jobs.some((j) => meanOr0(j.mdops) > 0)
  const timed = inputs.mdts.some((m) => !Number.isNaN(m.perOpUs))
  if (metadata && !timed) unknown.push('Times of metadata operations: 220 µs is assumed.')
  unknown.push(...inputs.unknown)
  const rates = folded.jobs.filter((j) => meanOr0(j.rpcs) + meanOr0(j.mdops) > 0).length
  const inRange = [
    `Rates and sizes of ${plural(rates, 'job')}, observed over ${span}.`,
    ...(inputs.servers.some((s) => s.cpts !== undefined)
      ? ['CPT counts, policies and rules as the servers print them.']
      : []),
    ...(devices.size > free.length + unseen.length
      ? [
          `Capacity of ${plural(devices.size - free.length - unseen.length, 'OST')} that ${devices.size - free.length - unseen.length === 1 ? 'was' : 'were'} saturated.`,
        ]
      : []),
    ...(thinning > 1 ? [] : ['Every RPC is simulated.']),
  ]
  const cut = (t: string): string => t.slice(0, LINE_MAX)
  return { unknown: unknown.map(cut).slice(0, 40), inRange: inRange.map(cut) }
}
