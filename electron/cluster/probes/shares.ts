/** Divides the cost of a command among the probes that share it. */
import type { ByteText } from '#core/lustre/text.ts'
import { isJobStats } from '../../base/service.ts'
import type { CostStore } from './cost-store.ts'

/** Probes that one command can read. */
export type PartOfReading = 'job_stats' | 'rules' | 'stats'

/** Weight of a new figure against the older ones. */
const FRESH = 0.3

/** Recent time of each part by itself, ms. */
export class Shares {
  readonly #tookMs = new Map<PartOfReading, number>()

  add(part: PartOfReading, tookMs: number): void {
    const old = this.#tookMs.get(part)
    this.#tookMs.set(part, old === undefined ? tookMs : old + FRESH * (tookMs - old))
  }

  of(part: PartOfReading): number | undefined {
    return this.#tookMs.get(part)
  }
}

const partOf = (name: string): PartOfReading =>
  isJobStats(name) ? 'job_stats' : name.endsWith('.stats') ? 'stats' : 'rules'

/**
 * Bytes are counted per parameter; the time of a command is divided in proportion to the times of its parts by
 * themselves, or by bytes.
 */
export function readCosts(
  costs: CostStore,
  shares: Shares,
  of: {
    readonly parts: readonly PartOfReading[]
    readonly values: ReadonlyMap<string, ByteText>
    readonly bytes: number
    readonly tookMs: number
    readonly cpuMs: number | undefined
  },
): void {
  const { parts, values, bytes: total, tookMs, cpuMs } = of
  const [only] = parts
  if (parts.length === 1 && only) {
    shares.add(only, tookMs)
    costs.add(only, total, tookMs)
    if (cpuMs !== undefined) costs.addCpu(only, cpuMs)
    return
  }
  const bytes = new Map<PartOfReading, number>(parts.map((p) => [p, 0]))
  for (const [name, value] of values) {
    const part = partOf(name)
    bytes.set(part, (bytes.get(part) ?? 0) + name.length + value.length + 2)
  }
  // A streaming reader sends less than the values: what changed.
  const sum = [...bytes.values()].reduce((n, b) => n + b, 0)
  const sent = sum > total ? total / sum : 1
  const weights = parts.map((p) => shares.of(p) ?? NaN)
  const isKnown = weights.every((w) => w > 0)
  const weight = (i: number, p: PartOfReading): number => (isKnown ? (weights[i] ?? 0) : (bytes.get(p) ?? 0) + 1)
  const all = parts.reduce((n, p, i) => n + weight(i, p), 0)
  parts.forEach((p, i) => costs.add(p, (bytes.get(p) ?? 0) * sent, (tookMs * weight(i, p)) / all))
}
