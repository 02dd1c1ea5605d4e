/**
 * A simulated data node with its clients: every I/O and every token exact, faster than real time.
 *
 * Usage:
 *
 *     const made = NodeSimulation.create({ ...NODE_DEFAULTS, seed, clients: [{ name, reservation, workload }] })
 *     if (!made.ok) ...                     // the error in the setup, or the refused client and the excess
 *     const node = made.value
 *     node.runUntil(ns)                     // any number of times; only this advances time
 *     node.join(...) / leave(i) / crash(i) / reserve(i, ...) / setWorkload(i, ...) / setCapacity(iops)   // at node.now
 *     node.periods.items                    // one record a period: completions of every client, exact, and the monitor's view
 *     node.events.since(n)                  // T1, start-report, conversion, estimate, alerts, joins and leaves
 *     node.samples.read(2000, 50)           // xi, g, X, phase, queue, inflight, N; POOL, L, target, omega, U: 20 Hz of the last 2 s
 *     node.client(i), node.counters()       // totals of one client; verbs, CPU events per data I/O (must be 0)
 *
 * Same setup, seed and calls at the same times give the same numbers. An emulator advances it by calling `runUntil` with its own time; a
 * client index never changes and is never reused. Source: spec/haechi 1, 11, 14.
 */
import { randomStream, type RandomStream } from '../../base/random.ts'
import { fail, invariant, ok, type Failure, type Result } from '../../base/result.ts'
import { NS_PER_S } from '../../base/units.ts'
import { EventQueue } from '../../sim/event-queue.ts'
import { BareEngine } from '../bare-engine.ts'
import type { MonitorEvent, MonitorPeriod } from '../monitor-events.ts'
import { QosEngine } from '../qos-engine.ts'
import type { QosMonitor } from '../qos-monitor.ts'
import { RecordAccess, RecordStore } from '../workloads/records.ts'
import { RequestSource, type Workload } from '../workloads/request-source.ts'
import { ClientPath, type PathHost } from './client-path.ts'
import { Completions } from './completions.ts'
import { ControlPlane, type ControlledClient } from './control-plane.ts'
import { EventLog } from './event-log.ts'
import { FifoStation } from './fabric.ts'
import { LatencyHistogram, type LatencySummary } from './latency-histogram.ts'
import { NextClient } from './next-client.ts'
import type { ClientView, NodeCounters, PeriodRecord, PeriodTokens } from './node-views.ts'
import { checkClient, checkSetup, checkWorkload, type ClientSetup, type NodeSetup } from './setup.ts'
import { TokenSamples, type ClientSample } from './token-samples.ts'

const NO_TOKENS: PeriodTokens = {
  reservation: 0,
  limit: null,
  usedReserved: 0,
  usedPool: 0,
  yielded: 0,
  isStarved: false,
}

/** Client of a simulated node: setup, data path and, unless it is outside traffic, engine. */
class SimulatedClient implements ControlledClient {
  readonly setup: ClientSetup
  readonly path: ClientPath
  readonly index: number
  state: 'active' | 'left' | 'crashed' = 'active'
  completedBefore = 0
  /** Totals of its engine at the end of the last period. */
  #tokensBefore = { usedReserved: 0, usedPool: 0, yielded: 0 }
  readonly #qos: QosEngine | null

  constructor(setup: ClientSetup, path: ClientPath, qos: QosEngine | null) {
    this.setup = setup
    this.path = path
    this.index = path.index
    this.#qos = qos
  }

  get qos(): QosEngine | null {
    return this.#qos
  }

