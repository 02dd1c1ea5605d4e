/** Tokens: pool, clients and capacity of one data node at the cursor. */
import type { TokensFrame, TokensSpan } from '#core/api/tokens.ts'
import type { DataNodeRun } from '#core/haechi/data-node.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import { estimatorRule } from '#core/haechi/capacity-estimate.ts'
import { finishingTime } from '#core/haechi/fluid.ts'
import { profiledTokens } from '#core/haechi/settings.ts'
import type { MonitorEvent } from '#core/haechi/monitor-events.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import type { HaechiReader } from '../../../cluster/tokens/haechi-reader.ts'
import { resolvePosition } from '../../position.ts'
import { toNotice } from '../status.ts'
import { noDataNode } from './empty.ts'
import { clientsOf, footOf } from './clients.ts'
import { withClientFilter } from './filter.ts'
import { missedIn, periodAt, rowAt, type Place } from '../../../cluster/tokens/position.ts'
import { phasesOf, poolOf, seriesOf } from './pool.ts'

type Event = TokensFrame['events'][number]

const MOST = 60
const ALERTS = {
  'local-capacity-risk': 'cannot complete its reservation at the rate of one client',
  overcommitted: 'reservations exceed the estimated capacity',
  'bad-report': 'a report was rejected as implausible',
  'over-reservation': 'repeatedly uses less than its reservation',
  fallback: 'follows the rule of the paper',
  'silent-client': 'no longer reports',
} as const

function messageOf(e: MonitorEvent): Omit<Event, 'atMs' | 'client'> {
  switch (e.kind) {
    case 'period':
      return { kind: 'period', level: 'idle', text: `period ${e.epoch} begins, ${e.pool} tokens in the pool` }
    case 'start-report':
      return { kind: 'report', level: 'idle', text: 'pool tokens were taken: clients are asked to report' }
    case 'conversion': {
      const raced = e.races === 0 ? '' : `, ${e.races} ${e.races === 1 ? 'fetch' : 'fetches'} in between`
      return {
        kind: 'conversion',
        level: 'idle',
        text: `pool ${e.from} to ${e.to}, ${e.residual} left to clients${raced}`,
      }
    }
    case 'estimate':
      return {
        kind: 'estimate',
        level: 'idle',
        text: `${e.used} used: estimate ${e.action === 'off' ? 'off' : e.action}, ${e.omega}`,
      }
    case 'alert':
      return { kind: 'alert', level: 'watch', text: `${ALERTS[e.alert]}${e.what === '' ? '' : `: ${e.what}`}` }
    case 'admitted':
      return { kind: 'client', level: 'idle', text: 'admitted' }
    case 'left':
      return { kind: 'client', level: 'idle', text: 'left' }
  }
}

const clientOf = (run: DataNodeRun, e: MonitorEvent): string =>
  'client' in e && e.client >= 0 ? (run.clients[e.client]?.name ?? '') : ''

/**
 * Monitor events of a data node up to the cursor, newest first, as text. Conversions occur at every check: only the
 * newest is listed.
 */
function eventsOf({ run, atNs }: Place, toMs: (ns: number) => number): Event[] {
  const events: Event[] = []
  let hasConversion = false
  const items = run.node.events.items
  for (let i = items.length - 1; i >= 0 && events.length < MOST; i--) {
    const e = items[i]
    if (!e || e.at > atNs) continue
    if (e.kind === 'conversion') {
      if (hasConversion) continue
      hasConversion = true
    }
    events.push({ atMs: toMs(e.at), client: clientOf(run, e), ...messageOf(e) })
  }
  for (const m of run.marks) {
    if (m.atNs > atNs) continue
    events.push({
      atMs: toMs(m.atNs),
      kind: m.kind,
      level: m.kind === 'refused' ? 'watch' : 'idle',
      client: m.client,
      text: m.text,
    })
  }
  return events.sort((a, b) => b.atMs - a.atMs).slice(0, MOST)
}

export interface TokensQuery {
  readonly at: number | null
  readonly windowMs: number
  /** Instant A of a comparison. */
  readonly againstMs?: number | null
  readonly node: string
  readonly span: TokensSpan
  readonly filter?: string | undefined
}

/** Periods on the ruler, and of the capacity chart. */
const EPOCHS = 7
const PERIODS = 60

export const tokensFrame = (monitor: ClusterMonitor, query: TokensQuery, seq: number): TokensFrame =>
  withClientFilter(fullFrame(monitor, query, seq), query.filter)

function fullFrame(monitor: ClusterMonitor, query: TokensQuery, seq: number): TokensFrame {
  const { sample, atMs } = resolvePosition(monitor, query.at)
  const nodes = monitor.dataNodes
  const node = nodes.find((n) => n.name === query.node) ?? nodes[0]
  const reader = monitor.haechi.find((r) => r.dataNode === node)
  const live = reader && liveOf(reader)
  const names = nodes.map((n) => n.name)
  const head = { seq, sample, atMs, windowMs: query.windowMs, nodes: names, ...(live ? { live } : {}) }
  const atNs = atMs === null ? undefined : Math.round((atMs - monitor.source.toUnixMs(0)) * NS_PER_MS)
  const run = atNs === undefined ? undefined : node?.run(atNs)
  if (!node || !run || atNs === undefined || atMs === null) {
    return { ...head, node: node?.name ?? '', ...noDataNode(query.span), notices: noticesOf(reader) }
  }
  const place = placeOf(run, Math.min(atNs - run.fromNs, run.untilNs ?? Infinity))
  const { setup } = run.node
  const { settings } = setup
  const toMs = (ns: number): number => monitor.source.toUnixMs(run.fromNs + ns)
  return {
    ...head,
    node: node.name,
    isKept: place.row !== undefined,
    variant: run.variant,
    preset: run.preset,
    periodMs: settings.periodNs / NS_PER_MS,
    checkMs: settings.checkNs / NS_PER_MS,
    batch: settings.batch,
    epoch: place.epoch,
    elapsedMs: (place.atNs - place.startNs) / NS_PER_MS,
    phase: phasesOf(place).at(-1)?.kind ?? 'wait',
    pool: poolOf(place),
    series: seriesOf(place, query.span),
    phases: phasesOf(place),
    epochs: epochsOf(place, toMs),
    capacity: capacityOf(place),
    clients: clientsOf(place, monitor.jobs.jobColors),
    foot: { ...footOf(place), ...admissionOf(place) },
    events: eventsOf(place, toMs),
    notices: noticesOf(reader),
  }
}

