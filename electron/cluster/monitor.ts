/**
 * One connected cluster: samples it period by period, runs the control loop on what was measured, keeps the recent past
 * for the views and hands everything to the history.
 */
import { NS_PER_S } from '#core/base/units.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { ControllerName, Mode } from '#core/control/controller.ts'
import { isOurs } from '#core/control/desired-rule.ts'
import { primaryPolicy } from '#core/lustre/nrs-policies.ts'
import type { Audit } from '../enforce/audit.ts'
import type { History } from '../history/history.ts'
import { NodeCollector, type NodeReading, type Reading } from './collector.ts'
import type { ClusterSource, NodeConnection } from './connection.ts'
import { ControlLoop, type ServerPeriod } from './control-loop.ts'
import { EventLog } from './event-log.ts'
import { IdleRules } from './idle-rules.ts'
import { JobRegistry, type Job } from './job-registry.ts'
import { jobColumn, Recent, shareName, TOTAL } from './recent.ts'
import { ruleFinder, RuleMatcher } from './rule-matcher.ts'
import { SlurmQueue } from './slurm.ts'
import { Throttling } from './throttling.ts'
import { Watch } from './watch.ts'

/** Jobs without an RPC for this long leave memory; the history keeps them. */
const FORGET_MS = 3_600_000
const SLURM_PERIOD_NS = 2 * NS_PER_S

export interface TargetNow {
  readonly target: string
  readonly node: string
}

const message = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/** One sample of one job over the whole cluster. */
interface JobNow {
  rpcs: number
  readBytes: number
  writeBytes: number
  record: number
  hasRecord: boolean
  atLimit: number
  servers: number
  allowed: number
}