  get engine(): QosEngine {
    invariant(this.#qos !== null, 'a client that the monitor knows has an engine')
    return this.#qos
  }

  get isAlive(): boolean {
    return this.path.isAlive
  }

  sync(now: number): void {
    if (this.isAlive) this.path.sync(now)
  }

  settled(): void {
    this.path.settled()
  }

  /** Returns the tokens of the period that ends, and begins the next. */
  endPeriod(now: number, isPoolEmpty: boolean): PeriodTokens {
    const { qos } = this
    if (qos === null) return NO_TOKENS
    this.sync(now)
    const { usedReservation: usedReserved, usedGlobal: usedPool, yielded } = qos.totals
    const before = this.#tokensBefore
    this.#tokensBefore = { usedReserved, usedPool, yielded }
    const isDry = qos.queued > 0 && qos.reservationTokens === 0 && qos.globalTokens === 0
    return {
      reservation: qos.reservation,
      limit: qos.limit,
      usedReserved: usedReserved - before.usedReserved,
      usedPool: usedPool - before.usedPool,
      yielded: yielded - before.yielded,
      isStarved: this.state === 'active' && isDry && isPoolEmpty && !qos.isThrottled,
    }
  }

  /** Fills one sample row. */
  sample(now: number, row: ClientSample): ClientSample {
    const { qos, path } = this
    const isActive = this.state === 'active'
    this.sync(now)
    row.xi = isActive ? (qos?.reservationTokens ?? 0) : 0
    row.g = isActive ? (qos?.globalTokens ?? 0) : 0
    row.bound = isActive ? (qos?.bound ?? 0) : 0
    row.phase = !isActive || qos === null ? 0 : qos.phase === 'reservation' ? 1 : 2
    row.queued = path.engine.queued
    row.inflight = path.outstanding
    row.completed = qos?.completed ?? path.completedTotal - this.completedBefore
    row.yielded = qos?.yielded ?? 0
    return row
  }
}

/** Events kept. */
const EVENTS_MOST = 4096

export class NodeSimulation {
  readonly setup: NodeSetup
  readonly periods: EventLog<PeriodRecord>
  readonly events = new EventLog<MonitorEvent>(EVENTS_MOST)
  readonly samples: TokenSamples
  readonly store: RecordStore | null
  readonly #clients: SimulatedClient[] = []
  readonly #queue = new EventQueue()
  readonly #next = new NextClient()
  readonly #station: FifoStation
  readonly #control: ControlPlane | null
  readonly #pathHost: PathHost
  readonly #noise: RandomStream
  #capacity: number
  /** [0]: the current time. */
  readonly #time = new Float64Array(1)
  readonly #completions = new Completions()
  /** [0]: time of the next control plane event or sample; Infinity if none. */
  readonly #eventAt = new Float64Array(1).fill(Infinity)
  #periodIndex = 0

  private constructor(setup: NodeSetup) {
    this.setup = setup
    this.periods = new EventLog(setup.keptPeriods)
    this.samples = new TokenSamples(setup.samples.rows, setup.slots)
    this.#capacity = setup.profile.globalIops
    this.#station = new FifoStation(this.#capacity)
    this.#noise = randomStream(setup.seed, 'haechi/capacity')
    const mixes = setup.clients.flatMap((c) => (c.records ? [c.records.records] : []))
    this.store = mixes.length > 0 ? new RecordStore(Math.max(...mixes)) : null
    const { settings, profile, fabric, seed, slots } = setup
    const observer = {
      event: (event: MonitorEvent) => this.events.push(event),
      period: (period: MonitorPeriod) => this.#endPeriod(period),
    }
    const host = { settings, profile, fabric, seed, slots, observer }
    // A separate object: `at` is not part of the public interface of the simulation.
    const scheduler = ((node: NodeSimulation) => ({
      get now() {
        return node.now
      },
      at: (at: number, action: () => void) => node.#at(at, action),
    }))(this)
    this.#control = setup.mode === 'haechi' ? new ControlPlane({ ...host, scheduler }) : null
    this.#pathHost = {
      time: this.#time,
      station: this.#station,
      completions: this.#completions,
      next: this.#next,
      delayNs: fabric.delayNs,
      faaShare: fabric.faaShare,
      localIops: profile.localIops,
      window: settings.window,
      faa: (path, take, execNs) => this.#control?.faa(this.#client(path.index), take, execNs),
      report: (path, report) => this.#control?.report(this.#client(path.index), report),
    }
  }

