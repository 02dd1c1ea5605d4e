/**
 * One connected cluster: samples it period by period, runs the control loop on what was measured, keeps the recent past
 * for the views and hands everything to the history.
 */
import { NS_PER_S } from '#core/base/units.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { ServiceName } from '#core/api/rule-edits.ts'
import {
  checkLoopOptions,
  DEFAULT_LOOP_OPTIONS,
  type LoopOptions,
  type SourceKnowledge,
} from '#core/adaptbf/loop-options.ts'
import type { ControllerName, Mode } from '#core/control/controller.ts'
import { RULES_MAX } from '#core/control/desired-rule.ts'
import type { Audit } from '../enforce/audit.ts'
import type { History } from '../history/history.ts'
import { ClusterReader, type Silence, type TargetNow } from './cluster-reader.ts'
import type { NodeReading } from './collector.ts'
import type { ClusterSource, NodeConnection } from './connection.ts'
import { CostMeter, type Cost } from './cost-meter.ts'
import { ControlLoop, idlePeriod, type ServerPeriod } from './control-loop.ts'
import { keepCycle } from './cycle.ts'
import { EventLog } from './event-log.ts'
import { IdleRules } from './idle-rules.ts'
import { type Job, JobRegistry } from './job-registry.ts'
import { KeptRecords } from './kept-records.ts'
import { LedgerWriter } from './ledger-writer.ts'
import { PairJournal } from './pair-journal.ts'
import { jobColumn, Recent, shareColumn, shareName } from './recent.ts'
import { SampleKeeper } from './sample-keeper.ts'
import type { ClusterSums } from './sample.ts'
import { SlurmQueue } from './slurm.ts'
import { Watch } from './watch.ts'

/** Jobs without an RPC for this long leave memory; the history keeps them. */
const FORGET_MS = 3_600_000
const SLURM_PERIOD_NS = 2 * NS_PER_S

/** Jobs that the controller gives tokens to but that no rule holds: they run as fast as they like. */
function leftOut({ unmatchable, overCap }: ControlLoop['left']): Failure[] {
  const count = unmatchable + overCap
  if (count === 0) return []
  const why =
    unmatchable > 0
      ? 'their ids hold characters that a rule cannot match'
      : `a server takes ${RULES_MAX} rules of Sluice`
  return [
    {
      code: 'JOBS_WITHOUT_RULE',
      what: `${count} ${count === 1 ? 'job is' : 'jobs are'} not held by any rule`,
      why,
      unaffected: 'All other jobs are controlled.',
      next: 'Limit them by uid or nid on the server, or ask their owners for plain job names.',
    },
  ]
}

const message = (e: unknown): string => (e instanceof Error ? e.message : String(e))

export class ClusterMonitor {
  readonly source: ClusterSource
  readonly recent = new Recent()
  readonly jobs = new JobRegistry()
  readonly events = new EventLog()
  readonly idleRules = new IdleRules()
  readonly journal = new PairJournal()
  readonly loop: ControlLoop
  readonly history: History
  readonly audit: Audit
  readonly #reader: ClusterReader
  readonly #slurm: SlurmQueue
  readonly #watch = new Watch(this.events)
  #targets: readonly TargetNow[] = []
  /** What keeps samples from being taken or kept. */
  readonly #failures = new Map<'sample' | 'history', Failure>()
  #sampledWallMs: number | undefined
  readonly #meter = new CostMeter()
  readonly #keeper: SampleKeeper
  readonly #ledger: LedgerWriter
  #nextSlurmNs = 0
  #lastSecond = 0
  readonly #listeners = new Set<() => void>()

  constructor(options: {
    source: ClusterSource
    history: History
    audit: Audit
    session: string
    mode: Mode
    controller: ControllerName
    /** Settings of AdapTBF; those of the paper by default. */
    options?: LoopOptions
  }) {
    const { source } = options
    this.source = source
    this.history = options.history
    this.audit = options.audit
    const kept = new KeptRecords(source, options.history)
    const start = {
      mode: options.mode,
      controller: options.controller,
      options: options.options ?? DEFAULT_LOOP_OPTIONS,
    }
    this.loop = new ControlLoop(source, options.audit, options.session, start, kept)
    this.#reader = new ClusterReader(source, this.events)
    this.#keeper = new SampleKeeper(source, this.recent, this.jobs, this.history, this.journal)
    this.#ledger = new LedgerWriter(this.history, this.loop.controllers, kept, (id) => this.#keeper.factsOf(id))
    this.#slurm = new SlurmQueue(source.nodes.find((n) => n.role === 'scheduler'))
    this.events.onEvent((m) => this.history.recordEvent(m))
  }

  /** Number of the newest sample; 0 before the first. */
  get sample(): number {
    return this.recent.raw.totals.newest
  }

