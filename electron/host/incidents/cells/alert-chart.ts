/** The chart of what alerted, with the level that it was measured against where that is in the unit of the chart. */
import { formatNumber } from '#core/base/figure-text.ts'
import type { ChartCell, Incident } from '#core/snapshot/notebook.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import { jobChart, locksChart, serverQueueChart, targetsChart, type NewChart } from './charts.ts'
import type { Standpoint } from './standpoint.ts'
import type { StretchMs } from './stretch.ts'

/** What opened an incident, and the threshold of its rule. */
export interface AlertGiven {
  readonly alert: NonNullable<Incident['alert']>
  readonly threshold: number | undefined
}

/** As the rule of queues has it: the median of so long before, and at least so many RPCs. */
const USUAL_MS = 900_000
const QUEUE_LEAST = 64

/** So many times the median of the queue of a server before an instant. */
function queueLimit(stand: Standpoint, reader: HistoryReader, { alert, threshold }: AlertGiven): ChartCell['limit'] {
  if (threshold === undefined) return null
  const before = { fromMs: Math.max(0, alert.atMs - USUAL_MS), toMs: alert.atMs }
  const known = serverQueueChart(stand, reader, before, alert.where)?.series[0]?.values.filter((v) => v !== null) ?? []
  if (known.length === 0) return null
  known.sort((a, b) => a - b)
  const value = Math.max(QUEUE_LEAST, threshold * (known[known.length >> 1] as number))
  return { value, label: `alert from ${formatNumber(value)}` }
}

/** undefined where what alerted is not kept as samples. */
export function alertChart(
  stand: Standpoint,
  reader: HistoryReader,
  span: StretchMs,
  given: AlertGiven,
): NewChart | undefined {
  const { alert, threshold } = given
  switch (alert.kind) {
    case 'queue':
      return serverQueueChart(stand, reader, span, alert.where, queueLimit(stand, reader, given))
    case 'starvation':
      return jobChart(stand, reader, span, 'rpcs', alert.where)
    case 'convoy': {
      const limit = threshold === undefined ? null : { value: threshold, label: `alert from ${threshold}` }
      return locksChart(stand, reader, span, limit)
    }
    case 'disconnect': {
      // What a server that is silent did not tell is a gap.
      const own = reader.allTargets().filter((t) => t.node === alert.where)
      return own.length > 0 ? targetsChart(stand, reader, span, 'rpcs', own) : undefined
    }
    case 'reservation':
      return undefined
  }
}
