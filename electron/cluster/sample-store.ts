/** Stores a sample: in the recent history in memory, in the history on disk, and its token moves in the journal. */
import { NS_PER_S } from '#core/base/units.ts'
import type { ClusterSample, JobFacts, JobSample } from '../history/records.ts'
import type { History } from '../history/history.ts'
import type { NodeReading } from './read/collector.ts'
import type { ClusterSource } from '../base/connection.ts'
import type { ServerPeriod } from './control/control-loop.ts'
import { Coverage, type Covered, type Expected } from './coverage.ts'
import type { JobRegistry } from './state/job-registry.ts'
import type { PairJournal } from './state/pair-journal.ts'
import { type Recent, shareName, TOTAL } from './state/recent.ts'
import { ruleFinder, RuleMatcher } from './state/rule-matcher.ts'
import { placeOf } from '../base/service.ts'
import { policyOf, sumSample, type ClusterSums, type JobSums } from './control/sample.ts'
import { Throttling } from './throttling.ts'

/**
 * Consecutive samples of a live cluster that a server may miss, late or not due, before a run at a limit counts as
 * interrupted.
 */
const LIVE_BRIDGE = 5

/** Complete samples without an operation after which a job is idle. */
const IDLE_SAMPLES = 100
const GAP = { rpcs: null, readBps: null, writeBps: null, throttled: null } as const
const IDLE = { rpcs: 0, readBps: 0, writeBps: 0, throttled: 0 } as const

export class SampleStore {
  readonly #source: ClusterSource
  readonly #recent: Recent
  readonly #jobs: JobRegistry
  readonly #history: History
  readonly #journal: PairJournal
  readonly #throttling: Throttling
  readonly #matcher = new RuleMatcher()
  readonly #coverage: Coverage
  /** Coverage of the current sample. */
  #covered: Covered = { isWhole: true, hasAllOf: () => true }
  /** Active jobs, each with the known samples since its last operation, and whether it was seen on an MDT. */
  readonly #atWork = new Map<string, { idle: number; readonly onMetadata: boolean }>()
  /** Records as last written to the history. */
  readonly #lastRecord = new Map<string, number>()

  constructor(source: ClusterSource, recent: Recent, jobs: JobRegistry, history: History, journal: PairJournal) {
    this.#throttling = new Throttling(source.kind === 'LIVE' ? LIVE_BRIDGE : 1)
    this.#journal = journal
    this.#source = source
    this.#recent = recent
    this.#jobs = jobs
    this.#history = history
    this.#coverage = new Coverage(jobs)
  }

