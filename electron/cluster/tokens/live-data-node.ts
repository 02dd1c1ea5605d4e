/** Running data node as its status documents describe it: runs, periods, samples and events, bounded in memory. */
import type {
  DataNode,
  DataNodeClient,
  DataNodeMark,
  DataNodeRun,
  DataNodeState,
  SampleRows,
} from '#core/haechi/data-node.ts'
import type { MonitorEvent } from '#core/haechi/monitor-events.ts'
import { DEFAULT_SETTINGS, type HaechiSettings } from '#core/haechi/settings.ts'
import { EventLog } from '#core/haechi/sim/event-log.ts'
import type { PeriodRecord } from '#core/haechi/sim/node-views.ts'
import type { ClientColumn, NodeSample } from '#core/haechi/sim/token-samples.ts'
import { NS_PER_S } from '#core/base/units.ts'
import {
  SAMPLE_CLIENT_COLUMNS,
  SAMPLE_COLUMNS,
  type HaechiStatus,
  type StatusEvent,
  type StatusPeriod,
  type StatusSample,
} from '#core/haechi/status.ts'

const RUNS_MAX = 3
const PERIODS_MAX = 1000
const EVENTS_MAX = 1000
const MARKS_MAX = 500
/** Numbers of all samples that are kept: five minutes of ten clients several times over. */
const NUMBERS_MAX = 2_000_000
/** Samples that may be missing before a value counts as unknown. */
const MISSING_MAX = 40

type SampleColumn = (typeof SAMPLE_CLIENT_COLUMNS)[number]

/** Samples by their number; a check that was late leaves a gap, in which the last one before it holds. */
class StatusSamples implements SampleRows {
  readonly #everyNs: number
  readonly #rows = new Map<
    number,
    { readonly n: readonly number[]; readonly clients: ReadonlyMap<number, readonly number[]> }
  >()
  #first = 0
  #end = 0
  #numbers = 0

  constructor(everyNs: number) {
    this.#everyNs = everyNs
  }