  /** Creates a node at time 0 with its clients admitted; fails with the error in the setup or the first refusal. */
  static create(setup: NodeSetup): Result<NodeSimulation> {
    const checked = checkSetup(setup)
    if (!checked.ok) return checked
    const node = new NodeSimulation(setup)
    for (const client of setup.clients) {
      const joined = node.join(client)
      if (!joined.ok) return joined
    }
    node.#start()
    return ok(node)
  }

  /** Virtual time, integer ns. */
  get now(): number {
    return this.#time[0] as number
  }

  /** Null without QoS. */
  get monitor(): QosMonitor | null {
    return this.#control?.monitor ?? null
  }

  /** POOL in the node's memory; 0 without QoS. */
  get pool(): number {
    return this.#control?.memory.pool().tokens ?? 0
  }

  get clientCount(): number {
    return this.#clients.length
  }

  /** Capacity in force, I/O/s. */
  get capacityIops(): number {
    return this.#station.times.rate
  }

  /** Executes everything up to and including `until` (ns), then stops at that time. */
  runUntil(until: number): void {
    const queue = this.#queue
    const next = this.#next
    const completions = this.#completions
    const clients = this.#clients
    const time = this.#time
    const doneAt = completions.nextAt
    const eventAt = this.#eventAt
    const clientAt = next.least
    for (;;) {
      const done = doneAt[0] as number
      const event = eventAt[0] as number
      const client = clientAt[0] as number
      if (done <= event && done <= client) {
        if (done > until) break
        time[0] = done
        ;(clients[completions.take()] as SimulatedClient).path.complete()
      } else if (event <= client) {
        if (event > until) break
        time[0] = event
        const action = queue.pop()
        eventAt[0] = queue.nextAt
        action()
      } else {
        if (client > until) break
        time[0] = client
        ;(clients[next.first] as SimulatedClient).path.act()
      }
    }
    if (until < Infinity) time[0] = Math.max(this.now, Math.floor(until))
  }

