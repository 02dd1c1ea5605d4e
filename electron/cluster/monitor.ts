/**
 * One connected cluster: samples it period by period, runs the control loop on the measurements, keeps the recent
 * history for the views and writes everything to the history.
 */
import type { ControllerName } from '#core/controllers/registry.ts'
import type { Failure, Result } from '#core/base/result.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { ProbeId } from '#core/api/clusters.ts'
import type { DataNode } from '#core/haechi/data-node.ts'
import type { ServerPeriodFrame } from '#core/api/periods.ts'
import type { ServiceName } from '#core/api/rule-edits.ts'
import { DEFAULT_LOOP_OPTIONS, type LoopOptions, type SourceKnowledge } from '#core/adaptbf/loop-options.ts'
import type { Mode } from '#core/control/controller.ts'
import type { Audit } from '../base/audit.ts'
import { stopsInMemory, type StopRecords } from '../enforce/store-stops.ts'
import type { History } from '../history/history.ts'
import { BatchQueue, type Unmapped } from './batch/batch-queue.ts'
import { Choices } from './choices.ts'
import { ClusterReader, type Round, type Silence, type TargetNow } from './read/cluster-reader.ts'
import { serviceReading, type NodeReading, type ServiceReading } from './read/collector.ts'
import type { ClusterSource, NodeConnection } from '../base/connection.ts'
import { CostMeter, type Cost } from './read/cost-meter.ts'
import { endsWithin } from '../base/deadline.ts'
import { ControlLoop, idlePeriod, type ServerPeriod } from './control/control-loop.ts'
import { summedPeriods } from './control/period-sum.ts'
import { UNMET_MS, type Expected } from './coverage.ts'
import { EventLog } from './state/event-log.ts'
import { JobEviction } from './job-eviction.ts'
import { ServerPeriods } from './control/server-periods.ts'
import { IdleRules } from './control/idle-rules.ts'
import { JobIdWatch } from './state/job-id-watch.ts'
import { JobRegistry, type Job } from './state/job-registry.ts'
import { LedgerStateStore } from './control/ledger-state-store.ts'
import { LedgerWriter } from './control/ledger-writer.ts'
import { LdlmReader } from './locks/ldlm-reader.ts'
import { guessedRate } from './ost-rate.ts'
import { unthrottledJobs } from './control/unthrottled-jobs.ts'
import type { CcpfsReader } from './locks/ccpfs-reader.ts'
import { LockWatch } from './locks/watch.ts'
import { PadllReader } from './metadata/padll-reader.ts'
import type { HaechiReader } from './tokens/haechi-reader.ts'
import { metadataCollectors } from './plane-collectors.ts'
import type { PlaneCollector } from './state/plane-collector.ts'
import { MetadataLoop } from './metadata/loop.ts'
import { DEFAULT_METADATA_SETTINGS, MetadataSettingsStore } from './metadata/settings.ts'
import type { MonitorOptions } from './monitor-options.ts'
import type { MetadataChange } from './metadata/state.ts'
import { PairJournal } from './state/pair-journal.ts'
import { readTimeoutsOf, type ReadTimeouts } from './read/timeouts.ts'
import type { CostSeries } from './probes/cost-store.ts'
import type { ProbeStatus } from './probes/probe.ts'
import { Probes } from './probes/probes.ts'
import { jobColumn, Recent, TOTAL } from './state/recent.ts'
import { historyFull, sampleFailed } from './read/sample-failures.ts'
import { SampleStore } from './sample-store.ts'
import { SamplingPeriod, type RunningPeriod } from './read/sampling-period.ts'
import { BrwReader, TimeoutsReader } from './read/server-counters.ts'
import { placeOf, SERVICES } from '../base/service.ts'
import { SlotWatch } from './slots.ts'
import { Watch } from './control/watch.ts'
import type { RestoredTarget } from './control/target-controllers.ts'

/** Registers jobs found in readings of servers, in stages before their first RPC, and in restored records. */
class JobRegistrar {
  readonly #jobs: JobRegistry
  readonly #batch: BatchQueue
  readonly #events: EventLog

  constructor(jobs: JobRegistry, batch: BatchQueue, events: EventLog) {
    this.#jobs = jobs
    this.#batch = batch
    this.#events = events
  }

