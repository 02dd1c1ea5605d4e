/**
 * Built-in emulator as a cluster: in-process node connections, and the pace at which virtual time follows wall time.
 *
 * Sampling is driven by virtual time, which stops while a sample is taken, so a run is the same at every speed.
 */
import type { MetadataSettings } from '#core/api/padll.ts'
import { fail, ok } from '#core/base/result.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import { EmulatedCluster, type EmulatorOptions } from '#core/emulator/cluster.ts'
import type { EmulatedDataNode } from '#core/emulator/data-node.ts'
import { limitsOf } from '#core/emulator/scenario-metadata.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import type { LockWorld } from '#core/seqdlm/trace/trace.ts'
import type { ClusterSource, NodeConnection } from '../base/connection.ts'
import type { TargetCounters } from '../base/connection.ts'
import { DEFAULT_METADATA_SETTINGS } from './metadata/settings.ts'

/** Longest slice of emulation before other work runs on the thread, wall ms. */
const SLICE_MS = 12
/** Shortest and longest time between slices at speeds that keep up, wall ms. */
const REST_MS = { least: 4, most: 100 } as const
/** Events between checks of the clock. */
const EVENTS_PER_LOOK = 2_000

export class EmulatedSource implements ClusterSource {
  readonly kind = 'EMULATED'
  readonly emulator: EmulatedCluster
  readonly cluster: string
  readonly nodes: readonly NodeConnection[]
  readonly maxRate: number
  readonly periodNs: number
  #speed = 1
  #timer: NodeJS.Timeout | undefined
  #step: Promise<void> = Promise.resolve()
  #stopped = false
  #nextTickNs: number
  /** Virtual time that corresponded to a wall time when the pace last changed. */
  #anchor = { wallMs: 0, virtualNs: 0 }
  #reached = { wallMs: 0, virtualNs: 0, speed: 0 }

  /** @param reach  how its nodes are reached; directly by default. */
  constructor(
    scenario: Scenario,
    options: EmulatorOptions = {},
    reach: (node: NodeConnection) => NodeConnection = (n) => n,
  ) {
    this.emulator = new EmulatedCluster(scenario, options)
    this.cluster = scenario.cluster
    this.maxRate = scenario.control.max_rate
    this.periodNs = scenario.control.period_ms * NS_PER_MS
    this.#nextTickNs = this.periodNs
    this.nodes = this.emulator.nodes.map((node) =>
      reach({
        host: node.name,
        roles: node.roles,
        exec: async (command) => {
          if (node.isSilent) {
            return fail({ code: 'NODE_SILENT', what: `${node.name} did not answer`, why: 'injected fault' })
          }
          return ok(node.exec(command))
        },
      }),
    )
  }

  get locks(): LockWorld | undefined {
    return this.emulator.ccpfs
  }

  get dataNodes(): readonly EmulatedDataNode[] {
    return this.emulator.dataNodes
  }

  /** Internal counters of an OST in the emulator. */
  inside(target: string): TargetCounters | undefined {
    return this.emulator.osts.find((o) => o.name === target)
  }

  nowNs(): number {
    return this.emulator.sim.now
  }

  toUnixMs(ns: number): number {
    return this.emulator.epochSeconds * 1000 + ns / NS_PER_MS
  }

  /** Emulated seconds per wall second; 0 = paused. */
  get speed(): number {
    return this.#speed
  }

  setSpeed(speed: number): void {
    this.#speed = speed
    this.#anchorNow()
  }

  /** Achieved speed over the last second. */
  get achieved(): number {
    return this.#reached.speed
  }

