/** Known clusters as cards: connection and trust of each server, discovery results, and the cost of monitoring. */
import {
  GUESSED_RATE,
  type ClusterCard,
  type ConnectionsFrame,
  type ServerCard,
  type ServerRole,
  type ProbeId,
} from '#core/api/clusters.ts'
import type { Level, Notice } from '#core/api/parts.ts'
import type { LiveServer } from '../../cluster/live/live-server.ts'
import { busiestOst } from '../../cluster/ost-rate.ts'
import type { ClusterService } from '../clusters/cluster-service.ts'
import type { LiveConsole } from '../clusters/live-console.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { PROBES } from '../../cluster/probes/probe.ts'
import { serverCard } from '../clusters/server-card.ts'
import type { Console } from '../console.ts'
import { resolvePosition } from '../position.ts'
import { longerPeriod, toNotice } from './status.ts'

/** Budget shown for a cluster that is not sampled. */
const BUDGET_BYTES_PER_SEC = 100_000
const NO_COST: ClusterCard['cost'] = { t: [], bytesPerSec: [], serverMsPerSec: [] }

export function connectionsFrame(
  clusters: ClusterService,
  query: { at: number | null },
  seq: number,
): ConnectionsFrame {
  const position = resolvePosition(clusters.onScreen.monitor, query.at)
  const store = clusters.access.store
  const stored = store?.read()
  return {
    seq,
    ...position,
    clusters: [...clusters.list.map((live) => liveCard(clusters, live)), emulatorCard(clusters)],
    asks: clusters.asks.list,
    trustStore: {
      path: store?.path ?? '',
      fault: [clusters.fault, stored && !stored.ok ? `${stored.error.what}: ${stored.error.why ?? ''}` : '']
        .filter((t) => t !== '')
        .join('; '),
    },
    ignored: [...new Set(clusters.list.flatMap((c) => c.cluster.servers.flatMap((s) => s.ignored)))].slice(0, 200),
  }
}

type CardState = Pick<ClusterCard, 'state' | 'text' | 'level'>

function stateOf({ cluster, console }: LiveConsole): CardState {
  const { servers } = cluster
  const has = (kind: LiveServer['state']['kind']): number => servers.filter((s) => s.state.kind === kind).length
  const card = (state: ClusterCard['state'], text: string, level: Level): CardState => ({ state, text, level })
  if (!cluster.isWanted) return card('idle', 'not connected', 'idle')
  // A disconnected server is also silent: it is counted once.
  const isSilent = ({ host }: LiveServer): boolean => console?.monitor.missing.has(host) === true
  const ready = servers.filter((s) => s.isReady && !isSilent(s)).length
  if (ready === servers.length && console) return card('connected', 'live', 'ok')
  if (console && ready > 0) return card('partial', `${ready} of ${servers.length} servers answer`, 'bad')
  if (has('connecting') > 0 || (has('connected') > 0 && ready > 0)) return card('connecting', 'connecting', 'watch')
  const bad =
    servers.find((s) => s.refusal) ?? servers.find((s) => s.state.kind === 'refused' || s.state.kind === 'lost')
  const why = bad ? serverCard(bad, { atMs: 0 }).text : 'no server answers'
  return card(has('connected') > 0 && !bad ? 'connecting' : 'failed', why, 'bad')
}

function liveCard(clusters: ClusterService, live: LiveConsole): ClusterCard {
  const { cluster, console } = live
  const { input, servers } = cluster
  const nowMs = Date.now()
  const monitor = console?.monitor
  const periods = new Map(monitor?.serverPeriods.map((p) => [p.host, p]))
  const cardOf = (s: LiveServer): ServerCard =>
    serverCard(s, { atMs: nowMs, silent: monitor?.missing.get(s.host)?.reason, period: periods.get(s.host) })
  return {
    name: input.name,
    env: input.env,
    kind: 'LIVE',
    ...stateOf(live),
    sinceMs: cluster.connectedMs ?? null,
    onScreen: console !== undefined && clusters.onScreen.console === console,
    mode: console?.monitor.loop.mode ?? 'observe',
    safeMode: input.safeMode,
    unlockedUntilMs: console?.facts.unlockedUntilMs() ?? null,
    intervalMs: input.intervalMs,
    ...longerPeriod(console?.monitor),
    servers: servers.map(cardOf),
    probes: probeCards(console?.monitor, input.off),
    cost: console?.monitor.costSeries ?? NO_COST,
    rate: rateOf(live),
    budgetBytesPerSec: console?.monitor.budgetBytesPerSec ?? BUDGET_BYTES_PER_SEC,
    notices: notices(live),
    leftovers: [...live.leftovers.list],
    input,
  }
}

