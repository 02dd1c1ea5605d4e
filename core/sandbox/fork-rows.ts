/**
 * Planes of a fork from the rows of a history: stages of PADLL, data nodes and a ccPFS as far as rows tell them. Properties
 * that rows do not have are assumed by the defaults below, and every assumption is listed.
 */
import { LOCK_MODES, type LockMode } from '../seqdlm/modes.ts'
import { managerOf, policyOf } from '../emulator/ccpfs-run.ts'
import type { Scenario } from '../emulator/scenario.ts'
import { JOB_ID_MAX } from '../lustre/job-id.ts'
import { EPSILON } from '../padll/algorithms/psfa.ts'
import { RATE_MAX } from '../padll/console.ts'
import { jobNameFault, type Policy } from '../padll/rules/policy.ts'
import { parseHousekeepingFile } from '../padll/rules/housekeeping-yaml.ts'
import { printPolicyYaml } from '../padll/rules/policy-yaml.ts'
import { isOperationType, isScope } from '../padll/vocabulary.ts'
import type { PlaneTableId } from '../series/plane-tables.ts'
import type { ForkInputs, ForkMdt, ForkPadll, ForkRow, ForkRows, ForkServer } from './fork-inputs.ts'
import { EDGE_S, roundTo4Digits } from './fork-jobs.ts'
import { hostNameOf, uniqueNames } from './fork-names.ts'

type Ccpfs = NonNullable<Scenario['ccpfs']>
type CcpfsFile = Ccpfs['files'][number]
type CcpfsWorkload = Ccpfs['workloads'][number]
type DataNode = Scenario['haechi'][number]
type TokenClient = DataNode['clients'][number]

/** Assumed settings of PADLL: its own defaults. */
const PADLL = {
  controller: 'qos01',
  algorithm: 'psfa',
  epsilon: EPSILON,
  split: 'equal',
  intervalMs: 1000,
  collectRounds: 1,
  leaseS: 30,
  expiryRate: undefined,
} as const
/** Assumed refill period, µs, and rate of a channel's bucket that no policy limits. */
const BUCKET = 'drl 10000 1000000'
/** Assumed MDT of a range whose metadata servers are not recorded. */
const MDS = { host: 'mds01', mdt: 'MDT0000' } as const

/** Assumed stripe, file size per stripe and I/O of a ccPFS file; IO500's I/O that shares pages with its neighbors. */
const STRIPE_KIB = 1024
const MIB_PER_STRIPE = 4
const MIB = 1024 * 1024
const IO_BYTES = 47_008
/** Assumed clients of a contended file, at most. */
const FILE_CLIENTS_MAX = 64
/** Share of requests without a conflict up to which all requests of a file contend. */
const CONTENDED = 0.5
/** Limits of the scenario schema. */
const MOST = { files: 256, stripes: 256, allStripes: 4096, servers: 64, nodes: 8, clients: 64 } as const

/** Assumed period of a data node whose epochs do not tell it, ms, and limits of the scenario schema. */
const PERIOD_MS = { usual: 1000, least: 10, most: 60_000 } as const
/** Tokens that a client fetches at once: a part of its equal share of the estimate. */
const BATCHES_PER_SHARE = 16
const BATCH_MAX = 1000
/** A client that waited for tokens in at least this share of the periods had more I/Os than it completed. */
const STARVED = 0.5
/** A client without a row for longer than this before the instant had left, s. */
const GONE_S = 3
/** Capacity of a node without an estimate, relative to its use. */
const HEADROOM = 1.25
const TOKENS_MAX = 2 ** 28 - 1

const plural = (n: number, one: string): string => `${n} ${n === 1 ? one : `${one}s`}`
const known = (n: number | undefined): n is number => n !== undefined && !Number.isNaN(n)
const or = (n: number | undefined, otherwise: number): number => (known(n) ? n : otherwise)
const total = (values: Iterable<number>): number => {
  let sum = 0
  for (const v of values) sum += or(v, 0)
  return sum
}

