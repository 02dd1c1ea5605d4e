/**
 * Costs of reading, by probe: bytes received, the response time of servers, and their CPU time if measured. Five
 * seconds of wall time make one point; an hour of them is kept.
 */
import type { ProbeId } from '#core/api/clusters.ts'

export const POINT_MS = 5000
const POINTS = 720
/** Points behind a displayed rate: ten seconds. */
const RATE_POINTS = 2
/** Maximum commands between two samples. */
const RECENT_MAX = 10_000
/** Measured runs behind the CPU time of a run; older ones decay. */
const CPU_RUNS = 60

interface Sums {
  runs: number
  bytes: number
  tookMs: number
}

interface Point {
  /** Start, wall ms. */
  readonly fromMs: number
  /** End, Unix ms; shown on the axis. */
  atMs: number
  /** Elapsed part, ms. */
  spanMs: number
  readonly probes: Map<ProbeId, Sums>
}

export interface CostSeries {
  readonly t: number[]
  readonly bytesPerSec: (number | null)[]
  readonly serverMsPerSec: (number | null)[]
}

export interface ProbeCost {
  readonly bytesPerSec: number
  readonly serverMsPerSec: number
  readonly cpuMsPerSec: number | null
}

const NO_SUMS: Sums = { runs: 0, bytes: 0, tookMs: 0 }

export class CostStore {
  readonly #points: Point[] = []
  #recent: { bytes: number; tookMs: number }[] = []
  readonly #cpu = new Map<ProbeId, { ms: number; runs: number }>()

  /** Advances the clock; returns true if a point was completed. */
  advance(wallMs: number, atMs: number): boolean {
    const last = this.#points.at(-1)
    if (last && wallMs - last.fromMs < POINT_MS) {
      last.spanMs = wallMs - last.fromMs
      last.atMs = atMs
      return false
    }
    if (last) last.spanMs = Math.max(POINT_MS, wallMs - last.fromMs)
    this.#points.push({ fromMs: wallMs, atMs, spanMs: 0, probes: new Map() })
    if (this.#points.length > POINTS + 1) this.#points.shift()
    return last !== undefined
  }

  /** Adds one command of a probe, or its part of one. */
  add(id: ProbeId, bytes: number, tookMs: number): void {
    if (this.#recent.length < RECENT_MAX) this.#recent.push({ bytes, tookMs })
    const point = this.#points.at(-1)
    if (!point) return
    const sums = point.probes.get(id) ?? { runs: 0, bytes: 0, tookMs: 0 }
    point.probes.set(id, sums)
    sums.runs++
    sums.bytes += bytes
    sums.tookMs += tookMs
  }

  /** Entries added since the last call. */
  takeRecent(): readonly { readonly bytes: number; readonly tookMs: number }[] {
    const recent = this.#recent
    this.#recent = []
    return recent
  }

  /** Adds the CPU time of one run. Clocks tick in 10 ms: only the mean of many runs is meaningful. */
  addCpu(id: ProbeId, ms: number): void {
    const c = this.#cpu.get(id) ?? { ms: 0, runs: 0 }
    const keep = c.runs >= CPU_RUNS ? (CPU_RUNS - 1) / CPU_RUNS : 1
    this.#cpu.set(id, { ms: c.ms * keep + ms, runs: c.runs * keep + 1 })
  }

  /** Cost of one probe over the last ten seconds, including the current point only if there is no other. */
  cost(id: ProbeId): ProbeCost {
    const full = this.#points.slice(-1 - RATE_POINTS, -1)
    const points = full.length > 0 ? full : this.#points.slice(-1)
    const seconds = points.reduce((s, p) => s + p.spanMs, 0) / 1000
    if (seconds === 0) return { bytesPerSec: 0, serverMsPerSec: 0, cpuMsPerSec: null }
    const all = points.map((p) => p.probes.get(id) ?? NO_SUMS)
    const sum = (of: (s: Sums) => number): number => all.reduce((n, s) => n + of(s), 0) / seconds
    const cpu = this.#cpu.get(id)
    const perSec = sum((s) => s.runs)
    return {
      bytesPerSec: sum((s) => s.bytes),
      serverMsPerSec: sum((s) => s.tookMs),
      cpuMsPerSec: cpu ? (cpu.ms / cpu.runs) * perSec : null,
    }
  }

  /** All probes together, one value per point; null if nothing was read. */
  series(): CostSeries {
    const out: CostSeries = { t: [], bytesPerSec: [], serverMsPerSec: [] }
    let endMs: number | undefined
    for (const p of this.#points.slice(0, -1)) {
      // A suspended machine has no points there: the line must be interrupted.
      if (p.spanMs > 3 * POINT_MS) {
        out.t.push(endMs ?? p.atMs)
        out.bytesPerSec.push(null)
        out.serverMsPerSec.push(null)
      }
      endMs = p.atMs
      const all = [...p.probes.values()]
      const perSec = (n: number): number | null => (all.length === 0 ? null : (n / p.spanMs) * 1000)
      out.t.push(p.atMs)
      out.bytesPerSec.push(perSec(all.reduce((n, s) => n + s.bytes, 0)))
      out.serverMsPerSec.push(perSec(all.reduce((n, s) => n + s.tookMs, 0)))
    }
    return out
  }
}
