/** Totals of the jobs table as text, by column. The balance, whose sum is to be zero, is not among them. */
import { computed, type ComputedRef } from 'vue'
import type { JobsFrame } from '#core/api/frames.ts'
import { useReporting } from '../../composables/reporting.ts'
import { formatNumber, formatPercent, plural } from '../../format/units.ts'
import { megabytes } from './rows.ts'

export function useJobTotals(frame: () => JobsFrame): ComputedRef<Readonly<Record<string, string>>> {
  const { total: ofReporting } = useReporting()
  return computed(() => {
    const { nodes, rpcs, readBps, writeBps, mdops, throttled, rules, partial } = frame().totals
    /** Marked as a lower bound if a part was not measured. */
    const total = (figure: string): string => {
      const text = ofReporting(figure)
      return partial === true && text === figure && /\d/.test(figure) ? `\u2265 ${figure}` : text
    }
    return {
      nodes: formatNumber(nodes),
      rpcs: total(formatNumber(rpcs)),
      readBps: total(megabytes(readBps)),
      writeBps: total(megabytes(writeBps)),
      mdops: total(formatNumber(mdops)),
      throttled: formatPercent(throttled),
      rule: plural(rules, 'rule'),
    }
  })
}
