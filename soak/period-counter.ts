/** Counts the periods of a run: samples taken, and for each target whether it was measured and decided. */
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { PeriodReport } from '#core/adaptbf/controller.ts'
import type { ClusterMonitor } from '#electron/cluster/monitor.ts'
import { LATE_MS } from './judge.ts'
import type { SoakRecord, TargetPeriods } from './record.ts'

/** Maximum number of late samples and missed periods that are listed. */
const NAMED = 50
const RPCS = 0

/** True if a server could not be measured at some time in a range of the source's clock. */
type Blind = (host: string, fromNs: number, toNs: number) => boolean

interface Count {
  readonly node: string
  expected: number
  sampled: number
  decided: number
  excused: number
  readonly missed: number[]
  report: PeriodReport | undefined
}

export class PeriodCounter {
  readonly #monitor: ClusterMonitor
  readonly #isBlind: Blind
  readonly #speed: number | null
  readonly #targets = new Map<string, Count>()
  readonly #displaced: number[] = []
  readonly #late: { atS: number; byMs: number }[] = []
  readonly #unknown = new Set<string>()
  readonly #planAt = new Map<string, number>()
  #plans = 0
  #sample = 0
  #taken = 0
  #atMs = NaN
  #wallMs = NaN

  /** @param speed  emulated seconds per wall second; null: unpaced. */
  constructor(monitor: ClusterMonitor, speed: number | null, isBlind: Blind) {
    this.#monitor = monitor
    this.#speed = speed
    this.#isBlind = isBlind
  }

  /** Counts new periods; called by the monitor's listener after every sample. */
  look(): void {
    const { recent, sample, source } = this.#monitor
    if (sample === this.#sample) return
    const periodMs = source.periodNs / NS_PER_MS
    const atMs = recent.raw.totals.atMs(sample)
    const atS = Math.round((atMs - source.toUnixMs(0)) / 1000)
    this.#taken += sample - this.#sample
    if (sample - this.#sample !== 1 || (this.#sample > 0 && Math.abs(atMs - this.#atMs - periodMs) > 0.5)) {
      this.#displaced.push(atS)
    }
    this.#sample = sample
    this.#atMs = atMs
    this.#lookAtClock(atS, periodMs)
    for (const { target, node } of this.#monitor.targets) this.#lookAt(target, node, sample, atS)
    for (const host of this.#monitor.servers) this.#plan(host, this.#monitor.loop.outcome(host))
    for (const host of this.#monitor.serversOf('mdt')) {
      for (const service of ['mdt', 'mdt_readpage']) {
        this.#plan(`${host} ${service}`, this.#monitor.metadata.outcome(host, service))
      }
    }
  }

  counts(): Pick<SoakRecord, 'targets' | 'late' | 'plans'> & { taken: number; displaced: readonly number[] } {
    const targets = [...this.#targets].map(([target, c]): TargetPeriods => {
      const { expected, sampled, decided, excused, missed } = c
      return { target, expected, sampled, decided, excused, missed }
    })
    const late = this.#late.sort((a, b) => b.byMs - a.byMs).slice(0, NAMED)
    const plans = { sent: this.#plans, unknown: [...this.#unknown] }
    return { targets, late, plans, taken: this.#taken, displaced: this.#displaced }
  }

  #lookAtClock(atS: number, periodMs: number): void {
    const now = performance.now()
    const byMs = this.#speed === null ? NaN : now - this.#wallMs - periodMs / this.#speed
    if (byMs > LATE_MS) this.#late.push({ atS, byMs })
    this.#wallMs = now
  }

  #lookAt(target: string, node: string, sample: number, atS: number): void {
    const { recent, source, loop } = this.#monitor
    let c = this.#targets.get(target)
    if (!c)
      this.#targets.set(
        target,
        (c = { node, expected: 0, sampled: 0, decided: 0, excused: 0, missed: [], report: undefined }),
      )
    const report = loop.controllers.report(target)
    const isDecided = report !== undefined && report !== c.report && report.held === undefined
    const isSampled = !Number.isNaN(recent.raw.targets.value(target, RPCS, sample))
    c.report = report
    c.expected++
    if (isSampled) c.sampled++
    if (isDecided) c.decided++
    if (isSampled && isDecided) return
    // The first reading after a gap is a base: its rates are known a period later.
    const nowNs = source.nowNs()
    if (this.#isBlind(node, nowNs - 2.5 * source.periodNs, nowNs)) c.excused++
    else if (c.missed.length < NAMED) c.missed.push(atS)
  }

  #plan(
    place: string,
    outcome: { readonly state: string; readonly atMs: number; readonly detail: string } | undefined,
  ): void {
    if (!outcome || this.#planAt.get(place) === outcome.atMs) return
    this.#planAt.set(place, outcome.atMs)
    this.#plans++
    const atS = Math.round((outcome.atMs - this.#monitor.source.toUnixMs(0)) / 1000)
    if (outcome.state === 'unknown' && this.#unknown.size < NAMED) {
      this.#unknown.add(`${place} at ${atS} s: ${outcome.detail}`)
    }
  }
}

/** Expected number of samples of a run: the first reading is the base of all rates. */
export const samplesExpected = (seconds: number, periodMs: number): number =>
  Math.floor((seconds * NS_PER_S) / (periodMs * NS_PER_MS)) - 1
