/**
 * Scheduler of the probes of one cluster: probes that are on, due times per server, and slow-downs. Together they have
 * a budget of bytes per second; above it, the most expensive probe is read half as often, repeatedly, until the total
 * fits, with a note.
 */
import type { ProbeId } from '#core/api/clusters.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { isLustreServer, type ClusterSource } from '../../base/connection.ts'
import { CostStore, type CostSeries } from './cost-store.ts'
import { Shares } from './shares.ts'
import { PROBES, usualS, type Probe, type ProbeStatus } from './probe.ts'

/** Budget per server, bytes/s. */
export const DEFAULT_BUDGET = 100_000
/** Longest interval that a probe is slowed down to, s. */
const SLOWEST_S = 60
/** Longest interval, s; for probes with long intervals anyway, eight times the usual one. */
const slowestOf = (usual: number): number => (usual < SLOWEST_S ? SLOWEST_S : 8 * usual)
/** A slowed probe is sped up again if the total would then stay below this part of the budget. */
const EASE = 0.7

const kb = (bytes: number): string => `${Math.round(bytes / 1000)} KB/s`

export class ProbeScheduler {
  readonly #source: ClusterSource
  readonly #on: Set<ProbeId>
  readonly #available: readonly Probe[]
  /** Number of times that the interval was doubled. */
  readonly #doubled = new Map<ProbeId, number>()
  readonly #notes = new Map<ProbeId, string>()
  readonly #why = new Map<ProbeId, string>()
  /** Due time by probe and server, and time of the last reading. */
  readonly #next = new Map<string, number>()
  readonly #taken = new Map<string, number>()
  readonly costs = new CostStore()
  /** Times of the single parts of a command, from any server that was measured. */
  readonly shares = new Shares()
  readonly budgetBytesPerSec: number
  /** Points until a change shows in the figures. */
  #settle = 0
  /** True for probes that must be read at every sample now. */
  readonly #isHeld: (id: ProbeId) => boolean