/** Rows of a table's series, without the row of the others, and the rows that sum others. */
function rowsOf(rows: ForkRows, table: PlaneTableId): { readonly own: readonly ForkRow[]; readonly others: number } {
  const all = rows.tables.get(table) ?? []
  const own = all.filter((r) => !r.isOthers)
  return { own, others: all.length - own.length }
}

/** PADLL from the rows of its jobs and channels; undefined without any. */
export function padllOfRows(rows: ForkRows): ForkPadll | undefined {
  const { own } = rowsOf(rows, 'metadata_jobs')
  const jobs = own.filter((r) => r.place === 'stages' && isScope(r.name))
  if (jobs.length === 0) return undefined
  const channels = rowsOf(rows, 'metadata_channels').own
  const limits = new Map<string, number>()
  for (const { name, values } of jobs) {
    const { limit_per_s: limit } = values
    if (known(limit) && limit >= 1) limits.set(name, Math.min(RATE_MAX, limit))
  }
  const policies: Policy[] = []
  for (const { name, jobId, values } of jobs) {
    const { allocated_per_s: allocated } = values
    if (!isScope(name) || !known(allocated) || jobNameFault(jobId) !== undefined) continue
    const kind = limits.has(name) ? 'demand' : 'limit'
    const rule = policies.length + 1
    policies.push({
      line: rule,
      rule,
      atS: 0,
      kind,
      job: jobId,
      scope: name,
      value: Math.max(1, Math.round(allocated)),
    })
  }
  const byJob = Map.groupBy(jobs, (r) => r.jobId)
  return {
    ...PADLL,
    limits: [...limits].map(([scope, rate]) => ({ scope, rate })),
    policies: { text: printPolicyYaml(policies), elapsedS: 0 },
    housekeeping: housekeepingOf(channels),
    isFromRows: true,
    jobs: [...byJob].map(([job, scopes]) => ({
      job,
      user: '',
      hosts: channelHosts(channels.filter((c) => c.jobId === job)),
      asked: total(scopes.map((s) => or(s.values['asked_per_s'], s.values['served_per_s'] ?? NaN))),
      queued: Math.round(total(scopes.map((s) => s.means['queued'] ?? NaN))),
      ops: new Map(
        scopes.map((s) => [isOperationType(s.name) ? s.name : 'getattr', or(s.values['asked_per_s'], 0)] as const),
      ),
    })),
  }
}

/** Host of each stage: the first word of a channel's place is its local controller, the rest its stage. */
const channelHosts = (channels: readonly ForkRow[]): string[] =>
  [...new Set(channels.map((c) => c.place))].map((place) => place.split(' ')[0] ?? '').filter((host) => host !== '')

/** Channels of the stages as a housekeeping file; undefined for the default, one for all metadata operations. */
function housekeepingOf(channels: readonly ForkRow[]): string | undefined {
  const objects = new Map<string, { readonly channel: string; readonly object: string; readonly scope: string }>()
  for (const { name } of channels) {
    const [, channel, object, scope] = /^(\d{1,10})\.(\d{1,10}) (\w+)$/.exec(name) ?? []
    if (channel !== undefined && object !== undefined && scope !== undefined && isScope(scope))
      objects.set(`${channel}.${object}`, { channel, object, scope })
  }
  const scopes = new Set([...objects.values()].map((o) => o.scope))
  if (objects.size === 0 || (scopes.size === 1 && scopes.has('meta_op'))) return undefined
  const selection = (scope: string): string => (isOperationType(scope) ? `${scope} no_op` : `no_op ${scope}`)
  let rule = 0
  const lines = [...Map.groupBy(objects.values(), (o) => o.channel)].flatMap(([channel, own]) => {
    const [first] = own
    const isOne = own.every((o) => o.scope === first?.scope)
    const all = selection(isOne && first ? first.scope : 'meta_op')
    return [
      `${++rule} create_channel ${channel} posix_meta 0 ${all}`,
      ...own.map((o) => `${++rule} create_object ${channel} ${o.object} posix_meta ${selection(o.scope)} ${BUCKET}`),
    ]
  })
  const text = `${lines.join('\n')}\n`
  return parseHousekeepingFile(text).faults.some((f) => f.severity === 'error') ? undefined : text
}