export class ClusterMonitor {
  readonly source: ClusterSource
  readonly recent = new Recent()
  readonly jobs = new JobRegistry()
  readonly events = new EventLog()
  readonly idleRules = new IdleRules()
  readonly loop: ControlLoop
  readonly history: History
  readonly audit: Audit
  readonly #collectors: readonly { node: NodeConnection; collector: NodeCollector }[]
  readonly #slurm: SlurmQueue
  readonly #throttling = new Throttling()
  readonly #matcher = new RuleMatcher()
  readonly #watch = new Watch(this.events)
  readonly #missing = new Map<string, { reason: string; sinceMs: number }>()
  readonly #readings = new Map<string, NodeReading>()
  /** Targets of each server, as last read: a server that does not answer still has them. */
  readonly #targetsOf = new Map<string, readonly string[]>()
  #targets: readonly TargetNow[] = []
  /** What keeps samples from being taken or kept. */
  readonly #failures = new Map<'sample' | 'history', Failure>()
  #sampledWallMs: number | undefined
  #cost = { sinceWallMs: 0, bytes: 0, tookMs: 0, bytesPerSec: 0, serverMsPerSec: 0 }
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
  }) {
    const { source } = options
    this.source = source
    this.history = options.history
    this.audit = options.audit
    this.loop = new ControlLoop(source, options.audit, options.session, options.mode, options.controller)
    this.#collectors = source.nodes
      .filter((n) => n.role === 'oss')
      .map((node) => ({ node, collector: new NodeCollector(node) }))
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

  /** Servers in the order of the source. */
  get servers(): readonly string[] {
    return this.#collectors.map((c) => c.node.host)
  }

  get missing(): ReadonlyMap<string, { reason: string; sinceMs: number }> {
    return this.#missing
  }

  /** What reading costs, over the last second of wall time. */
  get cost(): { bytesPerSec: number; serverMsPerSec: number } {
    return this.#cost
  }

  get sampledWallMs(): number | undefined {
    return this.#sampledWallMs
  }

  /** What does not work now, worst first. */
  get failures(): readonly Failure[] {
    return [...this.#failures.values(), ...this.loop.failures]
  }

  /** Whether samples reach the history. */
  get isRecording(): boolean {
    return !this.#failures.has('history')
  }

  reading(host: string): NodeReading | undefined {
    return this.#readings.get(host)
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
    if (chosen.ok) this.loop.setController(name)
    return chosen
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
    const readings = await Promise.all(
      this.#collectors.map(async ({ node, collector }) => ({ node, collector, result: await collector.read() })),
    )
    const read: { node: NodeConnection; reading: NodeReading }[] = []
    for (const { node, collector, result } of readings) {
      this.#note(node.host, collector, result, atMs)
      if (result.ok) read.push({ node, reading: result.reading })
    }
    this.#meter(read.map((r) => r.reading))
    this.#targets = this.servers.flatMap((node) =>
      (this.#targetsOf.get(node) ?? []).map((target) => ({ target, node })),
    )
    // The first reading is the base of all rates. Later on, a period without any is a sample all the same: a gap.
    const hasRates = read.some(({ reading }) => reading.targets.some((t) => t.deltas !== undefined))
    if (this.sample === 0 && !hasRates) return
    const sample = this.recent.push(atMs)
    for (const { reading } of read) this.#meet(reading, atMs)
    const periods: ServerPeriod[] = []
    for (const { node, reading } of read) periods.push(await this.loop.step(node, reading, this.jobs, atNs))
    this.#keep(
      sample,
      atMs,
      read.map((r) => r.reading),
      periods,
    )
    this.#sampledWallMs = performance.now()
  }

  #note(host: string, collector: NodeCollector, result: Reading, atMs: number): void {
    const was = this.#missing.get(host)
    if (result.ok) {
      this.#readings.set(host, result.reading)
      this.#targetsOf.set(
        host,
        result.reading.targets.map((t) => t.target),
      )
      if (!was) return
      this.#missing.delete(host)
      const text = `${host} answers again after ${Math.round((atMs - was.sinceMs) / 1000)} s, gap kept`
      this.events.add({ atMs, kind: 'lost', level: 'ok', subject: 'Source', text, where: host })
    } else if (!was) {
      this.#missing.set(host, { reason: result.reason, sinceMs: atMs })
      collector.forgetBase()
      const text = `${host} does not answer: ${result.reason}`
      this.events.add({ atMs, kind: 'lost', level: 'bad', subject: 'Source', text, where: host })
    }
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

  #keep(sample: number, atMs: number, readings: readonly NodeReading[], periods: readonly ServerPeriod[]): void {
    const { raw, shares } = this.recent
    const seconds = this.source.periodNs / NS_PER_S
    const now = new Map<string, JobNow>()
    const jobNow = (id: string): JobNow => {
      let j = now.get(id)
      if (!j) {
        j = { rpcs: 0, readBytes: 0, writeBytes: 0, record: 0, hasRecord: false, atLimit: 0, servers: 0, allowed: 0 }
        now.set(id, j)
      }
      return j
    }
    const measured = new Set<string>()
    const total = { usecs: 0, data: 0, queued: 0, budget: 0, rules: 0, onLoan: 0, lent: 0, borrowed: 0 }
    for (const [i, reading] of readings.entries()) {
      const period = periods[i] as ServerPeriod
      const policy = primaryPolicy(reading.policies, 'reg')
      const queued = reading.policies.reduce((n, p) => n + p.queued, 0)
      total.queued += queued
      total.rules += period.rules.filter((r) => r.queue === 'reg' && r.cpt === 0 && r.name !== 'default').length
      this.recent.keepRules(reading.host, sample, period.rulesText, policy ? `${policy.name} ${policy.arg}`.trim() : '')
      this.idleRules.look(reading.host, period.rules, atMs)
      for (const t of reading.targets) {
        // The first reading after a gap is a base: what was served in the gap is not known.
        if (t.deltas === undefined) continue
        measured.add(t.target)
        let rpcs = 0
        let usecs = 0
        let data = 0
        for (const d of t.deltas) {
          const j = jobNow(d.jobId)
          j.rpcs += d.rpcs
          j.readBytes += d.readBytes
          j.writeBytes += d.writeBytes
          rpcs += d.rpcs
          usecs += d.serviceUsecs
          data += d.dataRpcs
        }
        total.usecs += usecs
        total.data += data
        const rate = rpcs / seconds
        raw.targets.set(t.target, rate, data > 0 ? usecs / data / 1000 : NaN, queued, rate / this.source.maxRate)
        total.budget += this.source.maxRate
        const decision = period.decisions.find((d) => d.target === t.target)
        const tokens = new Map(decision?.allocations.map((a) => [a.jobId, a.tokens]))
        for (const a of decision?.allocations ?? []) {
          if (a.recordDelta > 0) total.lent += a.recordDelta
          else total.borrowed -= a.recordDelta
          if (a.recordDelta !== 0) this.jobs.find(a.jobId)?.book(atMs, t.target, a.recordDelta)
        }
        for (const [jobId, record] of decision?.records ?? []) {
          if (record === 0 && !this.jobs.find(jobId)) continue // forgotten
          const j = jobNow(jobId)
          j.record += record
          j.hasRecord = true
          if (record > 0) total.onLoan += record
        }
        const servedHere = new Map(t.deltas.map((d) => [d.jobId, d.rpcs]))
        for (const id of new Set([...tokens.keys(), ...servedHere.keys()])) {
          const record = decision?.records.get(id) ?? NaN
          shares.set(shareName(id, t.target), (servedHere.get(id) ?? 0) / seconds, tokens.get(id) ?? NaN, record)
        }
      }
      this.history.recordRules(atMs, reading.host, period.rules)
      for (const d of period.decisions) this.history.recordDecision(atMs, this.loop.controller, reading.host, d)
    }
    for (const reading of readings) this.#limits(reading, now, seconds)
    for (const [id, j] of now) {
      const throttled = j.servers > 0 ? j.atLimit / j.servers : 0
      const record = j.hasRecord ? j.record : NaN
      raw.jobs.set(id, j.rpcs / seconds, j.readBytes / seconds, j.writeBytes / seconds, throttled, record, j.allowed)
    }
    // A known job without an RPC was idle, unless a target that it uses was not measured.
    for (const j of this.jobs.all) {
      if (!now.has(j.jobId) && [...j.targets].every((t) => measured.has(t))) raw.jobs.set(j.jobId, 0, 0, 0, 0, NaN, 0)
    }
    const sum = (of: (j: JobNow) => number): number => [...now.values()].reduce((n, j) => n + of(j), 0)
    const rpcs = sum((j) => j.rpcs) / seconds
    if (measured.size > 0) {
      raw.totals.set(
        TOTAL,
        sum((j) => j.readBytes) / seconds,
        sum((j) => j.writeBytes) / seconds,
        rpcs,
        total.data > 0 ? total.usecs / total.data / 1000 : NaN,
        total.queued,
        total.budget > 0 ? rpcs / total.budget : NaN,
        total.rules,
        total.onLoan,
        total.lent,
        total.borrowed,
      )
    }
    this.#remember(atMs, now, seconds, readings)
    this.#watch.look(atMs, this.recent, periods, this.loop)
    if (Math.floor(atMs / 1000) !== this.#lastSecond) this.#endSecond(atMs)
  }

  /** Which jobs run at their rule's limit on one server, and what their rules allow. */
  #limits(reading: NodeReading, now: ReadonlyMap<string, JobNow>, seconds: number): void {
    const ruleOf = ruleFinder(reading.rules, this.#matcher)
    const served = new Map<string, number>()
    for (const t of reading.targets) {
      for (const d of t.deltas ?? []) served.set(d.jobId, (served.get(d.jobId) ?? 0) + d.rpcs)
    }
    for (const [id, j] of now) {
      const rule = ruleOf(id)
      if (!rule) continue
      j.allowed += rule.rate
      j.servers++
      if (this.#throttling.sample(reading.host, id, served.get(id) ?? 0, rule.rate * seconds)) j.atLimit++
    }
  }

  #remember(atMs: number, now: ReadonlyMap<string, JobNow>, seconds: number, readings: readonly NodeReading[]): void {
    const jobs = [...now]
      .filter(([, j]) => j.rpcs > 0 || j.hasRecord)
      .map(([jobId, j]) => ({
        jobId,
        rpcs: j.rpcs / seconds,
        readBps: j.readBytes / seconds,
        writeBps: j.writeBytes / seconds,
        throttled: j.servers > 0 ? j.atLimit / j.servers : 0,
        record: j.hasRecord ? j.record : null,
      }))
    const number = (v: number): number | null => (Number.isNaN(v) ? null : v)
    const { targets } = this.recent.raw
    const rows = readings.flatMap((r) =>
      r.targets.map((t) => ({
        target: t.target,
        node: r.host,
        rpcs: number(targets.value(t.target, 0, targets.newest)),
        serviceMs: number(targets.value(t.target, 1, targets.newest)),
        queued: number(targets.value(t.target, 2, targets.newest)),
      })),
    )
    try {
      this.history.record(atMs, jobs, rows, (id) => {
        const j = this.jobs.find(id)
        return { jobId: id, user: j?.user ?? '', account: j?.account ?? '', nodes: j?.nodes ?? null }
      })
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
      // Records sum to zero over all known jobs, so one that still has tokens on loan stays.
      if (atMs - j.lastActiveMs > FORGET_MS && !this.recordOf(j.jobId)) this.#forget(j)
    }
  }

  #forget(j: Job): void {
    this.jobs.drop(j.jobId)
    this.recent.dropJob(j.jobId)
    this.#throttling.drop(j.jobId)
  }

  #meter(readings: readonly NodeReading[]): void {
    const now = performance.now()
    for (const r of readings) {
      this.#cost.bytes += r.bytes
      this.#cost.tookMs += r.tookMs
    }
    const wall = now - this.#cost.sinceWallMs
    if (wall < 1000) return
    const first = this.#cost.sinceWallMs === 0
    this.#cost = {
      sinceWallMs: now,
      bytes: 0,
      tookMs: 0,
      bytesPerSec: first ? 0 : (this.#cost.bytes / wall) * 1000,
      serverMsPerSec: first ? 0 : (this.#cost.tookMs / wall) * 1000,
    }
  }

  /** Tokens that a job has lent (+) or borrowed (-) at the newest sample; undefined without a ledger. */
  recordOf(jobId: string): number | undefined {
    const v = this.recent.raw.jobs.value(jobId, jobColumn('record'), this.sample)
    return Number.isNaN(v) ? undefined : v
  }

  /** Whether any of our rules stands on any server, as last read. */
  get hasOurRules(): boolean {
    return [...this.#readings.values()].some((r) => r.rules.some((l) => isOurs(l.name)))
  }
}
