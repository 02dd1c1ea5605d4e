/**
 * Planes besides Lustre in a fork: PADLL as its global controller reports it, ccPFS and data nodes of an emulated
 * source as they are at the instant of the fork, or all of them from the rows of a history. State that cannot be carried is
 * listed.
 */
import { PLANES, type Plane } from '../controllers/objectives.ts'
import type { Scenario } from '../emulator/scenario.ts'
import { hostNameOf } from './fork-names.ts'
import type { ForkDataNode, ForkInputs, ForkJob, ForkPadll } from './fork-inputs.ts'
import { ccpfsOfRows, dataNodesOfRows, padllRowLosses } from './fork-rows.ts'
import { meanOr0 } from './fork-series.ts'
import { parsePolicies } from '../padll/rules/policy-schedule.ts'
import type { Policy } from '../padll/rules/policy.ts'
import { printPolicyYaml } from '../padll/rules/policy-yaml.ts'
import { isScope } from '../padll/vocabulary.ts'

type Ccpfs = NonNullable<Scenario['ccpfs']>
type DataNode = Scenario['haechi'][number]

/** Sections of a fork, and what is known of them. */
export interface CarriedPlanes {
  readonly sections: {
    readonly padll?: object
    readonly ccpfs?: Ccpfs
    readonly haechi?: readonly DataNode[]
  }
  /** Planes that are carried, and a sentence for each origin. */
  readonly carried: readonly Plane[]
  readonly origins: readonly string[]
  /** State that is not carried, as sentences. */
  readonly lost: readonly string[]
}

const plural = (n: number, one: string): string => `${n} ${n === 1 ? one : `${one}s`}`

/** Policies as of a time: steps in force begin at once, later ones keep their distance. */
export function policiesAfter(text: string, elapsedS: number): string {
  const { policies } = parsePolicies(text)
  if (elapsedS <= 0 || policies.every((p) => p.atS === 0)) return text
  const steps = new Map<string, Policy>()
  for (const p of policies.toSorted((a, b) => a.atS - b.atS)) {
    const step = { ...p, atS: Math.max(0, Math.round(p.atS - elapsedS)) }
    steps.set(JSON.stringify([step.kind, step.job, step.scope, step.atS]), step)
  }
  return printPolicyYaml([...steps.values()])
}

/** Name of the controller's node; a controller on a server gets a node of its own. */
function controllerNode(controller: string, servers: ForkInputs['servers']): string {
  const name = hostNameOf(controller, 'qos01')
  return servers.some((s) => s.name === name) ? `${name}-padll` : name
}

function padllOf({ padll, scenario, servers }: ForkInputs): object | undefined {
  const base = scenario?.padll && { ...scenario.padll, faults: [] }
  if (!padll) return base
  const { expiryRate, leaseS, policies } = padll
  const limits = padll.limits.filter((l) => isScope(l.scope))
  return {
    ...(base ?? { controller_node: controllerNode(padll.controller, servers) }),
    system_limits: Object.fromEntries(limits.map((l) => [l.scope, l.rate])),
    algorithm: padll.algorithm,
    epsilon: padll.epsilon,
    split: padll.split,
    interval_ms: padll.intervalMs,
    collect_rounds: padll.collectRounds,
    policies: policiesAfter(policies.text, policies.elapsedS),
    lease: { seconds: leaseS, on_expiry: expiryRate ?? 'hold' },
    ...(padll.housekeeping === undefined ? {} : { housekeeping: padll.housekeeping }),
  }
}

function padllLosses(inputs: ForkInputs): string[] {
  const { padll, scenario, mdts } = inputs
  if (!padll) return scenario?.padll ? ['PADLL did not answer: its stages are those of the scenario.'] : []
  const queued = padll.jobs.reduce((n, j) => n + j.queued, 0)
  const unseen = padll.jobs.filter((j) => !inputs.jobs.some((f) => f.jobId === j.job)).length
  const scopes = padll.limits.map((l) => l.scope).filter((s) => s !== 'meta_op')
  const isFromRows = padll.isFromRows === true
  return [
    `PADLL: token buckets and measured usage are not carried; the controller starts over${queued > 0 ? `, without the ${plural(queued, 'operation')} that waited in stages` : ''}.`,
    ...(isFromRows && inputs.rows ? padllRowLosses(inputs.rows, padll) : []),
    ...(scenario || isFromRows
      ? []
      : [
          `PADLL: channels and mount points of the stages are not reported; one channel for all metadata operations is assumed${scopes.length > 0 ? `, so that the limits of ${scopes.join(', ')} have no effect` : ''}.`,
        ]),
    ...(unseen > 0 && mdts.length > 0
      ? [`PADLL: ${plural(unseen, 'job')} without Lustre counters: its operations count as stat.`]
      : []),
    ...(mdts.length === 0 && padll.jobs.length > 0
      ? [`PADLL: the demand of ${plural(padll.jobs.length, 'job')} is not carried: no MDT was read.`]
      : []),
  ]
}