  /** Admits a client now and returns its index, or the capacity exceeded and by how much. */
  join(setup: ClientSetup): Result<number> {
    const refusal = checkClient(setup)
    if (refusal) return fail(refusal)
    const index = this.#clients.length
    if (index >= this.setup.slots) {
      return fail({
        code: 'E_SLOTS',
        what: 'The data node has no report slot left',
        next: `It has ${this.setup.slots}.`,
      })
    }
    const { settings, seed, profile } = this.setup
    const localTokens = (profile.localIops * settings.periodNs) / NS_PER_S
    const path = new ClientPath(index, this.#source(setup.workload, index), this.#pathHost)
    const qos =
      this.#control === null || setup.isOutside === true ? null : new QosEngine(settings, path, undefined, localTokens)
    path.engine = qos ?? new BareEngine(settings.window, (n) => path.postIo(n))
    if (setup.records && this.store) {
      path.records = new RecordAccess(this.store, setup.records, randomStream(seed, `haechi/records/${index}`))
    }
    const client = new SimulatedClient(setup, path, qos)
    this.#clients.push(client)
    if (qos && this.#control) {
      const joined = this.#control.join(client, setup.reservation, setup.limit ?? null)
      if (!joined.ok) {
        this.#clients.pop()
        return joined
      }
    }
    this.#next.add()
    client.sync(this.now)
    client.settled()
    return ok(index)
  }

  /** A client leaves in order (A19). */
  leave(index: number): Result<void> {
    const client = this.#active(index)
    if (!client.ok) return client
    client.value.sync(this.now)
    client.value.path.source = this.#source({ kind: 'idle' }, index)
    client.value.state = 'left'
    if (client.value.qos && this.#control) this.#control.leave(client.value)
    else client.value.path.engine.dropQueue()
    client.value.settled()
    return ok(undefined)
  }

  /** A client crashes without notice (A20). */
  crash(index: number): Result<void> {
    const client = this.#active(index)
    if (!client.ok) return client
    client.value.path.crash()
    client.value.state = 'crashed'
    return ok(undefined)
  }

  /** Changes a reservation and limit from the next period on (A21). */
  reserve(index: number, reservation: number, limit: number | null = null): Result<void> {
    const client = this.#active(index)
    if (!client.ok) return client
    return this.#control?.monitor.reserve(index, reservation, limit) ?? fail(unknown(index))
  }

  /** The node removes a client that crashed. */
  evict(index: number): Result<void> {
    return this.#control?.monitor.leave(this.now, index) ?? fail(unknown(index))
  }

  /** Gives a client another workload, immediately or from its next period on. */
  setWorkload(index: number, workload: Workload): Result<void> {
    const client = this.#active(index)
    if (!client.ok) return client
    const refusal = checkWorkload(workload)
    if (refusal) return fail(refusal)
    client.value.sync(this.now)
    client.value.path.source = this.#source(workload, index)
    client.value.settled()
    return ok(undefined)
  }

  /** Sets the capacity from now on, I/O/s; operations already at the NIC keep their service time. */
  setCapacity(iops: number): Result<void> {
    if (!(Number.isInteger(iops) && iops >= 1)) return fail({ code: 'E_CAPACITY', what: `A capacity of ${iops} I/O/s` })
    this.#capacity = iops
    this.#station.times.setRate(iops)
    return ok(undefined)
  }

  /** Posts one data I/O of a client bypassing its queue: refused with EQOS_NOTOKEN without a token. */
  postDirect(index: number): Result<void> {
    const client = this.#active(index)
    if (!client.ok) return client
    if (client.value.qos === null) return fail(unknown(index))
    client.value.sync(this.now)
    const posted = client.value.qos.postDirect()
    client.value.settled()
    return posted
  }

  client(index: number): ClientView | undefined {
    const client = this.#clients[index]
    if (client === undefined) return undefined
    const { setup, path, qos, state } = client
    client.sync(this.now)
    return {
      name: setup.name,
      state,
      promised: this.monitor?.promised(index) ?? 0,
      limit: qos?.limit ?? null,
      isOutside: qos === null,
      completed: path.completedTotal,
      latency: path.latency.summary(),
      tokens: qos?.totals ?? null,
      reads: path.records?.reads ?? 0,
      updates: path.records?.updates ?? 0,
    }
  }

  /** The engine of a client, for inspection; null without QoS. */
  engine(index: number): QosEngine | null {
    return this.#clients[index]?.qos ?? null
  }

  /** Data I/Os posted by a client and not yet completed. */
  outstanding(index: number): number {
    return this.#clients[index]?.path.outstanding ?? 0
  }

  /** Latency of all clients with QoS, or of all clients if there is no QoS. */
  latency(): LatencySummary {
    return this.#latencies().summary()
  }

  /** Quantile of the same latencies, us. */
  latencyAt(quantile: number): number {
    return this.#latencies().at(quantile)
  }

  #latencies(): LatencyHistogram {
    const all = new LatencyHistogram()
    for (const c of this.#clients) if (this.#counts(c)) c.path.latency.addTo(all)
    return all
  }

  /** Clears the latencies so far, at the end of a warm-up. */
  clearLatency(): void {
    for (const { path } of this.#clients) path.latency.clear()
  }

  counters(): NodeCounters {
    let dataIos = 0
    for (const { path } of this.#clients) dataIos += path.issuedTotal
    return {
      dataIos,
      cpuEventsForData: (this.#control?.cpuEvents.data ?? 0) + (this.setup.mode === 'two-sided' ? dataIos : 0),
      cpuEventsForControl: this.#control?.cpuEvents.control ?? 0,
      globalGranted: this.#control?.granted ?? 0,
      verbs: this.#control?.memory.memory.counters ?? { read: 0, write: 0, faa: 0, cas: 0, refused: 0 },
    }
  }

  #at(at: number, action: () => void): void {
    this.#queue.push(at, action)
    this.#eventAt[0] = this.#queue.nextAt
  }

  #start(): void {
    const { periodNs } = this.setup.settings
    for (const { atNs, iops } of this.setup.capacity) this.#at(atNs, () => void this.setCapacity(iops))
    this.#drawCapacity()
    this.#control?.start()
    if (this.#control === null) {
      const end = (): void => {
        this.#endPeriod(null)
        this.#at(this.now + periodNs, end)
      }
      this.#at(periodNs, end)
    }
    const { everyNs, rows } = this.setup.samples
    if (rows === 0) return
    const sample = (): void => {
      this.#sample()
      this.#at(this.now + everyNs, sample)
    }
    this.#at(everyNs, sample)
  }

  #drawCapacity(): void {
    if (this.setup.noise === 0) return
    const factor = 1 + this.setup.noise * (2 * this.#noise.uniform() - 1)
    this.#station.times.setRate(this.#capacity * factor)
  }

  /** The monitor reports its periods; a node without one uses the same period. */
  #endPeriod(monitor: MonitorPeriod | null): void {
    const { periodNs } = this.setup.settings
    let total = 0
    const isPoolEmpty = monitor !== null && monitor.finalPool <= 0
    const tokens = this.#clients.map((client) => client.endPeriod(this.now, isPoolEmpty))
    const completed = this.#clients.map((client) => {
      const n = client.path.completedTotal - client.completedBefore
      client.completedBefore = client.path.completedTotal
      if (this.#counts(client)) total += n
      return n
    })
    this.periods.push({
      index: this.#periodIndex++,
      startNs: this.now - periodNs,
      endNs: this.now,
      capacityIops: this.capacityIops,
      completed,
      tokens,
      total,
      monitor,
    })
    this.#drawCapacity()
  }

  #sample(): void {
    const m = this.monitor
    const w = m?.history ?? []
    const node = {
      t: this.now,
      epoch: m?.epoch ?? 0,
      pool: this.pool,
      residual: m?.residual ?? 0,
      target: m?.target ?? 0,
      omega: m?.omega ?? 0,
      used: m?.used ?? 0,
      reserved: m?.reserved ?? 0,
      claimed: m?.claimed ?? 0,
      history: w.length === 0 ? 0 : w.reduce((a, b) => a + b, 0) / w.length,
      isReporting: m?.isReporting ? 1 : 0,
    }
    const row = { xi: 0, g: 0, bound: 0, phase: 0, queued: 0, inflight: 0, completed: 0, yielded: 0 }
    this.samples.write(node, this.#clients.length, (i) => this.#client(i).sample(this.now, row))
  }

  /** True if a client counts towards the node's throughput: those of Haechi, or on a bare node all but outside traffic. */
  #counts(client: SimulatedClient): boolean {
    return client.setup.isOutside !== true
  }

  #client(index: number): SimulatedClient {
    const client = this.#clients[index]
    invariant(client !== undefined, 'a path belongs to a client')
    return client
  }

  #active(index: number): Result<SimulatedClient> {
    const client = this.#clients[index]
    return client === undefined || client.state !== 'active' ? fail(unknown(index)) : ok(client)
  }

  #source(workload: Workload, index: number): RequestSource {
    const { settings, fabric, seed, slots } = this.setup
    // Requests of a period begin when its T1 has reached every client, or they would take tokens of the previous period.
    const phaseNs = Math.min(settings.periodNs, fabric.sendNs + slots * fabric.sendEachNs)
    const random = randomStream(seed, `haechi/requests/${index}`)
    return new RequestSource(workload, random, { nowNs: this.now, periodNs: settings.periodNs, phaseNs })
  }
}

const unknown = (index: number): Failure => ({
  code: 'E_CLIENT',
  what: `There is no active client ${index} of this kind`,
})