  get kept(): { readonly first: number; readonly end: number } {
    return { first: this.#first, end: this.#end }
  }

  add({ n, c }: StatusSample): void {
    const row = Math.round((n[0] ?? 0) / this.#everyNs) - 1
    if (row < this.#end) return
    if (this.#rows.size === 0) this.#first = row
    this.#rows.set(row, { n, clients: new Map(c.map((values) => [values[0] ?? -1, values])) })
    this.#end = row + 1
    this.#numbers += SAMPLE_COLUMNS.length * (c.length + 1)
    for (const [oldest, { clients }] of this.#rows) {
      if (this.#numbers <= NUMBERS_MAX) break
      this.#rows.delete(oldest)
      this.#numbers -= SAMPLE_COLUMNS.length * (clients.size + 1)
      this.#first = oldest + 1
    }
  }

  nodeValue(row: number, field: keyof NodeSample): number {
    return this.#at(row)?.n[SAMPLE_COLUMNS.indexOf(field)] ?? 0
  }

  clientValue(row: number, client: number, column: ClientColumn): number {
    return this.value(row, client, column)
  }

  value(row: number, client: number, column: SampleColumn): number {
    return this.#at(row)?.clients.get(client)?.[SAMPLE_CLIENT_COLUMNS.indexOf(column) + 1] ?? 0
  }

  #at(row: number) {
    for (let i = row; i > row - MISSING_MAX; i--) {
      const found = this.#rows.get(i)
      if (found) return found
    }
    return undefined
  }
}

const NO_LATENCY = { count: 0, mean: 0, p50: 0, p99: 0, p999: 0, max: 0 }
const NO_TOKENS = { reservation: 0, limit: null, usedReserved: 0, usedPool: 0, yielded: 0, isStarved: false }

class LiveRun implements DataNodeRun, DataNodeState {
  readonly id: string
  readonly fromNs: number
  readonly variant = 'haechi'
  readonly preset: DataNodeRun['preset']
  readonly setup: DataNodeState['setup']
  readonly samples: StatusSamples
  readonly periods = new EventLog<PeriodRecord>(PERIODS_MAX)
  readonly events = new EventLog<MonitorEvent>(EVENTS_MAX)
  readonly clients: (DataNodeClient | undefined)[] = []
  readonly marks: DataNodeMark[] = []
  readonly #silent = new Set<number>()
  status: HaechiStatus
  #seq = 0
  #epoch = 0

  constructor(status: HaechiStatus, fromNs: number) {
    this.id = status.run
    this.fromNs = fromNs
    this.status = status
    this.preset = status.settings.name === 'paper-literal' ? 'paper-literal' : 'default'
    const { omegaMin, ...own } = status.settings
    const settings: HaechiSettings = {
      ...DEFAULT_SETTINGS,
      ...own,
      estimator: { ...DEFAULT_SETTINGS.estimator, sigma: status.profile.sigma, omegaMin },
    }
    const { globalIops, localIops } = status.profile
    this.setup = { settings, profile: { globalIops, localIops }, samples: { everyNs: status.sampleNs } }
    this.samples = new StatusSamples(status.sampleNs)
  }

  get node(): DataNodeState {
    return this
  }

  /** Newest instant that was read, ns. */
  get untilNs(): number {
    return this.status.atNs
  }

  /** Newest period that was read. */
  get epoch(): number {
    return this.#epoch
  }

  get clientCount(): number {
    return this.clients.length
  }

  get monitor(): DataNodeState['monitor'] {
    return { epoch: this.status.epoch, isSilent: (client) => this.#silent.has(client) }
  }

  client(client: number): ReturnType<DataNodeState['client']> {
    const found = this.status.clients.find((c) => c.client === client)
    if (!found) return undefined
    const state = found.state === 'killed' ? 'crashed' : found.state
    const promised = state === 'active' ? found.reservation : 0
    return { state, promised, limit: found.limit, isOutside: false, latency: NO_LATENCY }
  }

  engine(client: number): ReturnType<DataNodeState['engine']> {
    const found = this.status.clients.find((c) => c.client === client)
    const last = this.status.periods.at(-1)?.clients.find((c) => c.client === client)
    const row = this.samples.kept.end - 1
    return {
      // A change holds from the next period on.
      reservation: last?.reservation ?? found?.reservation ?? 0,
      limit: found?.limit ?? null,
      isThrottled: this.samples.value(row, client, 'isThrottled') === 1,
    }
  }

  counters(): ReturnType<DataNodeState['counters']> {
    const { wakes, dataIos } = this.status
    return { cpuEventsForControl: wakes.timer + wakes.send, cpuEventsForData: wakes.data, dataIos }
  }

  take(status: HaechiStatus): void {
    this.status = status
    for (const c of status.clients) {
      const workload = { kind: c.isBacklogged ? 'backlogged' : (c.workload.split(':')[0] ?? '') }
      this.clients[c.client] = { name: c.name, job: c.job, reservation: c.reservation, workload }
    }
    for (const sample of status.samples) this.samples.add(sample)
    for (const event of status.events) if (event.seq > this.#seq) this.#event(event)
    for (const period of status.periods) {
      if (period.epoch <= this.#epoch) continue
      this.#epoch = period.epoch
      for (const c of period.clients) if (c.completed > 0) this.#silent.delete(c.client)
      this.periods.push(recordOf(period, this.clients.length, this.setup.settings.periodNs))
    }
  }

  #event({ seq, at, kind, client, epoch, a, b, word, text }: StatusEvent): void {
    this.#seq = seq
    switch (kind) {
      case 'period':
        return this.events.push({ kind, at, epoch, pool: a })
      case 'start-report':
        return this.events.push({ kind, at, epoch })
      case 'estimate': {
        const action = (['increase', 'average', 'keep', 'off'] as const).find((known) => known === word) ?? 'keep'
        return this.events.push({ kind, at, action, used: a, omega: b })
      }
      case 'alert': {
        const alert = ALERTS.find((known) => known === word)
        if (!alert) return
        const index = this.clients.findLastIndex((c) => c?.name === client)
        if (alert === 'silent-client' && index >= 0) this.#silent.add(index)
        return this.events.push({ kind, at, alert, client: index, what: text })
      }
      case 'client':
      case 'refused':
        this.marks.push({ atNs: at, kind, client, text })
        if (this.marks.length > MARKS_MAX) this.marks.shift()
    }
  }
}

const ALERTS = [
  ...(['local-capacity-risk', 'overcommitted', 'bad-report', 'over-reservation', 'silent-client'] as const),
] as const

function recordOf(p: StatusPeriod, clientCount: number, periodNs: number): PeriodRecord {
  const of = new Map(p.clients.map((c) => [c.client, c]))
  const each = <T>(value: (c: StatusPeriod['clients'][number] | undefined) => T): T[] =>
    Array.from({ length: clientCount }, (_, client) => value(of.get(client)))
  return {
    index: p.epoch - 1,
    startNs: p.startNs,
    endNs: p.endNs,
    capacityIops: (p.omega * NS_PER_S) / periodNs,
    completed: each((c) => c?.completed ?? 0),
    tokens: each((c) => c ?? NO_TOKENS),
    total: p.clients.reduce((sum, c) => sum + c.completed, 0),
    monitor: { ...p, poolChecks: p.poolChecks.map((v) => v ?? NaN) },
  }
}

export class LiveDataNode implements DataNode {
  readonly name: string
  readonly #runs: LiveRun[] = []

  constructor(name: string) {
    this.name = name
  }

  get runs(): readonly DataNodeRun[] {
    return this.#runs
  }

  run(atNs: number): DataNodeRun | undefined {
    return this.#runs.findLast((r) => r.fromNs <= atNs)
  }

  /** Newest period of the current run; 0 before the first. */
  get epoch(): number {
    return this.#runs.at(-1)?.epoch ?? 0
  }

  get status(): HaechiStatus | undefined {
    return this.#runs.at(-1)?.status
  }

  /** @param nowNs  time of the reading on the source's clock. */
  take(status: HaechiStatus, nowNs: number): void {
    let run = this.#runs.at(-1)
    if (run?.id !== status.run) {
      run = new LiveRun(status, nowNs - status.atNs)
      this.#runs.push(run)
      if (this.#runs.length > RUNS_MAX) this.#runs.shift()
    }
    run.take(status)
  }
}