/** Losses and assumptions of PADLL's rows. */
export function padllRowLosses(rows: ForkRows, { policies, housekeeping, jobs }: ForkPadll): string[] {
  const { own, others } = rowsOf(rows, 'metadata_jobs')
  const epoch = Math.max(...own.map((r) => or(r.values['epoch'], 0)), 0)
  const unplaced = jobs.filter((j) => j.hosts.length === 0).length
  return [
    'PADLL: algorithm, split, cycle and lease are not recorded; psfa, equal split, 1 s and 30 s are assumed.',
    policies.text.includes('job:')
      ? 'PADLL: policies are not recorded; the rate that each job was allocated is assumed as its demand.'
      : 'PADLL: policies are not recorded; none are assumed.',
    `PADLL: mount points and processes of the stages are not recorded; ${housekeeping === undefined ? 'one channel for all metadata operations' : 'the recorded channels, unlimited without a policy'}, one mount point.`,
    ...(epoch > 0
      ? [`PADLL: the controller starts over with epoch 1; the recorded one had ${Math.round(epoch)}.`]
      : []),
    ...(unplaced > 0 ? [`PADLL: hosts of the stages of ${plural(unplaced, 'job')} are not recorded.`] : []),
    ...(others > 0 ? ['PADLL: the smallest jobs share one row and are omitted.'] : []),
  ]
}

/** Inputs with PADLL from rows, unless the source reported it, and with an assumed MDT for its operations. */
export function withRowsOfStages(inputs: ForkInputs): ForkInputs {
  if (!inputs.rows || inputs.scenario || inputs.padll) return inputs
  const padll = padllOfRows(inputs.rows)
  if (!padll) return inputs
  if (inputs.mdts.length > 0) return { ...inputs, padll }
  const taken = new Set(inputs.servers.map((s) => s.name))
  const host = taken.has(MDS.host) ? `${MDS.host}-assumed` : MDS.host
  const server: ForkServer = { name: host, kind: 'mds', version: undefined, cpts: undefined, policy: 'fifo' }
  const mdt: ForkMdt = { name: MDS.mdt, server: host, perOpUs: NaN }
  return {
    ...inputs,
    padll,
    servers: [...inputs.servers, server],
    mdts: [mdt],
    unknown: [...inputs.unknown, 'Metadata servers are not recorded: one MDT is assumed.'],
  }
}

/** Sections of a scenario from rows, and what of them is not carried or assumed. */
export interface RowSection<T> {
  readonly section: T
  readonly lost: readonly string[]
}

/** Period of a node, ms: its epochs count periods. */
function periodMsOf({ first, values, fromS, toS, rows }: ForkRow): number | undefined {
  const periods = (values['epoch'] ?? NaN) - (first['epoch'] ?? NaN)
  const spanMs = 1000 * (toS - fromS)
  const ms = Number((spanMs / periods).toPrecision(2))
  // Epochs begin again if the node is set up again: then a period would seem longer than the distance of its rows.
  if (!(periods > 0) || ms > (1.2 * spanMs) / Math.max(1, rows - 1)) return undefined
  return Math.min(PERIOD_MS.most, Math.max(PERIOD_MS.least, Math.round(ms)))
}