  /**
   * Registers jobs that were active in a reading.
   *
   * @returns  true if the batch system should be queried again: a job that was unknown two seconds ago may be in its
   *           queue by now.
   */
  inReading(reading: NodeReading, atMs: number): boolean {
    let queryBatch = false
    for (const t of reading.targets) {
      for (const d of t.deltas ?? []) {
        const { job, isNew } = this.#jobs.meet(d.jobId, atMs)
        if (isNew) {
          this.#introduce(job, atMs)
          queryBatch ||= job.nodes === undefined
        }
        job.lastActiveMs = atMs
        job.targets.add(t.target)
        job.count(d, t.scale)
      }
    }
    return queryBatch
  }

  /** Registers new jobs of a period between two samples, before it is decided; their counts follow in the sample. */
  inPeriod(reading: NodeReading, atMs: number): boolean {
    let queryBatch = false
    for (const t of reading.targets) {
      for (const { jobId } of t.deltas ?? []) {
        const { job, isNew } = this.#jobs.meet(jobId, atMs)
        if (!isNew) continue
        this.#introduce(job, atMs)
        queryBatch ||= job.nodes === undefined
      }
    }
    return queryBatch
  }

  #introduce(job: Job, atMs: number): void {
    const { jobId } = job
    const host = this.#batch.hostOf(jobId)
    if (host !== undefined) job.hosts = [host]
    job.describe(this.#batch.find(jobId))
    const where = job.nodes === undefined ? '' : job.nodes === 1 ? '1 node' : `${job.nodes} nodes`
    this.#events.add({ atMs, kind: 'job', level: 'idle', subject: 'Job', text: `${jobId} started I/O`, where })
  }