/** What a running node consists of, and whether its tokens add up. */
function liveOf({ node, dataNode, failure }: HaechiReader): TokensFrame['live'] {
  const { host } = node
  const { status } = dataNode
  if (failure || !status)
    return { host, text: failure ? failure.what : 'not read yet', level: failure ? 'bad' : 'idle' }
  const { violations, kills, backend } = status
  const lost = kills.lost + kills.unowned
  const killed = kills.count === 0 ? '' : `, ${kills.count} killed with ${lost} tokens`
  const wrong = violations.count === 0 ? '' : `, ${violations.count} token violations`
  return { host, text: `clients are ${backend.kind}${killed}${wrong}`, level: violations.count > 0 ? 'bad' : 'ok' }
}

const noticesOf = (reader: HaechiReader | undefined): TokensFrame['notices'] =>
  reader?.failure ? [toNotice(reader.failure)] : []

function placeOf(run: DataNodeRun, atNs: number): Place {
  const periods = run.node.periods.items
  const { periodNs } = run.node.setup.settings
  const record = periodAt(periods, atNs)
  const last = periods.at(-1)
  const startNs = record?.startNs ?? Math.max(0, last && last.endNs < atNs ? last.endNs : 0)
  const epoch =
    record?.monitor?.epoch ?? (record ? record.index + 1 : (run.node.monitor?.epoch ?? (last ? last.index + 2 : 1)))
  return {
    run,
    atNs,
    startNs,
    endNs: startNs + periodNs,
    record,
    epoch,
    row: rowAt(run.node.samples, run.node.setup.samples.everyNs, atNs),
    before: periods.filter((p) => p.endNs <= startNs),
  }
}

function epochsOf(place: Place, toMs: (ns: number) => number): TokensFrame['epochs'] {
  const whole = place.before.slice(-(EPOCHS - 1)).map((p) => ({
    epoch: p.monitor?.epoch ?? p.index + 1,
    startMs: toMs(p.startNs),
    missed: missedIn(place.run, p).map((i) => place.run.clients[i]?.name ?? ''),
    isWhole: true,
  }))
  return [...whole, { epoch: place.epoch, startMs: toMs(place.startNs), missed: [], isWhole: false }]
}

const ACTIONS = { increase: 'rose', average: 'mean of used capacity', keep: 'kept', off: 'not estimated' } as const

function capacityOf({ run, before, epoch, startNs, atNs }: Place): TokensFrame['capacity'] {
  const { settings, profile } = run.node.setup
  const shown = before.slice(-PERIODS)
  const first = shown[0]?.startNs ?? startNs
  const epochOf = (ns: number): number => {
    const p = shown.find((s) => ns >= s.startNs && ns < s.endNs)
    return p ? (p.monitor?.epoch ?? p.index + 1) : epoch
  }
  const last = shown.at(-1)?.monitor
  const step = last && last.nextOmega !== last.omega ? ` by ${Math.abs(last.nextOmega - last.omega)}` : ''
  return {
    epoch: shown.map((p) => p.monitor?.epoch ?? p.index + 1),
    estimate: shown.map((p) => p.monitor?.omega ?? null),
    used: shown.map((p) => p.monitor?.used ?? p.total),
    reserved: shown.map((p) => p.monitor?.reserved ?? null),
    profile: profiledTokens(profile, settings.periodNs),
    least: Math.floor(estimatorRule(settings, profile).omegaMin),
    action: last ? `${ACTIONS[last.action]}${last.action === 'increase' ? step : ''}` : '',
    marks: run.marks
      .filter((m) => m.kind === 'capacity' && m.atNs >= first && m.atNs <= atNs)
      .map((m) => ({ epoch: epochOf(m.atNs), text: m.text })),
  }
}

/** Admitted reservations, and the time when all would be served under equal shares. */
function admissionOf({
  run,
  row,
  before,
}: Place): Pick<TokensFrame['foot'], 'reserved' | 'admissible' | 'fluidFinish'> {
  const { node, clients } = run
  const { settings, profile } = node.setup
  const whole = profiledTokens(profile, settings.periodNs)
  const monitor = before.at(-1)?.monitor
  const omega = row === undefined ? (monitor?.nextOmega ?? whole) : node.samples.nodeValue(row, 'omega') || whole
  const reservations = clients.flatMap((_, i) => {
    const c = node.client(i)
    return c && !c.isOutside ? [c.promised] : []
  })
  const capacity = { globalIops: (omega * 1e9) / settings.periodNs, localIops: profile.localIops }
  return {
    reserved: reservations.reduce((a, b) => a + b, 0),
    admissible: omega,
    fluidFinish: finishingTime(reservations, capacity) / settings.periodNs,
  }
}