/** Data nodes with their clients; undefined without rows. */
export function dataNodesOfRows(
  rows: ForkRows,
  { isReplay, workload, servers, spanS }: Pick<ForkInputs, 'isReplay' | 'workload' | 'servers' | 'spanS'>,
): RowSection<DataNode[]> | undefined {
  const nodes = rowsOf(rows, 'token_nodes')
  const clients = rowsOf(rows, 'token_clients')
  const lost: string[] = []
  let gone = 0
  let starved = 0
  let unplayed = 0
  let assumedPeriods = 0
  let bare = 0
  const hosts = new Set(servers.map((s) => s.name))
  const names = uniqueNames(
    nodes.own.map((n) => n.name),
    (name, i) => hostNameOf(hosts.has(name) ? `${name}-tokens` : name, `dn${i + 1}`),
  )
  const section = nodes.own.slice(0, MOST.nodes).flatMap((node): DataNode[] => {
    const measured = periodMsOf(node)
    if (measured === undefined) assumedPeriods++
    const periodMs = measured ?? PERIOD_MS.usual
    const perS = (tokens: number): number =>
      Math.min(TOKENS_MAX, Math.max(1, Math.ceil((tokens * 1000) / periodMs - 1e-6)))
    const present = clients.own
      .filter((c) => c.place === node.name)
      .filter((c) => isReplay || c.toS >= spanS - GONE_S - (2 * periodMs) / 1000)
    gone += clients.own.filter((c) => c.place === node.name).length - present.length
    const taken = present.slice(0, MOST.clients)
    unplayed += present.length - taken.length
    if (taken.length === 0) return []
    const own = uniqueNames(
      taken.map((c) => c.name),
      (name, i) => name.slice(0, 40) || `client${i + 1}`,
    )
    const isWanting = (c: ForkRow): boolean => workload === 'closed' && or(c.means['starved'], 0) >= STARVED
    starved += taken.filter(isWanting).length
    const list = taken.map((c): TokenClient => {
      const whole = (n: number | undefined): number => Math.min(TOKENS_MAX, Math.max(0, Math.round(or(n, 0))))
      const { limit } = c.values
      return {
        name: own.get(c.name) as string,
        job: c.jobId.slice(0, JOB_ID_MAX),
        reservation: whole(c.values['reservation']),
        limit: known(limit) ? whole(limit) : null,
        workload: isWanting(c)
          ? { kind: 'backlogged' }
          : { kind: 'constant', per_period: whole(c.means['used']), carry: true },
        outside: false,
        start_s: isReplay && c.fromS >= EDGE_S ? roundTo4Digits(c.fromS) : 0,
        ...(isReplay && c.toS < spanS - EDGE_S ? { leave_s: roundTo4Digits(c.toS + periodMs / 1000) } : {}),
      }
    })
    const recorded = isReplay ? node.first['estimate'] : node.values['estimate']
    const hasTokens = known(recorded)
    if (!hasTokens) bare++
    const estimate = hasTokens ? recorded : HEADROOM * or(node.means['used'], 1)
    // Admission needs a profile above the reservations, also while the estimate was below them.
    const profile = Math.max(estimate, total(list.map((c) => c.reservation)))
    return [
      {
        name: names.get(node.name) as string,
        global_iops: perS(profile),
        local_iops: perS(profile),
        variant: hasTokens ? 'haechi' : 'bare',
        preset: 'default',
        estimator: {},
        period_ms: periodMs,
        batch: Math.min(BATCH_MAX, Math.max(1, Math.round(estimate / (BATCHES_PER_SHARE * list.length)))),
        fluid_admission: false,
        slack: 0,
        clients: list,
        capacity: profile > estimate ? [{ at_s: 0, iops: perS(estimate) }] : [],
        changes: [],
      },
    ]
  })
  if (section.length === 0) return undefined
  lost.push(
    'Data nodes: the capacity estimate is taken as the profile, also for one client; QoS variant, preset, estimator and batch are not recorded, those of Haechi by default are assumed.',
    'Data nodes: the demand of a client is the mean of its completed I/Os, even in a period; bursts, records, tokens and the history of the capacity are not carried.',
  )
  if (starved > 0)
    lost.push(`Data nodes: ${plural(starved, 'client')} waited for tokens: more demand than completed is assumed.`)
  if (bare > 0)
    lost.push(`Data nodes: ${plural(bare, 'node')} without an estimate: a quarter above its use is assumed.`)
  if (assumedPeriods > 0)
    lost.push(`Data nodes: the period of ${plural(assumedPeriods, 'node')} is not recorded; 1 s is assumed.`)
  if (gone > 0) lost.push(`Data nodes: ${plural(gone, 'client')} had left before the fork.`)
  if (unplayed > 0 || nodes.own.length > MOST.nodes || clients.others > 0)
    lost.push('Data nodes: those beyond 8, and clients beyond 64 or in the row of the others, are omitted.')
  return { section, lost }
}

