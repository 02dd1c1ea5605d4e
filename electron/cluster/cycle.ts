/** What one cycle of the System Stats Controller, the allocation and the Rule Management Daemon costs, as measured here. */
import type { NodeReading } from './read/collector.ts'
import type { ServerPeriod } from './control/control-loop.ts'
import { type Recent, TOTAL } from './state/recent.ts'

/**
 * Keeps the parts of the newest cycle, ms of wall time, by node and in all.
 *
 * Nodes are asked at once and wait for each other, so their times to collect overlap: in all it is the time of the longest,
 * `readMs` less what reading the answers took. What is parsed, allocated and applied comes one node after the other and adds
 * up. Source: AdapTBF IV-G, which reports about 25 ms for the three together.
 *
 * @param readMs  from the first command sent to the last answer parsed.
 */
export function keepCycle(
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