  /** Registers jobs whose operations wait in stages, before their first RPC. */
  inStages(staged: readonly { readonly job: string; readonly asked: number }[], atMs: number): void {
    for (const { job: id, asked: requested } of staged) {
      const { job, isNew } = this.#jobs.meet(id, atMs)
      if (isNew) job.describe(this.#batch.find(id))
      if (requested > 0) job.lastActiveMs = atMs
    }
  }

  /** Registers jobs of restored records, even idle ones: the records sum to zero over all known jobs. */
  inRecords(restored: readonly RestoredTarget[], atMs: number): void {
    for (const { target, savedMs, jobs } of restored) {
      for (const id of jobs) {
        const { job, isNew } = this.#jobs.meet(id, atMs)
        if (isNew) job.describe(this.#batch.find(id))
        job.targets.add(target)
      }
      const span = Math.max(0, Math.round((atMs - savedMs) / 1000))
      const text = `${jobs.length} ${jobs.length === 1 ? 'record' : 'records'} restored, saved ${span} s ago`
      this.#events.add({ atMs, kind: 'controller', level: 'ok', subject: 'AdapTBF', text, where: target })
    }
  }
}

/**
 * Stores the measured cost of the newest cycle, ms of wall time, by node and in total: of the System Stats Controller,
 * the allocation and the Rule Management Daemon.
 *
 * Nodes are read concurrently, so their collection times overlap: the total is that of the longest, `readMs` less the
 * time of parsing the answers. Parsing, allocation and application happen one node after the other and add up. Source:
 * AdapTBF IV-G, which reports about 25 ms for the three together.
 *
 * @param readMs  from the first command sent to the last answer parsed.
 */
function keepCycle(
  recent: Recent,
  readings: readonly NodeReading[],
  periods: readonly ServerPeriod[],
  readMs: number,
): void {
  const all = { parse: 0, allocate: 0, apply: 0 }
  const hosts = new Map<string, { took: number; parse: number; allocate: number; apply: number }>()
  for (const [i, { host, tookMs, parseMs }] of readings.entries()) {
    const { allocateMs, applyMs } = periods[i]!
    // A server in two roles is read once.
    const of = hosts.get(host) ?? { took: tookMs, parse: 0, allocate: 0, apply: 0 }
    hosts.set(host, of)
    for (const sum of [of, all]) {
      sum.parse += parseMs
      sum.allocate += allocateMs
      sum.apply += applyMs
    }
  }
  for (const [host, { took, parse, allocate, apply }] of hosts) recent.cycles.set(host, took, parse, allocate, apply)
  if (readings.length === 0) return
  recent.cycles.set(TOTAL, Math.max(0, readMs - all.parse), all.parse, all.allocate, all.apply)
}

export class ClusterMonitor {
  readonly source: ClusterSource
  readonly recent: Recent
  readonly jobs = new JobRegistry(() => this.nowMs())
  readonly events = new EventLog()
  readonly idleRules = new IdleRules()
  /** Jobs that may be slowed because they share clients with one that waits at its limit. */
  readonly slots = new SlotWatch(this.events)
  readonly journal = new PairJournal()
  /** Owners of jobs by their ids, and whether controllers may enforce with them. */
  readonly jobIds: JobIdWatch
  readonly loop: ControlLoop
  /** Metadata control through the rules of metadata servers. */
  readonly metadata: MetadataLoop
  readonly history: History
  readonly audit: Audit
  /** Distinguishes the timers of this start from those of other consoles. */
  readonly session: string
  /** Stops of this cluster by any process. */
  readonly stops: StopRecords
  /** Global controller of PADLL's stages; undefined if the source has none. */
  readonly padll: PadllReader | undefined
  /** Readers of running data nodes; none for an emulated cluster. */
  readonly haechi: readonly HaechiReader[]
  /** Data nodes with tokens, emulated or running. */
  readonly dataNodes: readonly DataNode[]
  /** Counters of the lock manager of Lustre's servers. */
  readonly ldlm: LdlmReader
  /** Disk I/O of OSTs, and service time estimates. */
  readonly brw: BrwReader
  readonly timeouts: TimeoutsReader
  /** Lock manager that reports every step; undefined if the source has none. */
  readonly locks: LockWatch | undefined
  /** Reader of the servers of that lock manager, if they are not emulated. */
  readonly #ccpfs: CcpfsReader | undefined
  /** Readers of processes on nodes beside the Lustre servers. */
  readonly #readers: readonly (PadllReader | HaechiReader | CcpfsReader)[]
  readonly #reader: ClusterReader
  readonly #serverPeriods: ServerPeriods
  readonly #batch: BatchQueue
  readonly #probes: Probes
  readonly #choices: Choices
  readonly #registrar: JobRegistrar
  readonly #watch = new Watch(this.events)
  #targets: readonly TargetNow[] = []
  /** Failures that keep samples from being taken or stored. */
  readonly #failures = new Map<'sample' | 'history', Failure>()
  #sampledWallMs: number | undefined
  /** undefined: the source is sampled at its set period. */
  readonly #period: SamplingPeriod | undefined
  readonly #meter = new CostMeter()
  readonly #sampleStore: SampleStore
  readonly #planes: readonly PlaneCollector[]
  readonly #ledger: LedgerWriter
  readonly #forgetting: JobEviction
  #lastSecond = 0
  /** Time at which rates were last read. */
  #ratesNs = 0
  #answered = 0
  /** Longest wait of a sample for writes to servers, wall ms. */
  readonly #stepMs: () => number
  /** Error of a step that a sample did not wait for. */
  #lateFault: Error | undefined
  readonly #listeners = new Set<() => void>()

  constructor(options: MonitorOptions) {
    const { source } = options
    this.source = source
    this.session = options.session
    this.stops = options.stops ?? stopsInMemory()
    this.recent = new Recent(source.periodNs, options.recentMs)
    this.history = options.history
    this.audit = options.audit
    this.jobIds = new JobIdWatch(source, (node, command) => this.#probes.read('rules', node, command))
    const { jobIds } = this
    const ledgerStates = new LedgerStateStore(source, options.history)
    const start = {
      mode: options.mode,
      controller: options.controller,
      options: options.options ?? DEFAULT_LOOP_OPTIONS,
      fences: options.fences,
      leases: options.leases,
      stops: this.stops,
      jobIds,
    }
    this.loop = new ControlLoop(source, options.audit, options.session, start, ledgerStates)
    const readTimeouts = (): ReadTimeouts => options.readTimeouts ?? readTimeoutsOf(source)
    this.#stepMs = () => readTimeouts().waitMs
    const metadata = {
      mode: options.mode,
      settings: options.metadata ?? DEFAULT_METADATA_SETTINGS,
      store: options.leases,
      waitMs: this.#stepMs,
      fences: options.fences,
      jobIds,
      may: this.loop.may,
      onTaken: (why: Failure) => this.loop.leave(why),
    }
    const settingsStore = new MetadataSettingsStore(source, options.history)
    this.metadata = new MetadataLoop(source, options.audit, options.session, metadata, settingsStore)
    this.#probes = new Probes(source, options.probes ?? {}, {
      isEnforcing: () => this.loop.mode === 'enforce',
      isPaced: () => this.#serverPeriods.isOn,
    })
    const { board } = this.#probes
    this.#period = source.setPeriodNs && new SamplingPeriod(source.periodNs / NS_PER_MS, source.coreShare)
    this.#reader = new ClusterReader(source, this.events, board, (node) => this.#probes.of(node), readTimeouts)
    this.#serverPeriods = new ServerPeriods(
      {
        source,
        loop: this.loop,
        reader: this.#reader,
        jobs: this.jobs,
        events: this.events,
        meet: (reading, atNs) => {
          if (this.#registrar.inPeriod(reading, source.toUnixMs(atNs))) this.#batch.hurry(atNs)
        },
        onFault: (e) => this.#fault(e),
      },
      source.controlNs,
    )
    this.#sampleStore = new SampleStore(source, this.recent, this.jobs, this.history, this.journal)
    this.#forgetting = new JobEviction({
      jobs: this.jobs,
      recent: this.recent,
      controllers: this.loop.controllers,
      nowNs: () => source.nowNs(),
      afterMs: options.forgetMs,
      moved: (sample, atMs, target, moves) => {
        this.journal.add(sample, atMs, target, moves)
        const node = this.#targets.find((t) => t.target === target)?.node
        if (node !== undefined) this.#ledger.enter(atMs, target, node, moves)
      },
    })
    this.#ledger = new LedgerWriter(this.history, this.loop.controllers, ledgerStates, (id) =>
      this.#sampleStore.factsOf(id),
    )
    this.#batch = new BatchQueue(source, this.#probes)
    this.#registrar = new JobRegistrar(this.jobs, this.#batch, this.events)
    const controller = source.nodes.find((n) => n.roles.includes('controller'))
    this.padll = controller && new PadllReader(controller, this.events)
    this.haechi = options.haechi?.(source, this.events) ?? []
    this.dataNodes = source.dataNodes ?? this.haechi.map((reader) => reader.dataNode)
    this.ldlm = new LdlmReader(source.nodes, (atMs, node, records) => this.history.recordLdlm(atMs, node, records), {
      read: (node, command) => this.#probes.read('ldlm', node, command),
      everyS: () => board.everyS('ldlm'),
    })
    this.brw = new BrwReader(source.nodes, (atMs, node, records) => this.history.recordBrw(atMs, node, records), {
      read: (node, command) => this.#probes.read('brw', node, command),
      everyS: () => board.everyS('brw'),
    })
    const keepTimeouts = (...of: Parameters<History['recordTimeouts']>): void => this.history.recordTimeouts(...of)
    this.timeouts = new TimeoutsReader(source.nodes, keepTimeouts, {
      read: (node, command) => this.#probes.read('timeouts', node, command),
      everyS: () => board.everyS('timeouts'),
    })
    this.#ccpfs = options.ccpfs?.(source)
    this.#readers = [this.padll, ...this.haechi, this.#ccpfs].filter((reader) => reader !== undefined)
    const world = source.locks ?? this.#ccpfs
    this.locks = world && new LockWatch(world, this.events)
    this.#planes = (options.planes ?? metadataCollectors)(this, this.history)
    const parts = { source, audit: this.audit, events: this.events, loop: this.loop, metadata: this.metadata, jobIds }
    this.#choices = new Choices({ ...parts, journal: this.journal, board, sample: () => this.sample })
    this.events.onEvent((m) => this.history.recordEvent(m))
    this.loop.onCleared = (...cleared) => this.#reader.cleared(...cleared)
    this.loop.onLeave = (why) => this.#choices.left(why)
  }

  /** Number of the newest sample; 0 before the first. */
  get sample(): number {
    return this.recent.raw.totals.newest
  }

  /** Newest sample with data of a server; later ones are gaps, because no server answers. 0 before the first. */
  get answered(): number {
    return this.#answered
  }

  get targets(): readonly TargetNow[] {
    return this.#targets
  }

  /** MDTs, each with its MDS. */
  get metadataTargets(): readonly TargetNow[] {
    return this.#reader.targetsAt(this.serversOf('mdt'), 'mdt')
  }

  /** OSSes in the order of the source. */
  get servers(): readonly string[] {
    return this.serversOf('ost_io')
  }

  /** Servers of a service, in the order of the source. */
  serversOf(service: ServiceName): readonly string[] {
    return this.#reader.serversOf(service)
  }

  /** OSSes, then MDSes. */
  get allServers(): readonly string[] {
    return this.#reader.hosts
  }

  node(host: string): NodeConnection | undefined {
    return this.#reader.node(host)
  }

  get missing(): ReadonlyMap<string, Silence> {
    return this.#reader.missing
  }

  /** Cost of reading, over the last second of wall time. */
  get cost(): Cost {
    return this.#meter.cost
  }

  get sampledWallMs(): number | undefined {
    return this.#sampledWallMs
  }

  /** Current failures, worst first. */
  get failures(): readonly Failure[] {
    const padll = this.padll?.failure
    return [
      ...this.#failures.values(),
      ...this.#choices.failures,
      ...guessedRate(this.source, this.loop),
      ...this.loop.failures,
      ...(this.loop.clearing.failure ? [this.loop.clearing.failure] : []),
      ...this.metadata.failures,
      ...(padll ? [padll] : []),
      ...this.haechi.flatMap(({ failure }) => (failure ? [failure] : [])),
      ...(this.#ccpfs?.failures ?? []),
      ...this.#probes.failures,
      ...unthrottledJobs(this.loop.unthrottled),
    ]
  }

  /** True if samples are written to the history. */
  get isRecording(): boolean {
    return !this.#failures.has('history')
  }

  /** Newest reading of a server in the role of a service; by default in its first role. */
  reading(host: string, service?: ServiceName): NodeReading | undefined {
    return this.#reader.reading(host, service)
  }

  /** Newest reading of one service of a server. */
  serviceReading(host: string, service: ServiceName): ServiceReading | undefined {
    const reading = this.#reader.reading(host, service)
    return reading && serviceReading(reading, SERVICES[service])
  }

  /** Calls `listener` after every sample and every choice of the operator; returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Notifies the listeners of a change that a window shows. */
  changed(): void {
    for (const l of this.#listeners) l()
  }

  nowMs(): number {
    return this.source.toUnixMs(this.source.nowNs())
  }

  /** Fails if the choice cannot be recorded; a choice that reduces writing applies all the same. */
  setMode(mode: Mode): Result<undefined> {
    return this.#choices.setMode(mode)
  }

  /** Fails, and changes nothing, if the choice cannot be recorded. */
  setController(name: ControllerName): Result<undefined> {
    return this.#choices.setController(name)
  }

  /** Data available from the source beyond `job_stats`. */
  get knowledge(): SourceKnowledge {
    return this.#choices.knowledge
  }

  /** Changes settings of AdapTBF; see `Choices`. */
  setControllerOptions(change: Partial<LoopOptions>): Result<undefined> {
    return this.#choices.setControllerOptions(change)
  }

  /** Changes settings of metadata control; see `Choices`. */
  setMetadata(change: MetadataChange): Result<undefined> {
    const chosen = this.#choices.setMetadata(change)
    if (chosen.ok) this.changed()
    return chosen
  }

  /** State and cost of each probe. */
  get probes(): readonly ProbeStatus[] {
    return this.#probes.board.list
  }

  /** Cost of all probes together over the last hour, one point every five seconds of wall time. */
  get costSeries(): CostSeries {
    return this.#probes.board.series
  }

  /** Time between two samples: that of the source, or longer while job_stats are read less often. */
  get intervalNs(): number {
    return this.isOn('job_stats')
      ? Math.max(this.source.periodNs, this.#probes.board.everyS('job_stats') * NS_PER_S)
      : this.source.periodNs
  }

  /** Running sampling period, with its reason; undefined if it is always the set one. */
  get period(): RunningPeriod | undefined {
    return this.#period?.now
  }

  get budgetBytesPerSec(): number {
    return this.#probes.board.budgetBytesPerSec
  }

  /** True if a probe is on: data that are not read are shown as off, never as zero. */
  isOn(id: ProbeId): boolean {
    return this.#probes.board.isOn(id)
  }

  /** Fails for a probe that this cluster does not have, and for one that enforcing needs. */
  setProbe(id: ProbeId, on: boolean): Result<undefined> {
    const set = this.#probes.set(id, on)
    if (!set.ok) return set
    const atMs = this.nowMs()
    if (id === 'ldlm' && !on) this.ldlm.pause(atMs, 'the probe ldlm is off')
    if ((id === 'brw' || id === 'timeouts') && !on) this[id].pause(`the probe ${id} is off`)
    if (id === 'batch' && !on) this.#batch.forget('the probe batch is off')
    const text = `probe ${id} ${on ? 'on' : 'off'}`
    this.events.add({ atMs, kind: 'mode', level: 'ok', subject: 'Probe', text, where: this.source.cluster })
    this.changed()
    return set
  }

  /** Reason why the batch system does not know a job; undefined for one that it knows. */
  unmapped(jobId: string): Unmapped | undefined {
    return this.#batch.unmapped(jobId)
  }

  /** Age of the newest reading of a server, ms; undefined before the first. */
  ageMs(host: string): number | undefined {
    return this.#reader.ageMs(host, this.source.nowNs())
  }

  /** Servers with a pending command of a controller. */
  get busy(): ReadonlySet<string> {
    return new Set([...this.loop.busy, ...this.metadata.busy])
  }

  /**
   * Resolves when no command of a controller is pending, or after so many ms of wall time; @returns servers that still
   * have one.
   */
  async over(ms: number): Promise<ReadonlySet<string>> {
    const [data, metadata] = await Promise.all([this.loop.over(ms), this.metadata.over(ms)])
    return new Set([...data, ...metadata])
  }

  /**
   * Starts the control periods of servers with their own clocks. Without it, servers are controlled with the samples.
   *
   * @param before  called before each period, for what may forbid writing.
   */
  startPeriods(before: () => void): void {
    this.#serverPeriods.start(before)
  }

  /** Resolves when no control period is under way; servers are then controlled with the samples. */
  stopPeriods(): Promise<void> {
    return this.#serverPeriods.stop()
  }

  /** Control periods of the servers while a controller decides; empty if all are controlled with the samples. */
  get serverPeriods(): readonly ServerPeriodFrame[] {
    return this.#serverPeriods.status
  }

  /** Writes pending ledger data to the history when the cluster is closed. */
  close(): void {
    this.#ledger.close()
  }

  /**
   * Takes one sample at the source's time `atNs` and runs the control loop on it. Never rejects: errors are in
   * `failures` until a later sample works.
   */
  async tick(atNs: number): Promise<void> {
    try {
      await this.#sample(atNs)
      this.#failures.delete('sample')
    } catch (e) {
      this.#failures.set('sample', sampleFailed(e))
    }
    this.changed()
  }

  async #sample(atNs: number): Promise<void> {
    const atMs = this.source.toUnixMs(atNs)
    this.#probes.board.advance(performance.now(), atMs)
    await this.#batch.refresh(atNs)
    if (this.#batch.takeNews()) for (const j of this.jobs.all) j.describe(this.#batch.find(j.jobId))
    const began = performance.now()
    // Not awaited: a slow controller of stages, or a server that is slow to count its locks, delays no sample.
    for (const reader of this.#readers) this.#beside(reader.refresh(atNs, atMs))
    if (this.isOn('ldlm')) this.#beside(this.ldlm.refresh(atNs, atMs))
    if (this.isOn('brw')) this.#beside(this.brw.refresh(atNs, atMs))
    if (this.isOn('timeouts')) this.#beside(this.timeouts.refresh(atNs, atMs))
    const { read, silent, late, gaps } = await this.#reader.read(atNs, atMs)
    const collected = performance.now()
    const held = [...silent, ...late]
      .filter((n) => n.roles.includes('oss'))
      .map(({ host }) => this.loop.gap(host, this.#reader.targetsOf(host, 'ost_io'), atNs))
    const beside = this.#readers.flatMap((reader) => reader.takeCosts())
    const costs = [...beside, ...this.#probes.board.costs.takeRecent()]
    this.#meter.add(costs, performance.now())
    this.#targets = this.#reader.targetsAt(this.servers, 'ost_io')
    // The first reading is the base of all rates. Later, a period without any is a sample all the same: a gap.
    const hasRates = read.some(({ reading }) => reading.targets.some((t) => t.deltas !== undefined))
    // A cluster of data nodes or ccPFS alone has no rates of servers to wait for.
    const hasServers = this.allServers.length > 0
    if (this.sample === 0 && !hasRates && hasServers) return
    if (hasRates || !hasServers) this.#ratesNs = atNs
    // Reading job_stats less often makes fewer samples, not samples with gaps; a missing reading is a gap.
    else if (this.intervalNs > this.source.periodNs && atNs - this.#ratesNs < 1.5 * this.intervalNs) return
    const sample = this.recent.push(atMs)
    this.recent.keepGaps(gaps)
    const isRead = hasServers
      ? read.length > 0 && !this.isOn('job_stats')
      : this.#ccpfs?.isSilent === false || this.haechi.some(({ failure }) => failure === undefined)
    if (hasRates || isRead) this.#answered = sample
    this.locks?.look(sample, atNs, atMs)
    for (const { reading } of read) if (this.#registrar.inReading(reading, atMs)) this.#batch.hurry(atNs)
    this.#registrar.inStages(this.padll?.jobsNow ?? [], atMs)
    const isNewSecond = Math.floor(atMs / 1000) !== this.#lastSecond
    if (isNewSecond) for (const id of this.#forgetting.look(sample, atMs)) this.#sampleStore.forget(id)
    if (this.#lateFault !== undefined) {
      const fault = this.#lateFault
      this.#lateFault = undefined
      throw fault
    }
    // A stop by another process ends enforce even if nothing is due.
    this.loop.may()
    await this.jobIds.refresh(
      read.map(({ node }) => node),
      atNs,
      this.loop.mode === 'enforce',
    )
    this.#choices.leaveUnsafe()
    const silentMds = silent.filter((n) => n.roles.includes('mds')).map((n) => n.host)
    const onMds = await this.metadata.look({
      sample,
      atNs,
      mode: this.loop.mode,
      jobs: this.jobs,
      read: read.filter(({ reading }) => reading.service.name === 'mdt'),
      isLate: late.some((n) => n.roles.includes('mds')),
      silent: new Map(silentMds.map((host) => [host, this.missing.get(host)?.reason ?? ''])),
    })
    const onData = await this.#control(
      read.filter(({ reading }) => reading.service.name === 'ost_io'),
      atNs,
    )
    const periods = read.flatMap(({ node, reading }) => onData.get(reading) ?? onMds.get(node.host) ?? [])
    const taken = read.map((r) => r.reading)
    keepCycle(this.recent, taken, periods, this.#readMs(read, collected - began))
    this.#registrar.inRecords(this.loop.controllers.takeRestored(), atMs)
    const sums = this.#sampleStore.keep(sample, atMs, taken, periods, held, this.#expected(late, atMs))
    this.#ledger.take(atNs, atMs, periods)
    for (const p of periods) {
      this.idleRules.look(placeOf(p.host, p.service), p.rules, atMs)
      for (const o of p.others ?? []) this.idleRules.look(placeOf(p.host, o.service), o.rules, atMs)
    }
    const unread = this.#reader.targetsAt([...silent, ...late].map(({ host }) => host))
    this.#remember(atNs, [atMs, sums, taken, periods, this.loop.controller, unread])
    this.#watch.look(atMs, periods, this.loop)
    this.slots.look(atMs, this.recent, this.jobs)
    if (isNewSecond) this.#endSecond(atMs)
    if (read.length > 0) this.#sampledWallMs = performance.now()
    this.#fitPeriod(atMs)
    this.#serverPeriods.look()
  }

  /** Runs work that no sample waits for; its error is reported in the next sample. */
  #beside(work: Promise<unknown> | undefined): void {
    work?.catch((e: unknown) => this.#fault(e))
  }

  #fault(e: unknown): void {
    this.#lateFault ??= e instanceof Error ? e : new Error(String(e))
  }

  /** Time of the longest reading: of this sample, or of a server with its own clock. */
  #readMs(read: Round['read'], sampledMs: number): number {
    const own = read.filter((r) => !r.undecided).map((r) => r.reading.tookMs + r.reading.parseMs)
    return Math.max(sampledMs, ...own)
  }

  /** Applies the sampling period that the servers can keep up with, from the next sample on. */
  #fitPeriod(atMs: number): void {
    for (const [host, time] of this.#reader.takeTimes()) this.#period?.add(host, time)
    const changed = this.#period?.look(atMs)
    if (!changed) return
    this.source.setPeriodNs?.(changed.runMs * NS_PER_MS)
    const isLonger = changed.runMs > changed.setMs
    const every = `a sample every ${changed.runMs / 1000} s`
    const text = isLonger
      ? `${every} instead of ${changed.setMs / 1000} s: ${changed.why}`
      : `${every} again, as configured`
    const level = isLonger ? 'watch' : 'ok'
    this.events.add({ atMs, kind: 'mode', level, subject: 'Sampling', text, where: this.source.cluster })
  }

  /** @param late  servers with pending readings. */
  #expected(late: readonly NodeConnection[], atMs: number): Expected {
    const hosts = late.filter((n) => n.roles.includes('oss')).map((n) => n.host)
    const isUnmet = (host: string): boolean =>
      !this.#reader.hasMet(host) && atMs - (this.missing.get(host)?.sinceMs ?? atMs) < UNMET_MS
    return {
      targets: new Set(this.#targets.map((t) => t.target)),
      late: new Set(hosts.flatMap((host) => this.#reader.targetsOf(host, 'ost_io'))),
      hasUnmet: this.servers.some(isUnmet),
    }
  }

  /**
   * Runs one period of each server in parallel. A slow server delays no other: its rules are those of its reading, and
   * the result of writing appears in a later reading.
   */
  async #control(read: Round['read'], atNs: number): Promise<ReadonlyMap<NodeReading, ServerPeriod>> {
    const begun = new Map<NodeReading, ServerPeriod>()
    const writing = read.flatMap(({ node, reading, undecided }) => {
      if (!undecided) return []
      const { period, written } = this.loop.begin(node, undecided, this.jobs, atNs)
      begun.set(reading, period)
      return written ? [written.then((after) => begun.set(reading, after))] : []
    })
    const all = Promise.all(writing)
    if (!(await endsWithin(all, this.#stepMs()))) this.#beside(all)
    // Taken last, so that the ledger has the moves of the state that is saved with it.
    return new Map(
      read.map(({ node, reading }) => {
        const own = this.#serverPeriods.take(node.host)
        const now = begun.get(reading)
        const both = own && now && summedPeriods(own, now)
        return [reading, both ?? own ?? now ?? idlePeriod(node.host, reading.rules, reading.rulesText)]
      }),
    )
  }

  #remember(atNs: number, sample: Parameters<SampleStore['remember']>): void {
    try {
      this.#sampleStore.remember(...sample)
      for (const plane of this.#planes) plane.look(atNs, sample[0])
      if (this.history.isOnDisk) this.#failures.delete('history')
    } catch (e) {
      this.#failures.set('history', historyFull(e))
    }
  }

  #endSecond(atMs: number): void {
    this.#lastSecond = Math.floor(atMs / 1000)
    for (const j of this.jobs.all) j.endSecond()
  }

  /** Tokens that a job has lent (+) or borrowed (-) at the newest sample; undefined without a ledger. */
  recordOf(jobId: string): number | undefined {
    const v = this.recent.raw.jobs.value(jobId, jobColumn('record'), this.sample)
    return Number.isNaN(v) ? undefined : v
  }
}
