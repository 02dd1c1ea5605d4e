/**
 * Control periods of the servers of a live cluster, each by its own clock: a reading that arrives is decided and written at once, without
 * waiting for another server or for a sample. Samples take the sums (`ReadingSum`, `PeriodSum`).
 *
 * A server has its own clock while a controller decides for it and its streaming reader reads; otherwise it is read and controlled with the
 * samples. A server that is still being read or written misses its deadline, and a period that it cannot keep up with becomes longer.
 */
import { formatNumber, plural } from '#core/base/figure-text.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import { PeriodClock, PeriodIntervals, type Punctuality } from '#core/control/period-clock.ts'
import type { PeriodTimes, ServerPeriodFrame } from '#core/api/periods.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import type { NodeReading } from '../read/collector.ts'
import type { ClusterReader } from '../read/cluster-reader.ts'
import { SamplingPeriod } from '../read/sampling-period.ts'
import type { ServerReader } from '../read/server-reader.ts'
import type { EventLog } from '../state/event-log.ts'
import type { JobRegistry } from '../state/job-registry.ts'
import type { ControlLoop, ServerPeriod } from './control-loop.ts'
import { PeriodSum } from './period-sum.ts'

/** Timers may fire this much early, ms. */
const EARLY_MS = 1
/** Shortest time between two events about missed deadlines of a server, ms. */
const MISSED_EVERY_MS = 60_000
/** Weight of a new duration against the older ones. */
const FRESH = 0.2
/** Deadlines further back than this passed while this machine was suspended, ms: they were not missed. */
const SUSPENDED_MS = 30_000
/** Time with the samples after a server needed a period longer than theirs, ms. */
const AGAIN_MS = 60_000
/** Age of the figures that are shown, ms. */
const SHOWN_MS = 500

export interface ServerPeriodsParts {
  readonly source: ClusterSource
  readonly loop: ControlLoop
  readonly reader: ClusterReader
  readonly jobs: JobRegistry
  readonly events: EventLog
  /** Registers new jobs of a reading before it is decided. */
  readonly meet: (reading: NodeReading, atNs: number) => void
  /** Reports a program error of a period in the next sample. */
  readonly onFault: (e: unknown) => void
}

type Phase = 'read' | 'written'

/** One server. */
class OwnPeriods {
  readonly node: NodeConnection
  readonly server: ServerReader
  /** Position among the servers as a part of all: spreads the deadlines over the period. */
  readonly phase: number
  pace: SamplingPeriod
  /** No own clock before this time, wall ms. */
  againMs = -Infinity
  readonly intervals = new PeriodIntervals()
  readonly sum = new PeriodSum()
  clock: PeriodClock | undefined
  timer: NodeJS.Timeout | undefined
  work: Promise<void> = Promise.resolve()
  busy: Phase | undefined
  timesMs: PeriodTimes | null = null
  #missedSince = 0
  #saidMs = -Infinity
  #shown: { readonly atMs: number; readonly punctuality: Punctuality } | undefined

  constructor(node: NodeConnection, server: ServerReader, phase: number, pace: SamplingPeriod) {
    this.node = node
    this.server = server
    this.phase = phase
    this.pace = pace
  }

  get host(): string {
    return this.node.host
  }

  /** Figures of the last minute; not computed for every frame. */
  punctuality(nowMs: number): Punctuality {
    if (!this.#shown || nowMs - this.#shown.atMs > SHOWN_MS || nowMs < this.#shown.atMs) {
      this.#shown = { atMs: nowMs, punctuality: this.intervals.at(nowMs) }
    }
    return this.#shown.punctuality
  }

  /** Counts missed deadlines. @returns  their number since the last event, if there is to be one */
  miss(nowMs: number, count: number): number {
    this.intervals.miss(nowMs, count)
    this.#missedSince += count
    if (nowMs - this.#saidMs < MISSED_EVERY_MS) return 0
    this.#saidMs = nowMs
    const missed = this.#missedSince
    this.#missedSince = 0
    return missed
  }

  took(times: PeriodTimes): void {
    const old = this.timesMs
    const mixed = (before: number, now: number): number => before + FRESH * (now - before)
    this.timesMs = old
      ? {
          collect: mixed(old.collect, times.collect),
          decide: mixed(old.decide, times.decide),
          write: mixed(old.write, times.write),
          readBack: mixed(old.readBack, times.readBack),
        }
      : times
  }
}

export class ServerPeriods {
  readonly #parts: ServerPeriodsParts
  readonly #setMs: number
  readonly #servers: readonly OwnPeriods[]
  /** Called before each period, for what may forbid writing; undefined before the start and after the end. */
  #before: (() => void) | undefined