  /** Runs to a virtual time as fast as possible, sampling on the way. */
  async runTo(endNs: number, onTick: (atNs: number) => Promise<void>): Promise<void> {
    while (this.#nextTickNs <= endNs) {
      this.emulator.sim.runUntil(this.#nextTickNs)
      await onTick(this.#nextTickNs)
      this.#nextTickNs += this.periodNs
    }
    this.emulator.sim.runUntil(endNs)
  }

  /** Follows the wall clock until `stop`. */
  start(onTick: (atNs: number) => Promise<void>): void {
    this.#anchorNow()
    const step = async (): Promise<void> => {
      let behind = false
      try {
        behind = await this.#slice(onTick)
      } catch (e) {
        // An invariant of the model failed: the emulator stops, and the data so far stay visible.
        this.#stopped = true
        process.stderr.write(`sluice: the emulator stopped: ${e instanceof Error ? e.message : String(e)}\n`)
      }
      if (this.#stopped) return
      next(behind ? 0 : this.#restMs())
    }
    const next = (ms: number): void => {
      this.#timer = setTimeout(() => (this.#step = step()), ms)
    }
    next(0)
  }

  /**
   * Runs on to the current wall time, for reads between two samples; no further than the next sample, and no longer
   * than a slice.
   */
  catchUp(): void {
    if (this.#stopped) return
    const begin = performance.now()
    const due = Math.floor(this.#anchor.virtualNs + (begin - this.#anchor.wallMs) * NS_PER_MS * this.#speed)
    const target = Math.min(due, this.#nextTickNs)
    if (this.#anchor.wallMs === 0 || target <= this.nowNs()) return
    while (!this.emulator.sim.runUntil(target, EVENTS_PER_LOOK)) if (performance.now() - begin > SLICE_MS) return
  }

  /** Stops for good; resolves when a sample in progress is done. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#step
  }

  /** Pause before the next slice, wall ms: until the next sample is due, within REST_MS. */
  #restMs(): number {
    if (this.#speed === 0) return REST_MS.most
    const dueMs = this.#anchor.wallMs + (this.#nextTickNs - this.#anchor.virtualNs) / NS_PER_MS / this.#speed
    return Math.min(REST_MS.most, Math.max(REST_MS.least, dueMs - performance.now()))
  }

  #anchorNow(): void {
    this.#anchor = { wallMs: performance.now(), virtualNs: this.nowNs() }
  }

  /** One slice of emulation; true while the wall clock is still ahead. */
  async #slice(onTick: (atNs: number) => Promise<void>): Promise<boolean> {
    const { sim } = this.emulator
    const begin = performance.now()
    const target = Math.floor(this.#anchor.virtualNs + (begin - this.#anchor.wallMs) * NS_PER_MS * this.#speed)
    this.#measure(begin)
    const pace = this.#anchor
    // A change of speed during a sample ends the slice: its target belongs to the old speed.
    while (!this.#stopped && this.#anchor === pace && sim.now < target) {
      const stopAt = Math.min(target, this.#nextTickNs)
      while (!sim.runUntil(stopAt, EVENTS_PER_LOOK)) {
        if (performance.now() - begin > SLICE_MS) return this.#fallBehind(target)
      }
      if (sim.now === this.#nextTickNs) {
        this.#nextTickNs += this.periodNs
        await onTick(sim.now)
      }
      if (performance.now() - begin > SLICE_MS) return this.#fallBehind(target)
    }
    return false
  }

  /**
   * Re-anchors the pace if it lags by over 0.25 s, so that an unreachable speed accumulates no backlog. Returns true: the
   * slice is unfinished.
   */
  #fallBehind(target: number): true {
    if (target - this.nowNs() > 0.25 * NS_PER_S * Math.max(1, this.#speed)) this.#anchorNow()
    return true
  }

  #measure(wallMs: number): void {
    const wall = wallMs - this.#reached.wallMs
    if (wall < 1000) return
    const speed = this.#reached.wallMs === 0 ? this.#speed : (this.nowNs() - this.#reached.virtualNs) / NS_PER_MS / wall
    this.#reached = { wallMs, virtualNs: this.nowNs(), speed }
  }
}

/** Initial metadata settings of a scenario; undefined if it has none. */
export function metadataSettingsOf({ control: { metadata } }: Scenario): MetadataSettings | undefined {
  if (!metadata) return undefined
  const { algorithm, epsilon, slots = null, policies } = metadata
  return { ...DEFAULT_METADATA_SETTINGS, algorithm, epsilon, slots, limits: limitsOf(metadata), policies }
}