function rateOf({ cluster, console }: LiveConsole): ClusterCard['rate'] {
  const { maxRate } = cluster.input
  const { monitor } = console ?? {}
  const targets = monitor?.targets.map((t) => t.target) ?? []
  return {
    perOst: maxRate ?? GUESSED_RATE,
    isGuess: maxRate === null,
    busiest: monitor ? busiestOst(monitor.recent.seconds, targets) : null,
  }
}

/** Notices about obstacles of a cluster: refusals of servers, leftovers, and notices of the monitor. */
function notices({ cluster, console, leftovers }: LiveConsole): Notice[] {
  const refused = cluster.servers.flatMap((s) => (s.refusal ? [toNotice(s.refusal)] : []))
  const found = cluster.servers.flatMap((s) =>
    s.steps
      .filter((step) => step.fix !== '' && (step.state === 'bad' || step.state === 'watch'))
      .map((step) => ({ code: 'CHECK', what: `${s.host}: ${step.detail}`, next: step.fix })),
  )
  const failures = (console?.monitor.failures ?? []).map(toNotice)
  const fault = leftovers.fault === '' ? [] : [{ code: 'LEFTOVERS', what: leftovers.fault }]
  return [...refused, ...failures, ...fault, ...found].slice(0, 50)
}

/** Servers of the emulator: in this process, without a network. */
function emulatedServers({ monitor }: Console): ServerCard[] {
  return monitor.source.nodes.map((node) => {
    const targets = monitor.targets.filter((t) => t.node === node.host).map((t) => t.target)
    const silent = monitor.missing.get(node.host)
    const reading = monitor.reading(node.host)
    return {
      host: node.host,
      address: '',
      via: '',
      roles: [...node.roles] satisfies ServerRole[],
      targets,
      state: silent ? ('lost' as const) : ('connected' as const),
      text: silent?.reason ?? 'emulated',
      level: silent ? ('bad' as const) : ('ok' as const),
      sinceMs: null,
      retryAtMs: null,
      roundTripMs: null,
      cpts: null,
      key: null,
      clockSkewMs: null,
      strictKex: null,
      version: reading?.version?.text ?? '',
      policy: '',
      login: '',
      algorithms: '',
      channel: '',
      timers: 'systemd' as const,
      steps: [],
      sudo: { kind: 'root' as const, text: 'not needed (emulated)', level: 'ok' as const },
    }
  })
}

function emulatorCard(clusters: ClusterService): ClusterCard {
  const { emulator } = clusters
  const { monitor, facts } = emulator
  return {
    name: monitor.source.cluster,
    env: 'DEMO',
    kind: 'EMULATED',
    state: 'connected',
    text: `${facts.scenario ?? ''}, seed ${facts.seed ?? 0}`,
    scenario: facts.scenario,
    level: 'ok',
    sinceMs: facts.sinceMs,
    onScreen: clusters.onScreen.console === emulator,
    mode: monitor.loop.mode,
    safeMode: 'review',
    unlockedUntilMs: null,
    intervalMs: monitor.source.periodNs / 1e6,
    servers: emulatedServers(emulator),
    probes: probeCards(monitor, []),
    cost: monitor.costSeries,
    budgetBytesPerSec: monitor.budgetBytesPerSec,
    notices: [],
    leftovers: [],
    input: null,
  }
}

/**
 * Costs of each probe, as shown on the cards.
 *
 * @param off  probes that are switched off, for a cluster that is not sampled.
 */
function probeCards(monitor: ClusterMonitor | undefined, off: readonly ProbeId[]): ClusterCard['probes'] {
  if (monitor) return monitor.probes.map((p) => ({ ...p }))
  return PROBES.map(({ id, label, everyS }) => ({
    id,
    label,
    on: !off.includes(id),
    everyS: everyS.LIVE,
    note: '',
    bytesPerSec: 0,
    serverMsPerSec: 0,
    serverCpuMsPerSec: null,
  }))
}