/** Start and end of a workload or client after `elapsedS`. */
const startAfter = (startS: number, elapsedS: number): number => Math.max(0, startS - elapsedS)

function ccpfsOf(ccpfs: Ccpfs, elapsedS: number): { readonly section: Ccpfs | undefined; readonly ended: number } {
  const workloads = ccpfs.workloads
    .filter((w) => w.stop_s === undefined || w.stop_s > elapsedS)
    .map((w) => ({
      ...w,
      start_s: startAfter(w.start_s, elapsedS),
      ...(w.stop_s === undefined ? {} : { stop_s: w.stop_s - elapsedS }),
    }))
  const ended = ccpfs.workloads.length - workloads.length
  return { section: workloads.length === 0 ? undefined : { ...ccpfs, workloads, faults: [] }, ended }
}

/** Clients present at the fork with their reservations, and those that join later. */
function dataNodeOf(node: DataNode, present: ForkDataNode | undefined, elapsedS: number): DataNode | undefined {
  const clients = node.clients.flatMap((c): DataNode['clients'] => {
    const now = present?.clients.find((p) => p.name === c.name)
    const isLater = c.start_s > elapsedS
    if (present && !now && !isLater) return []
    const { leave_s: leaveS, crash_s: crashS, ...rest } = c
    return [
      {
        ...rest,
        ...(now && !isLater ? { reservation: now.reservation, limit: now.limit } : {}),
        start_s: startAfter(c.start_s, elapsedS),
        ...(leaveS === undefined || leaveS <= elapsedS ? {} : { leave_s: leaveS - elapsedS }),
        ...(crashS === undefined || crashS <= elapsedS ? {} : { crash_s: crashS - elapsedS }),
      },
    ]
  })
  if (clients.length === 0) return undefined
  const policy = present ? { variant: present.variant, preset: present.preset } : {}
  const isDegraded = present !== undefined && present.iops !== node.global_iops
  const capacity = isDegraded ? [{ at_s: 0, iops: present.iops }] : []
  return { ...node, ...policy, clients, capacity, changes: [] }
}

/** Planes by the part of them that is carried. */
const PARTS: Readonly<Record<Plane, string>> = {
  metadata: 'stages of PADLL',
  locks: 'ccPFS and its locks',
  tokens: 'data nodes',
}

/** Planes that are carried; those of `fromRows` over the range, others as at the instant. */
function carriedOf(
  is: Readonly<Record<Plane, boolean>>,
  fromRows: readonly Plane[] = [],
): Pick<CarriedPlanes, 'carried' | 'origins'> {
  const carried = PLANES.filter((p) => is[p])
  const named = (planes: readonly Plane[], how: string): string[] =>
    planes.length === 0 ? [] : [`${planes.map((p) => PARTS[p]).join(', ')}: ${how}.`]
  return {
    carried,
    origins: [
      ...named(
        carried.filter((p) => !fromRows.includes(p)),
        'as at the instant of the fork, without faults',
      ),
      ...named(
        carried.filter((p) => fromRows.includes(p)),
        'from the recorded rows of the range',
      ),
    ],
  }
}

/** PADLL as it was reported, and the planes that rows tell. */
function withRows(inputs: ForkInputs, padll: object | undefined): CarriedPlanes {
  const ccpfs = inputs.rows && ccpfsOfRows(inputs.rows)
  const haechi = inputs.rows && dataNodesOfRows(inputs.rows, inputs)
  const isRows = inputs.padll?.isFromRows === true
  const isOnServers = inputs.rows?.tables.get('metadata_jobs')?.some((r) => r.place === 'mds') === true
  return {
    sections: {
      ...(padll ? { padll } : {}),
      ...(ccpfs ? { ccpfs: ccpfs.section } : {}),
      ...(haechi ? { haechi: haechi.section } : {}),
    },
    ...carriedOf(
      { metadata: padll !== undefined, locks: ccpfs !== undefined, tokens: haechi !== undefined },
      isRows ? PLANES : ['locks', 'tokens'],
    ),
    lost: [
      ...padllLosses(inputs),
      ...(isOnServers && !inputs.control.metadata
        ? ['Metadata QoS on metadata servers: limits, policies and the cycle are not carried.']
        : []),
      ...(ccpfs?.lost ?? []),
      ...(haechi?.lost ?? []),
    ],
  }
}