  /**
   * Stores sample number `sample`, taken at `atMs`, in memory.
   *
   * @param held      decisions held for servers that did not answer.
   * @param expected  targets of the cluster: while one is not measured, the totals are partial.
   */
  keep(
    sample: number,
    atMs: number,
    readings: readonly NodeReading[],
    periods: readonly ServerPeriod[],
    held: readonly ServerPeriod[],
    expected: Expected,
  ): ClusterSums {
    const seconds = this.#source.periodNs / NS_PER_S
    const sums = sumSample(readings, periods, held, (id) => this.#jobs.find(id) !== undefined)
    this.#covered = this.#coverage.of(atMs, new Set(sums.targets.map((t) => t.target)), expected)
    readings.forEach((reading, i) => {
      const period = periods[i] as ServerPeriod
      this.#recent.keepRules(placeOf(reading.host, period.service), sample, period.rulesText, policyOf(reading))
      for (const { service, rulesText } of period.others ?? []) {
        const other = reading.others.find((o) => o.service.name === service)
        this.#recent.keepRules(placeOf(reading.host, service), sample, rulesText, other ? policyOf(other) : '')
      }
      this.#limits(sample, reading, sums.jobs, seconds)
      for (const [target, { moves }] of period.reports) this.#journal.add(sample, atMs, target, moves)
    })
    this.#keepTargets(sums, seconds)
    this.#keepRecords(sums, [...periods, ...held])
    this.#keepJobs(sums, seconds, this.#measuresMetadata(readings))
    this.#keepTotals(sums, seconds)
    return sums
  }

  /**
   * Writes the sample that was stored last to the history.
   *
   * @param unread  targets that were not read.
   * @throws        if the disk does not accept it.
   */
  remember(
    atMs: number,
    sums: ClusterSums,
    readings: readonly NodeReading[],
    periods: readonly ServerPeriod[],
    controller: string,
    unread: readonly { readonly target: string; readonly node: string }[] = [],
  ): void {
    const seconds = this.#source.periodNs / NS_PER_S
    for (const p of periods) {
      this.#history.recordRules(atMs, placeOf(p.host, p.service), p.rules)
      for (const o of p.others ?? []) this.#history.recordRules(atMs, placeOf(p.host, o.service), o.rules)
      for (const d of p.decisions) {
        if (p.reports.get(d.target)?.held) continue
        this.#history.recordDecision(atMs, controller, p.host, d)
      }
    }
    const measured = new Map(sums.targets.map((t) => [t.target, t]))
    const data = readings.filter((r) => r.service.name === 'ost_io')
    const measuredNow = data.flatMap((r) =>
      r.targets.map(({ target }) => {
        const t = measured.get(target)
        return {
          target,
          node: r.host,
          rpcs: t ? t.rpcs / seconds : null,
          serviceMs: t?.serviceMs ?? null,
          queued: t === undefined || Number.isNaN(t.queued) ? null : t.queued,
        }
      }),
    )
    // Servers that did not answer get a gap: without one a chart would draw a line across.
    const gaps = unread.map((t) => ({ ...t, rpcs: null, serviceMs: null, queued: null }))
    const hasMetadata = this.#measuresMetadata(readings)
    const jobs = this.#jobSamples(sums, seconds, hasMetadata)
    const whole = this.#clusterSample(sums, seconds, hasMetadata)
    this.#history.record(atMs, jobs, [...measuredNow, ...gaps], (id) => this.factsOf(id), whole)
  }

  /** Facts of a job that is new to the history. */
  factsOf(jobId: string): JobFacts {
    const j = this.#jobs.find(jobId)
    return { jobId, user: j?.user ?? '', account: j?.account ?? '', nodes: j?.nodes ?? null }
  }

  /** Drops a job. */
  forget(jobId: string): void {
    this.#recent.dropJob(jobId)
    this.#throttling.drop(jobId)
    this.#lastRecord.delete(jobId)
    this.#atWork.delete(jobId)
  }

  /** Totals; a total with an unknown part is a gap. */
  #clusterSample({ jobs, targets, total }: ClusterSums, seconds: number, hasMetadata: boolean): ClusterSample {
    const sum = (of: (j: JobSums) => number): number => [...jobs.values()].reduce((n, j) => n + of(j), 0) / seconds
    const mdops = hasMetadata ? sum((j) => j.mdops) : null
    if (targets.length === 0 || !this.#covered.isWhole) return { mdops }
    return {
      rpcs: sum((j) => j.rpcs),
      readBps: sum((j) => j.readBytes),
      writeBps: sum((j) => j.writeBytes),
      serviceMs: total.serviceMs ?? null,
      queued: total.queued,
      rules: total.rules,
      onLoan: total.onLoan,
      mdops,
    }
  }

  #jobSamples(sums: ClusterSums, seconds: number, hasMetadata: boolean): JobSample[] {
    const out: JobSample[] = []
    for (const [jobId, j] of sums.jobs) {
      // An idle job with an unchanged record is omitted.
      const whole = this.#covered.hasAllOf(jobId)
      const isIdle =
        j.rpcs === 0 && j.mdops === 0 && j.atLimit === 0 && (hasMetadata || !this.#atWork.get(jobId)?.onMetadata)
      if (whole && isIdle && (j.record === undefined || this.#lastRecord.get(jobId) === j.record)) continue
      if (j.record !== undefined) this.#lastRecord.set(jobId, j.record)
      out.push({
        jobId,
        ...(whole ? this.#ratesOf(j, seconds) : GAP),
        record: j.record ?? null,
        mdops: hasMetadata ? j.mdops / seconds : null,
      })
    }
    // Jobs that were not read, or only partially: a gap each, while they may be active.
    for (const [jobId, { onMetadata }] of this.#atWork) {
      if (sums.jobs.has(jobId)) continue
      if (!this.#covered.hasAllOf(jobId)) out.push({ jobId, ...GAP, record: null, mdops: null })
      else if (onMetadata && !hasMetadata) out.push({ jobId, ...IDLE, record: null, mdops: null })
    }
    return out
  }

  #ratesOf(j: JobSums, seconds: number): Omit<JobSample, 'jobId' | 'record' | 'mdops'> {
    return {
      rpcs: j.rpcs / seconds,
      readBps: j.readBytes / seconds,
      writeBps: j.writeBytes / seconds,
      throttled: j.servers > 0 ? j.atLimit / j.servers : 0,
    }
  }

  /** Tracks active jobs, as far as they are known. */
  #followWork({ jobs }: ClusterSums, hasMetadata: boolean): void {
    for (const [id, j] of jobs) {
      if (j.rpcs === 0 && j.mdops === 0) continue
      const work = this.#atWork.get(id)
      this.#atWork.set(id, { idle: 0, onMetadata: j.mdops > 0 || work?.onMetadata === true })
    }
    for (const [id, work] of this.#atWork) {
      const j = jobs.get(id)
      if (j && (j.rpcs > 0 || j.mdops > 0)) continue
      if (!this.#covered.hasAllOf(id) || (work.onMetadata && !hasMetadata)) continue
      if (++work.idle > IDLE_SAMPLES) this.#atWork.delete(id)
    }
  }

  /** Determines the jobs that run at their rule's limit on one server, and the rates of their rules. */
  #limits(sample: number, reading: NodeReading, now: ReadonlyMap<string, JobSums>, seconds: number): void {
    if (reading.service.name !== 'ost_io') return
    // A base reading has no served RPCs.
    if (reading.targets.some((t) => t.deltas === undefined)) return
    const ruleOf = ruleFinder(reading.rules, this.#matcher, policyOf(reading))
    const served = new Map<string, number>()
    for (const t of reading.targets) {
      for (const d of t.deltas ?? []) served.set(d.jobId, (served.get(d.jobId) ?? 0) + d.rpcs * t.scale)
    }
    for (const [id, j] of now) {
      const rule = ruleOf(id)
      if (!rule) continue
      j.allowed += rule.rate
      j.servers++
      if (this.#throttling.sample(sample, reading.host, id, served.get(id) ?? 0, rule.rate * seconds)) j.atLimit++
    }
  }

  #keepTargets(sums: ClusterSums, seconds: number): void {
    const { raw, shares } = this.#recent
    for (const t of sums.targets) {
      const rate = t.rpcs / seconds
      raw.targets.set(t.target, rate, t.serviceMs ?? NaN, t.queued, rate / this.#source.maxRate)
      for (const s of t.shares) {
        const demand = s.demand === undefined ? NaN : s.demand / seconds
        shares.set(shareName(s.jobId, t.target), s.rpcs / seconds, s.tokens ?? NaN, s.record ?? NaN, demand)
      }
    }
  }

  /** Carries over the records of jobs that were idle on a target, or whose target was not measured. */
  #keepRecords({ targets }: ClusterSums, periods: readonly ServerPeriod[]): void {
    const measured = new Map(targets.map((t) => [t.target, new Set(t.shares.map((s) => s.jobId))]))
    for (const { target, records } of periods.flatMap((p) => p.decisions)) {
      const done = measured.get(target)
      for (const [jobId, record] of records) {
        if (done?.has(jobId) || (record === 0 && !this.#jobs.find(jobId))) continue
        this.#recent.shares.set(shareName(jobId, target), done ? 0 : NaN, NaN, record, NaN)
      }
    }
  }

  /** True if every MDS was measured: operations on some of them are not a job's total. */
  #measuresMetadata(readings: readonly NodeReading[]): boolean {
    const measured = readings
      .filter((r) => r.service.name === 'mdt' && r.targets.every((t) => t.deltas !== undefined))
      .map((r) => r.host)
    return this.#source.nodes.every((n) => !n.roles.includes('mds') || measured.includes(n.host))
  }

  #keepJobs(sums: ClusterSums, seconds: number, hasMetadata: boolean): void {
    const { jobParts } = this.#recent
    const { jobs } = this.#recent.raw
    const covered = this.#covered
    this.#followWork(sums, hasMetadata)
    const metadata = (n: number): number => (hasMetadata ? n / seconds : NaN)
    for (const [id, j] of sums.jobs) {
      // The rest of a job while one of its targets is not measured is not its rate: a gap, with the measured part
      // beside it. Its record is not measured and stays.
      if (!covered.hasAllOf(id)) {
        if (j.rpcs > 0) jobParts.set(id, j.rpcs / seconds, j.readBytes / seconds, j.writeBytes / seconds)
        if (j.record !== undefined) jobs.set(id, NaN, NaN, NaN, NaN, j.record, NaN, NaN, NaN, NaN)
        continue
      }
      const rate = (n: number | undefined): number => (n === undefined ? NaN : n / seconds)
      const throttled = j.servers > 0 ? j.atLimit / j.servers : 0
      const bytes = [j.readBytes / seconds, j.writeBytes / seconds] as const
      const demand = rate(j.demand)
      const given = rate(j.tokens)
      const mdops = metadata(j.mdops)
      jobs.set(id, j.rpcs / seconds, ...bytes, throttled, j.record ?? NaN, j.allowed, mdops, demand, given)
    }
    // A known job without an RPC was idle, unless a target that it uses was not measured.
    for (const j of this.#jobs.all) {
      if (sums.jobs.has(j.jobId) || !covered.hasAllOf(j.jobId)) continue
      jobs.set(j.jobId, 0, 0, 0, 0, NaN, 0, metadata(0), NaN, NaN)
    }
  }

  #keepTotals({ jobs, targets, total }: ClusterSums, seconds: number): void {
    const sum = (of: (j: JobSums) => number): number => [...jobs.values()].reduce((n, j) => n + of(j), 0) / seconds
    if (targets.length === 0) return
    const rpcs = sum((j) => j.rpcs)
    // A total has a gap if a part is unknown; the known part is stored beside it.
    const table = this.#covered.isWhole ? this.#recent.raw.totals : this.#recent.partials
    table.set(
      TOTAL,
      sum((j) => j.readBytes),
      sum((j) => j.writeBytes),
      rpcs,
      total.serviceMs ?? NaN,
      total.queued,
      rpcs / (targets.length * this.#source.maxRate),
      total.rules,
      total.onLoan,
      total.lent,
      total.borrowed,
    )
  }
}