interface Stripe {
  readonly index: number
  readonly row: ForkRow
}
interface File {
  readonly name: string
  readonly stripes: readonly Stripe[]
  readonly count: number
}

/** Files of a lock manager's resources, named `FILE / STRIPE`, and the number of other names. */
function filesOf(resources: readonly ForkRow[]): { readonly files: File[]; readonly unnamed: number } {
  const files = new Map<string, Stripe[]>()
  let unnamed = 0
  for (const row of resources) {
    const [, name, stripe] = /^([^/]*) \/ (\d{1,4})$/.exec(row.name) ?? []
    const index = Number(stripe)
    const isValid = name !== undefined && /^[\u0001-\u00ff]{1,255}$/.test(name) && index < MOST.stripes
    if (!isValid) {
      unnamed++
      continue
    }
    const stripes = files.get(name)
    if (stripes) stripes.push({ index, row })
    else files.set(name, [{ index, row }])
  }
  return {
    files: [...files].map(([name, stripes]) => ({
      name,
      stripes,
      count: 1 + Math.max(...stripes.map((s) => s.index)),
    })),
    unnamed,
  }
}

/** Files in an order in which stripes, placed round robin, lie on their servers as far as possible. */
function placed(
  files: readonly File[],
  servers: readonly string[],
): { readonly order: File[]; readonly moved: number } {
  const left = [...files]
  const order: File[] = []
  let base = 0
  let moved = 0
  const movedOf = ({ stripes }: File): number =>
    stripes.filter((s) => servers[(base + s.index) % servers.length] !== s.row.place).length
  for (let next = left[0]; next !== undefined; next = left[0]) {
    const fit = left.find((f) => movedOf(f) === 0) ?? next
    left.splice(left.indexOf(fit), 1)
    moved += movedOf(fit)
    base += fit.count
    order.push(fit)
  }
  return { order, moved }
}

/** Share of a mode among the held locks, 0..1. */
function heldShare(servers: readonly ForkRow[], mode: LockMode): number {
  const held = (m: LockMode): number => total(servers.map((s) => s.means[`held_${m.toLowerCase()}`] ?? NaN))
  const all = total(LOCK_MODES.map(held))
  return all > 0 ? held(mode) / all : 0
}