/** Returns the planes of a source at the instant of the fork. */
export function carriedPlanes(inputs: ForkInputs): CarriedPlanes {
  const { scenario, elapsedS = 0, dataNodes = [] } = inputs
  const padll = padllOf(inputs)
  if (!scenario) return withRows(inputs, padll)
  const ccpfs = scenario.ccpfs && ccpfsOf(scenario.ccpfs, elapsedS)
  const haechi = scenario.haechi.flatMap(
    (n) =>
      dataNodeOf(
        n,
        dataNodes.find((d) => d.name === n.name),
        elapsedS,
      ) ?? [],
  )
  return {
    sections: {
      ...(padll ? { padll } : {}),
      ...(ccpfs?.section ? { ccpfs: ccpfs.section } : {}),
      ...(haechi.length > 0 ? { haechi } : {}),
    },
    ...carriedOf({ metadata: padll !== undefined, locks: ccpfs?.section !== undefined, tokens: haechi.length > 0 }),
    lost: [
      ...padllLosses(inputs),
      ...(ccpfs?.section
        ? ['ccPFS: files, clients and workloads are carried; held locks, cached and unflushed data are not.']
        : []),
      ...(ccpfs && ccpfs.ended > 0 ? [`ccPFS: ${plural(ccpfs.ended, 'workload')} had ended before the fork.`] : []),
      ...(haechi.length > 0
        ? ['Data nodes: QoS, clients and reservations are carried; tokens, queues and the capacity history are not.']
        : []),
    ],
  }
}

/** Queue of a stage that holds its job back, in seconds of its arrivals. */
const WAITS_S = 0.05
/** Arrivals of processes that wait for their replies, relative to the service, at most. */
const HELD_MOST = 1.1

/** Hosts of a job's stages, and the largest number of stages on one of them. */
export function stagesOf({ hosts }: ForkPadll['jobs'][number]): { readonly hosts: string[]; readonly perHost: number } {
  const counts = new Map<string, number>()
  for (const h of hosts) counts.set(h, (counts.get(h) ?? 0) + 1)
  return { hosts: [...counts.keys()], perHost: Math.max(1, ...counts.values()) }
}

/**
 * Jobs with the demand that arrived at PADLL's stages: the servers see only what the stages let through. Jobs that the
 * servers' counters do not show are added.
 */
export function withStagedDemand({ jobs, padll, binAtS }: ForkInputs): readonly ForkJob[] {
  if (!padll) return jobs
  const staged = new Map(padll.jobs.map((j) => [j.job, j]))
  const known = jobs.map((j): ForkJob => {
    const stage = staged.get(j.jobId)
    if (!stage) return j
    const { hosts } = stagesOf(stage)
    const served = meanOr0(j.mdops)
    // Arrivals as slow as the service, and a queue: processes that would be faster without the limit.
    const isHeld = stage.queued > WAITS_S * stage.asked && stage.asked <= HELD_MOST * served
    const scale = served > 0 ? Math.max(1, stage.asked / served) : 0
    return {
      ...j,
      ...(hosts.length > 0 ? { hosts, nodes: hosts.length } : {}),
      throttled: isHeld ? 1 : j.throttled,
      ops: j.ops.size > 0 ? j.ops : (stage.ops ?? j.ops),
      mdops: served > 0 ? j.mdops.map((v) => v * scale) : j.mdops.map(() => stage.asked),
    }
  })
  const added = padll.jobs
    .filter((s) => s.asked > 0 && !jobs.some((j) => j.jobId === s.job))
    .map((s): ForkJob => {
      const { hosts } = stagesOf(s)
      const none = binAtS.map(() => 0)
      return {
        jobId: s.job,
        user: s.user,
        account: '',
        nodes: hosts.length,
        hosts,
        rpcs: none,
        readBps: none,
        writeBps: none,
        mdops: binAtS.map(() => s.asked),
        throttled: 0,
        targets: [],
        ops: s.ops ?? new Map<string, number>(),
      }
    })
  return [...known, ...added]
}