  /** @param isHeld  true for a probe that may not be slowed down now: enforced rules are read back. */
  constructor(
    source: ClusterSource,
    options: {
      readonly off?: readonly ProbeId[] | undefined
      readonly budgetBytesPerSec?: number | undefined
      readonly isHeld?: (id: ProbeId) => boolean
    } = {},
  ) {
    this.#source = source
    const roles = new Set(source.nodes.flatMap((n) => n.roles))
    this.#available = PROBES.filter((p) =>
      p.id === 'batch' ? roles.has('scheduler') : roles.has('oss') || roles.has('mds'),
    )
    this.#on = new Set(this.#available.map((p) => p.id).filter((id) => !options.off?.includes(id)))
    const servers = source.nodes.filter(isLustreServer).length
    this.budgetBytesPerSec = options.budgetBytesPerSec ?? DEFAULT_BUDGET * Math.max(1, servers)
    this.#isHeld = options.isHeld ?? (() => false)
  }

  has(id: ProbeId): boolean {
    return this.#available.some((p) => p.id === id)
  }

  isOn(id: ProbeId): boolean {
    return this.#on.has(id)
  }

  set(id: ProbeId, on: boolean): void {
    if (!this.has(id)) return
    if (on) this.#on.add(id)
    else this.#on.delete(id)
    this.#doubled.delete(id)
    this.#why.delete(id)
    for (const key of [...this.#next.keys()]) if (key.startsWith(`${id} `)) this.#next.delete(key)
  }

  /** Sets an additional note of a probe; an empty text clears it. */
  note(id: ProbeId, text: string): void {
    if (text === '') this.#notes.delete(id)
    else this.#notes.set(id, text)
  }

  everyS(id: ProbeId): number {
    const probe = PROBES.find((p) => p.id === id)
    if (!probe) return 0
    const usual = usualS(probe, this.#source)
    return this.#isHeld(id) ? usual : Math.min(slowestOf(usual), usual * 2 ** (this.#doubled.get(id) ?? 0))
  }

  #isSlowable(id: ProbeId): boolean {
    const probe = PROBES.find((p) => p.id === id)
    return probe !== undefined && !this.#isHeld(id) && this.everyS(id) < slowestOf(usualS(probe, this.#source))
  }

  /**
   * True if a server is due now; this schedules its next time.
   *
   * @param ownNs  control period of a server with its own clock: probes of every sample are due in each of its periods.
   */
  takeDue(id: ProbeId, host: string, atNs: number, ownNs?: number): boolean {
    if (!this.isOn(id)) return false
    if (ownNs !== undefined && PROBES.some((p) => p.id === id && p.everyS.LIVE === 0)) {
      this.#next.set(`${id} ${host}`, atNs + ownNs)
      this.#taken.set(`${id} ${host}`, atNs)
      return true
    }
    const everyNs = this.everyS(id) * NS_PER_S
    const key = `${id} ${host}`
    const next = this.#next.get(key)
    // Ticks of a wall clock are never exactly on time.
    const early = this.#source.kind === 'LIVE' ? this.#source.periodNs / 2 : 0
    if (next !== undefined && atNs < next - early && next - atNs <= everyNs) return false
    this.#next.set(key, atNs + everyNs)
    this.#taken.set(key, atNs)
    return true
  }

  /** Makes a probe due at the next tick, but not before `leastS` have passed on that server since the last time. */
  hurry(id: ProbeId, host: string, atNs: number, leastS: number): void {
    const key = `${id} ${host}`
    const next = this.#next.get(key)
    const taken = this.#taken.get(key)
    if (next === undefined || taken === undefined) return
    this.#next.set(key, Math.min(next, Math.max(atNs, taken + leastS * NS_PER_S)))
  }

  /** Advances the clock of the costs, and checks the budget when a point is complete. */
  advance(wallMs: number, atMs: number): void {
    if (!this.costs.advance(wallMs, atMs) || this.#source.kind !== 'LIVE') return
    if (this.#settle > 0) this.#settle--
    else this.#weigh()
  }

  get list(): ProbeStatus[] {
    return this.#available.map(({ id, label }) => {
      const { bytesPerSec, serverMsPerSec, cpuMsPerSec } = this.costs.cost(id)
      const note = [this.#why.get(id), this.#notes.get(id)].filter((t) => t !== undefined).join('; ')
      const on = this.isOn(id)
      return {
        id,
        label,
        on,
        bytesPerSec,
        serverMsPerSec,
        serverCpuMsPerSec: cpuMsPerSec,
        everyS: this.everyS(id),
        note: on ? note : '',
      }
    })
  }

  get series(): CostSeries {
    return this.costs.series()
  }

  #weigh(): void {
    const costs = this.#available
      .filter((p) => this.isOn(p.id))
      .map(({ id }) => ({ id, bytes: this.costs.cost(id).bytesPerSec, doubled: this.#doubled.get(id) ?? 0 }))
    const total = costs.reduce((n, c) => n + c.bytes, 0)
    if (total > this.budgetBytesPerSec) {
      const slowable = costs.filter((c) => this.#isSlowable(c.id))
      const worst = slowable.sort((a, b) => b.bytes - a.bytes)[0]
      if (!worst) return
      this.#doubled.set(worst.id, worst.doubled + 1)
      this.#why.set(
        worst.id,
        `throttled: all probes together used ${kb(total)}, over the budget of ${kb(this.budgetBytesPerSec)}`,
      )
      this.#settle = 2
      return
    }
    const slowed = costs.filter((c) => c.doubled > 0).sort((a, b) => a.bytes - b.bytes)[0]
    if (!slowed || total + slowed.bytes > EASE * this.budgetBytesPerSec) return
    if (slowed.doubled === 1) {
      this.#doubled.delete(slowed.id)
      this.#why.delete(slowed.id)
    } else this.#doubled.set(slowed.id, slowed.doubled - 1)
    this.#settle = 2
  }
}
