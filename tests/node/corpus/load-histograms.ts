/** Histograms of a recorded answer, put into those of the emulated machine with their very counts. */
import { parseBrwStats, type BrwQuantity } from '#core/lustre/brw-stats.ts'
import { BIN_LABELS, type HistogramRow } from '#core/lustre/histogram.ts'
import type { RpcQuantity } from '#core/lustre/rpc-stats.ts'
import { parseRpcStats } from './parse-rpc-stats.ts'
import type { BrwHistograms, RpcHistograms } from '#core/emulator/io-histograms.ts'

type Sides = Record<'read' | 'write', Map<number, number>>
type Labels = (bin: number) => string

const BINS = 32

function sidesOf(rows: readonly HistogramRow[], labels: Labels): Sides {
  const sides: Sides = { read: new Map(), write: new Map() }
  for (let bin = 0; bin < BINS; bin++) {
    const row = rows.find((r) => r.label === labels(bin))
    if (row && row.read > 0) sides.read.set(bin, row.read)
    if (row && row.write > 0) sides.write.set(bin, row.write)
  }
  return sides
}

const { number, power, shortPower, zeroAndPowers } = BIN_LABELS

const RPC_SECTIONS: Readonly<Record<string, readonly [RpcQuantity, Labels]>> = {
  'pages per rpc': ['pages', power],
  'rpcs in flight': ['inFlight', number],
  offset: ['offset', zeroAndPowers],
  'RPC latency (us)': ['latencyUs', zeroAndPowers],
}

const BRW_SECTIONS: Readonly<Record<string, readonly [BrwQuantity, Labels]>> = {
  'pages per bulk r/w': ['pages', shortPower],
  'discontiguous pages': ['discontiguousPages', number],
  'disk I/Os in flight': ['inFlight', number],
  'I/O time (1/1000s)': ['timeMs', shortPower],
  'disk I/O size': ['sizeBytes', shortPower],
  'block maps msec': ['mapMs', shortPower],
}

export function loadRpcStats(histograms: RpcHistograms, text: string): void {
  const { sections, modify } = parseRpcStats(text)
  const counts = histograms.counts as Map<RpcQuantity, Sides>
  for (const { title, rows } of sections) {
    const [quantity, labels] = RPC_SECTIONS[title] ?? []
    if (quantity && labels) counts.set(quantity, sidesOf(rows, labels))
  }
  const modifying = histograms.modifyCounts as Map<number, number>
  for (const { label, count } of modify?.rows ?? []) if (count > 0) modifying.set(Number(label), count)
}

export function loadBrwStats(histograms: BrwHistograms, text: string): void {
  const counts = histograms.counts as Map<BrwQuantity, Sides>
  for (const { title, rows } of parseBrwStats(text).sections) {
    const [quantity, labels] = BRW_SECTIONS[title] ?? []
    if (quantity && labels) counts.set(quantity, sidesOf(rows, labels))
  }
}