  get targets(): readonly TargetNow[] {
    return this.#targets
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

  /** What reading costs, over the last second of wall time. */
  get cost(): Cost {
    return this.#meter.cost
  }

  get sampledWallMs(): number | undefined {
    return this.#sampledWallMs
  }

  /** What does not work now, worst first. */
  get failures(): readonly Failure[] {
    return [...this.#failures.values(), ...this.loop.failures, ...leftOut(this.loop.left)]
  }

  /** Whether samples reach the history. */
  get isRecording(): boolean {
    return !this.#failures.has('history')
  }

  reading(host: string): NodeReading | undefined {
    return this.#reader.reading(host)
  }

  /** Calls `listener` after every sample and every choice of the operator; returns how to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells the listeners that something a window shows is different. */
  changed(): void {
    for (const l of this.#listeners) l()
  }

  nowMs(): number {
    return this.source.toUnixMs(this.source.nowNs())
  }

  /** Fails when the choice cannot be put on record; a choice to write less holds all the same. */
  setMode(mode: Mode): Result<undefined> {
    if (mode === this.loop.mode) return ok(undefined)
    if (mode !== 'enforce') this.loop.setMode(mode)
    const chosen = this.#choice(`mode ${mode}`)
    if (chosen.ok) this.loop.setMode(mode)
    return chosen
  }

  /** Fails, and changes nothing, when the choice cannot be put on record. */
  setController(name: ControllerName): Result<undefined> {
    if (name === this.loop.controller) return ok(undefined)
    const chosen = this.#choice(`controller ${name}`)
    if (!chosen.ok) return chosen
    this.loop.setController(name)
    this.journal.clear(this.sample)
    return chosen
  }

  /** What the source can tell beyond `job_stats`. */
  get knowledge(): SourceKnowledge {
    const isOwn = this.source.inside !== undefined
    return { backlog: isOwn, deviceBusy: isOwn }
  }

  /**
   * Changes settings of AdapTBF; records and debts go on. Fails, and changes nothing, for what this source cannot be
   * controlled with (`checkLoopOptions`) and when the choice cannot be put on record.
   */
  setControllerOptions(change: Partial<LoopOptions>): Result<undefined> {
    const { controllers } = this.loop
    const checked = checkLoopOptions({ ...controllers.options, ...change }, this.knowledge)
    if (!checked.ok) return checked
    const named = Object.entries(change).map(([name, value]) => `${name}=${String(value)}`)
    if (named.length === 0) return ok(undefined)
    const chosen = this.#choice(`adaptbf ${named.join(' ')}`)
    if (chosen.ok) controllers.setOptions(checked.value)
    return chosen
  }

  /** Hands over what the history is to keep of the ledger; for when the cluster is closed. */
  close(): void {
    this.#ledger.handOver()
  }

  #choice(text: string): Result<undefined> {
    const atMs = this.nowMs()
    try {
      this.audit.write(atMs, this.source.cluster, 'mode', text)
    } catch (e) {
      return fail({
        code: 'NOT_ON_RECORD',
        what: `The choice of ${text} could not be put on record`,
        why: message(e),
        next: 'Free space for the history and choose again.',
      })
    }
    this.events.add({ atMs, kind: 'mode', level: 'ok', subject: 'Mode', text, where: this.source.cluster })
    return ok(undefined)
  }

  /**
   * Takes one sample at the source's instant `atNs` and runs the control loop on it. Never rejects: what went wrong stands
   * in `failures` until a later sample works.
   */
  async tick(atNs: number): Promise<void> {
    try {
      await this.#sample(atNs)
      this.#failures.delete('sample')
    } catch (e) {
      this.#failures.set('sample', {
        code: 'SAMPLE_FAILED',
        what: 'A sample could not be taken',
        why: message(e),
        unaffected: 'The next one is tried as usual.',
        next: 'Report it if it stays: this is an error of Sluice.',
      })
    }
    this.changed()
  }