  /** @param controlNs  set control period; undefined if servers have no own clocks. */
  constructor(parts: ServerPeriodsParts, controlNs: number | undefined) {
    this.#parts = parts
    this.#setMs = (controlNs ?? 0) / NS_PER_MS
    const servers = controlNs === undefined ? [] : parts.reader.readersOf('ost_io')
    this.#servers = servers.map(
      ({ node, server }, i) => new OwnPeriods(node, server, i / servers.length, this.#newPace()),
    )
  }

  #newPace(): SamplingPeriod {
    return new SamplingPeriod(this.#setMs, this.#parts.source.coreShare, 'period')
  }

  /** Starts the clocks of servers that are to have one. @param before  called before each period. */
  start(before: () => void): void {
    this.#before = before
    this.look()
  }

  /** Resolves when no period is under way. From then on the servers are read with the samples. */
  async stop(): Promise<void> {
    this.#before = undefined
    for (const own of this.#servers) this.#leave(own)
    await Promise.all(this.#servers.map((own) => own.work))
  }

  /** True if any server has its own clock. */
  get isOn(): boolean {
    return this.#servers.some((own) => own.clock !== undefined)
  }

  /** Starts and stops clocks, after a sample or a choice of the operator. */
  look(): void {
    for (const own of this.#servers) {
      const isWanted = this.#refusal(own) === undefined
      if (isWanted && !own.clock) this.#enter(own)
      else if (!isWanted && own.clock) this.#leave(own)
    }
  }

  /** Sum of the periods of a server since the last call; undefined without any. */
  take(host: string): ServerPeriod | undefined {
    return this.#servers.find((own) => own.host === host)?.sum.take()
  }

  /** Control periods of the servers while a controller decides. */
  get status(): readonly ServerPeriodFrame[] {
    const { loop, source } = this.#parts
    if (loop.mode === 'observe' || loop.controller === 'none') return []
    const nowMs = performance.now()
    return this.#servers.map((own) => {
      const hasOwnClock = own.clock !== undefined
      const { setMs, runMs, why } = own.pace.now
      const period = hasOwnClock
        ? { setMs, runMs, why }
        : { setMs, runMs: source.periodNs / NS_PER_MS, why: this.#refusal(own) ?? '' }
      return { host: own.host, hasOwnClock, ...period, ...own.punctuality(nowMs), timesMs: own.timesMs }
    })
  }

  /** Reason why a server is controlled with the samples; undefined if it is to have its own clock. */
  #refusal({ host, againMs, pace }: OwnPeriods): string | undefined {
    const { loop, reader, source } = this.#parts
    if (!this.#before) return 'control periods are not started'
    // Rules are removed at the same pace.
    const isOver = loop.mode === 'observe' && loop.lease(host)?.isOpen !== true
    if (isOver || loop.controller === 'none') return 'no controller decides'
    if (reader.missing.has(host)) return 'it does not answer'
    if (source.periodNs <= this.#setMs * NS_PER_MS) return 'samples are as frequent'
    if (performance.now() < againMs) return `its period would be longer than that of the samples: ${pace.now.why}`
    return reader.reading(host, 'ost_io')?.stream ? undefined : 'its counters are read by lctl'
  }

  #enter(own: OwnPeriods): void {
    if (own.pace.now.runMs * NS_PER_MS > this.#parts.source.periodNs) own.pace = this.#newPace()
    own.server.hasOwnClock = true
    own.clock = new PeriodClock(performance.now(), own.pace.now.runMs, own.phase)
    this.#schedule(own, own.clock)
  }

  #leave(own: OwnPeriods): void {
    clearTimeout(own.timer)
    own.server.hasOwnClock = false
    own.clock = undefined
    own.intervals.interrupt()
  }

  #schedule(own: OwnPeriods, clock: PeriodClock): void {
    own.timer = setTimeout(() => this.#due(own), Math.max(0, clock.dueMs - performance.now()))
  }

  #due(own: OwnPeriods): void {
    const { clock } = own
    if (!clock) return
    const nowMs = performance.now()
    const lateMs = nowMs - clock.dueMs
    const passed = clock.pass(nowMs + EARLY_MS)
    this.#schedule(own, clock)
    if (passed === 0) return
    const isSuspended = lateMs > SUSPENDED_MS
    if (isSuspended) own.intervals.interrupt()
    const busy = own.busy ?? (own.server.isRunning ? 'read' : undefined)
    if (busy) return isSuspended ? undefined : this.#miss(own, passed, `it was still being ${busy}`)
    if (passed > 1 && !isSuspended) this.#miss(own, passed - 1, 'this console was busy')
    own.work = this.#period(own)
      .catch((e: unknown) => this.#parts.onFault(e))
      .finally(() => (own.busy = undefined))
  }

  #miss(own: OwnPeriods, count: number, why: string): void {
    const missed = own.miss(performance.now(), count)
    if (missed === 0) return
    this.#say(own, 'watch', `${plural(missed, 'control period')} missed: ${why} at the last deadline`)
  }

