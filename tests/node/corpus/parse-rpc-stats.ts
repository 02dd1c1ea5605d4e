/** Reads rpc_stats of clients, for tests of what emulated clients print. The console reads no client. */
import { parseHistogramRow, type HistogramRow } from '#core/lustre/histogram.ts'
import { GAUGES, type Gauge, type RpcStats } from '#core/lustre/rpc-stats.ts'
import { parseTimesLine, type StatsTimes } from '#core/lustre/stats-times.ts'
import type { ByteText, SkippedLine } from '#core/lustre/text.ts'

const GAUGE =
  /^(read RPCs in flight|write RPCs in flight|DIO RPCs in flight|pending write pages|pending read pages): +(\d+)$/
const MODIFY = /^modify_RPCs_in_flight: +(\d+)$/
const SINGLE_HEAD = /^rpcs in flight +rpcs +%%? cum %%?$/
const HEAD = /^(\S.*?) +(rpcs|count) +%%? cum %%? \| +\2 +%%? cum %%?$/

/** Reads rpc_stats of an osc or mdc of any release; unreadable lines are named and skipped. */
export function parseRpcStats(text: ByteText): RpcStats & { readonly skipped: readonly SkippedLine[] } {
  const times: { -readonly [K in keyof StatsTimes]: StatsTimes[K] } = { snapshot: '' }
  const gauges: Partial<Record<Gauge, number>> = {}
  const sections: { title: string; unit: string; rows: HistogramRow[] }[] = []
  const skipped: SkippedLine[] = []
  let modify: { inFlight: number; rows: { label: string; count: number }[] } | undefined
  const take = (line: string): boolean => {
    if (line === '' || /^\t+read\t+write$/.test(line) || /^\t+modify$/.test(line) || SINGLE_HEAD.test(line)) return true
    const gauge = GAUGE.exec(line)
    if (gauge) {
      const found = Object.entries(GAUGES).find(([, words]) => words.trimEnd() === `${gauge[1]}:`)
      gauges[found?.[0] as Gauge] = Number(gauge[2])
      return true
    }
    const mods = MODIFY.exec(line)
    if (mods) {
      modify = { inFlight: Number(mods[1]), rows: [] }
      return true
    }
    const head = HEAD.exec(line)
    if (head) {
      sections.push({ title: head[1] as string, unit: head[2] as string, rows: [] })
      return true
    }
    const row = parseHistogramRow(line)
    if (row) {
      const section = sections.at(-1)
      if (section && row.write !== undefined) section.rows.push({ label: row.label, read: row.read, write: row.write })
      else if (modify && !section && row.write === undefined) modify.rows.push({ label: row.label, count: row.read })
      else return false
      return true
    }
    const time = parseTimesLine(line)
    if (!time) return false
    times[time.field] = time.time
    return true
  }
  text.split('\n').forEach((line, i) => {
    if (!take(line)) skipped.push({ line: i + 1, reason: 'neither a time nor a count nor a section nor a row of one' })
  })
  return { times, modify, gauges, sections, skipped }
}