  async #sample(atNs: number): Promise<void> {
    if (atNs >= this.#nextSlurmNs) {
      this.#nextSlurmNs = atNs + SLURM_PERIOD_NS
      await this.#slurm.refresh()
      for (const j of this.jobs.all) j.describe(this.#slurm.find(j.jobId))
    }
    const atMs = this.source.toUnixMs(atNs)
    const began = performance.now()
    const { read, silent } = await this.#reader.read(atMs)
    const collected = performance.now()
    const held = silent
      .filter((n) => n.role === 'oss')
      .map(({ host }) => this.loop.gap(host, this.#reader.targetsOf(host), atNs))
    this.#meter.add(
      read.map((r) => r.reading),
      performance.now(),
    )
    this.#targets = this.servers.flatMap((node) => this.#reader.targetsOf(node).map((target) => ({ target, node })))
    // The first reading is the base of all rates. Later on, a period without any is a sample all the same: a gap.
    const hasRates = read.some(({ reading }) => reading.targets.some((t) => t.deltas !== undefined))
    if (this.sample === 0 && !hasRates) return
    const sample = this.recent.push(atMs)
    for (const { reading } of read) this.#meet(reading, atMs)
    const periods: ServerPeriod[] = []
    for (const { node, reading } of read) {
      // Controllers decide on data RPCs; what stands on an MDS was written by hand.
      if (reading.service.name === 'ost_io') periods.push(await this.loop.step(node, reading, this.jobs, atNs))
      else periods.push(idlePeriod(node.host, reading.rules, reading.rulesText))
    }
    const taken = read.map((r) => r.reading)
    keepCycle(this.recent, taken, periods, collected - began)
    this.#meetRestored(atMs)
    const known = new Set(this.#targets.map((t) => t.target))
    const sums = this.#keeper.keep(sample, atMs, taken, periods, held, known)
    this.#ledger.take(atNs, atMs, periods)
    for (const p of periods) this.idleRules.look(p.host, p.rules, atMs)
    this.#remember(atMs, sums, taken, periods)
    this.#watch.look(atMs, this.recent, periods, this.loop)
    if (Math.floor(atMs / 1000) !== this.#lastSecond) this.#endSecond(atMs)
    if (read.length > 0) this.#sampledWallMs = performance.now()
  }

  #meet(reading: NodeReading, atMs: number): void {
    for (const t of reading.targets) {
      for (const d of t.deltas ?? []) {
        const { job, isNew } = this.jobs.meet(d.jobId, atMs)
        if (isNew) {
          job.describe(this.#slurm.find(d.jobId))
          // A job that Slurm did not know two seconds ago may be in its queue by now.
          if (job.nodes === undefined) this.#nextSlurmNs = 0
          const where = job.nodes === undefined ? '' : job.nodes === 1 ? '1 node' : `${job.nodes} nodes`
          this.events.add({ atMs, kind: 'job', level: 'idle', subject: 'Job', text: `${d.jobId} started I/O`, where })
        }
        job.lastActiveMs = atMs
        job.targets.add(t.target)
        job.count(d)
      }
    }
  }

  /** Jobs of restored records are known, also while they are idle: the records sum to zero over all known jobs. */
  #meetRestored(atMs: number): void {
    for (const { target, savedMs, jobs } of this.loop.controllers.takeRestored()) {
      for (const id of jobs) {
        const { job, isNew } = this.jobs.meet(id, atMs)
        if (isNew) job.describe(this.#slurm.find(id))
        job.targets.add(target)
      }
      const span = Math.max(0, Math.round((atMs - savedMs) / 1000))
      const text = `${jobs.length} ${jobs.length === 1 ? 'record' : 'records'} restored as they stood ${span} s ago`
      this.events.add({ atMs, kind: 'controller', level: 'ok', subject: 'AdapTBF', text, where: target })
    }
  }

  #remember(atMs: number, sums: ClusterSums, readings: readonly NodeReading[], periods: readonly ServerPeriod[]): void {
    try {
      this.#keeper.remember(atMs, sums, readings, periods, this.loop.controller)
      if (this.history.isOnDisk) this.#failures.delete('history')
    } catch (e) {
      this.#failures.set('history', {
        code: 'HISTORY_NOT_WRITTEN',
        what: 'The history takes no samples',
        why: message(e),
        unaffected: 'Sampling goes on; the views show what is in memory.',
        next: 'Free space where the history is; what waits is written then.',
      })
    }
  }

  #endSecond(atMs: number): void {
    this.#lastSecond = Math.floor(atMs / 1000)
    for (const j of this.jobs.all) {
      j.endSecond()
      // Records sum to zero over all known jobs, so one that still has tokens on loan on any target stays.
      if (atMs - j.lastActiveMs > FORGET_MS && !this.#hasLoans(j)) {
        this.jobs.drop(j.jobId)
        this.#keeper.forget(j.jobId)
      }
    }
  }

  #hasLoans({ jobId, targets }: Job): boolean {
    const { shares } = this.recent
    const record = (t: string): number => shares.value(shareName(jobId, t), shareColumn('record'), this.sample)
    return [...targets].some((t) => Math.abs(record(t)) > 0)
  }

  /** Tokens that a job has lent (+) or borrowed (-) at the newest sample; undefined without a ledger. */
  recordOf(jobId: string): number | undefined {
    const v = this.recent.raw.jobs.value(jobId, jobColumn('record'), this.sample)
    return Number.isNaN(v) ? undefined : v
  }
}