/** A ccPFS with a workload for every file that was locked; undefined without rows. */
export function ccpfsOfRows(rows: ForkRows): RowSection<Ccpfs> | undefined {
  const resources = rowsOf(rows, 'lock_resources')
  const lockServers = rowsOf(rows, 'lock_servers').own
  const found = filesOf(resources.own)
  const hostsOf = [...new Set(resources.own.map((r) => r.place))].sort().slice(0, MOST.servers)
  const names = uniqueNames(hostsOf, (name, i) => hostNameOf(name, `ccpfs${i + 1}`))
  const { order, moved } = placed(found.files, hostsOf)
  let stripes = 0
  const files = order.filter((f) => (stripes += f.count) <= MOST.allStripes).slice(0, MOST.files)
  const prShare = heldShare(lockServers, 'PR')
  const workloads = files.flatMap((f, i) => workloadOf(f, i, prShare) ?? [])
  if (workloads.length === 0) return undefined
  const recorded = managerOf(lockServers[0]?.place ?? '')
  const section: Ccpfs = {
    ...(recorded ?? { manager: 'seqdlm', options: {} }),
    servers: hostsOf.map((h) => names.get(h) as string),
    costs: {},
    revocation_timeout_s: 100,
    files: files.map((f): CcpfsFile => ({
      name: f.name,
      stripes: f.count,
      stripe_kib: STRIPE_KIB,
      size_mib: MIB_PER_STRIPE * f.count,
    })),
    workloads,
    faults: [],
  }
  const omitted = found.files.length - files.length + found.unnamed + resources.others
  return {
    section,
    lost: [
      'ccPFS: lock modes and byte ranges of clients, and the clients and jobs of a file, are not recorded; as many writers as waited at once, and one more, that write 47,008 B strided at the recorded rate of requests are assumed.',
      'ccPFS: stripe and file sizes are not recorded; 1 MiB and 4 MiB per stripe are assumed. Costs are those of the published cluster.',
      'ccPFS: requests arrive evenly; bursts, held locks, cached and unflushed data are not carried.',
      ...(policyOf(section).expand
        ? [
            'ccPFS: the manager expands ranges: expanded locks cover several writes, so fewer locks are requested than recorded.',
          ]
        : []),
      ...(prShare > 0
        ? [
            `ccPFS: ${Math.round(100 * prShare)} % of the held locks were PR: that part of the clients of a contended file reads.`,
          ]
        : []),
      ...(recorded ? [] : ['ccPFS: the lock manager is not recorded; seqdlm is assumed.']),
      ...(workloads.length < files.length
        ? [`ccPFS: ${plural(files.length - workloads.length, 'file')} without requests: no workload.`]
        : []),
      ...(moved > 0 ? [`ccPFS: ${plural(moved, 'stripe')} on another server than recorded.`] : []),
      ...(omitted > 0
        ? ['ccPFS: resources without the name of a file, and those in the row of the others, are omitted.']
        : []),
    ],
  }
}

/**
 * Part of a file in which strided writers take turns: after a round, each block is another writer's, so that its lock is
 * requested again.
 */
function sharedSpanMib(writers: number, sizeMib: number): number {
  const blocks = Math.floor((sizeMib * MIB) / IO_BYTES)
  const places = blocks - ((blocks - 1) % writers)
  return Math.min(sizeMib, ((places + 0.5) * IO_BYTES) / MIB)
}

/** Workload of a file at the recorded rate of requests; undefined if it had none. */
function workloadOf(
  { name, stripes, count: stripeCount }: File,
  index: number,
  prShare: number,
): CcpfsWorkload | undefined {
  const rate = (column: string): number => total(stripes.map((s) => s.row.values[column] ?? NaN))
  const grants = rate('grants_per_s')
  const conflicts = rate('conflicts_per_s')
  if (!(grants > 0)) return undefined
  const waiting = Math.max(0, ...stripes.map((s) => or(s.row.values['waiters'], 0)))
  const isShared = conflicts > 0
  const count = isShared ? Math.min(FILE_CLIENTS_MAX, Math.max(2, Math.round(waiting) + 1)) : 1
  const requests = isShared && conflicts < CONTENDED * grants ? conflicts : grants
  const waitMs =
    total(stripes.map((s) => or(s.row.means['wait_mean_ms'], 0) * or(s.row.values['grants_per_s'], 0))) / grants
  return {
    job: `ccpfs.${index + 1}`,
    user: '',
    file: name,
    clients: Array.from({ length: count }, (_, i) => i + 1),
    readers: isShared ? Math.min(count - 1, Math.round(prShare * count)) : 0,
    pattern: 'strided',
    size_bytes: IO_BYTES,
    offset_mib: 0,
    ...(isShared ? { span_mib: sharedSpanMib(count, stripeCount * MIB_PER_STRIPE) } : {}),
    pace: {
      kind: 'continuous',
      think_ms: roundTo4Digits(Math.min(1e9, Math.max(0, (1000 * count) / requests - waitMs))),
    },
    start_s: 0,
  }
}