  #say({ host }: OwnPeriods, level: 'ok' | 'watch', text: string): void {
    const { events, source } = this.#parts
    const atMs = source.toUnixMs(source.nowNs())
    events.add({ atMs, kind: 'mode', level, subject: 'Control', text, where: host })
  }

  /** Reads, decides and writes one period of one server. */
  async #period(own: OwnPeriods): Promise<void> {
    const { source, loop, jobs } = this.#parts
    own.busy = 'read'
    this.#before?.()
    const began = performance.now()
    const result = await own.server.readPeriod(source.nowNs(), own.pace.now.runMs * NS_PER_MS)
    if (!result?.read.ok) {
      own.intervals.interrupt()
      // A failure, and a probe that is off, are the next sample's to report.
      if (own.clock) this.#leave(own)
      return
    }
    const reading = result.read.readings.find((r) => r.service.name === 'ost_io')
    if (!reading) return
    const atNs = source.nowNs()
    this.#parts.meet(reading, atNs)
    const { period, written } = loop.begin(own.node, reading, jobs, atNs)
    own.sum.add(period)
    own.intervals.end(performance.now())
    const decidedMs = performance.now()
    own.busy = 'written'
    const after = await written
    if (after) own.sum.written(after)
    const readBack = after?.readBackMs ?? 0
    own.took({
      collect: result.time.tookMs,
      decide: period.allocateMs,
      write: after ? Math.max(0, performance.now() - decidedMs - readBack) : 0,
      readBack,
    })
    this.#fit(own, { tookMs: performance.now() - began, cpuMs: result.time.cpuMs })
    // lctl starts processes on the server: not at this pace.
    if (!reading.stream && own.clock) this.#leave(own)
  }

  /** Applies the period that the server can keep up with. */
  #fit(own: OwnPeriods, time: Parameters<SamplingPeriod['add']>[1]): void {
    own.pace.add(own.host, time)
    const changed = own.pace.look(performance.now())
    if (!changed) return
    // Samples would have gaps; their own period follows what all servers can keep up with.
    if (changed.runMs * NS_PER_MS > this.#parts.source.periodNs) {
      own.againMs = performance.now() + AGAIN_MS
      if (own.clock) this.#leave(own)
    } else if (own.clock) {
      own.clock.setPeriod(changed.runMs, performance.now())
      clearTimeout(own.timer)
      this.#schedule(own, own.clock)
    }
    const every = `control period ${formatNumber(changed.runMs)} ms`
    if (changed.runMs > changed.setMs) {
      this.#say(own, 'watch', `${every} instead of ${formatNumber(changed.setMs)} ms: ${changed.why}`)
    } else this.#say(own, 'ok', `${every} again, as configured`)
  }
}
