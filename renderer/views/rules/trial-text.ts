/** Texts of a trial: the jobs that a rule would match, and its effect on them. */
import type { Trial } from '#core/api/rule-edits.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatPercent, NOTHING, plural } from '../../format/units.ts'

/** Servers that report their jobs. */
export type Reported = 'all' | 'some' | 'none'

/** Formats the number of jobs: `12 jobs`; `10 to 12 jobs` if some only may match; `≥ 12 jobs` if not every server reports. */
export function jobsText(trial: Trial, reported: Reported = 'all'): string {
  if (reported === 'none') return NOTHING
  return reported === 'some' ? `\u2265 ${countText(trial)}` : countText(trial)
}
function countText({ jobCount, mayCount }: Trial): string {
  if (mayCount === 0) return plural(jobCount, 'job')
  const sure = Math.max(0, jobCount - mayCount)
  return `${formatNumber(sure)} to ${plural(jobCount, 'job')}`
}

/** Formats the limit of the jobs relative to their current rate: `−69 %`; a limit above it has no effect yet. */
export function changeText({ jobCount, rpcsNow, rpcsAfter }: Trial): string {
  if (jobCount === 0) return NOTHING
  if (rpcsAfter === null) return 'no limit'
  if (rpcsNow === 0) return 'idle'
  if (rpcsAfter >= rpcsNow) return 'within limit'
  return formatPercent(rpcsAfter / rpcsNow - 1)
}

/** Formats the change of one job. */
export const jobChange = (change: number | null): string =>
  change === null ? 'no limit' : change >= 0 ? 'within limit' : formatPercent(change)

/** Formats the first job by name, and the number of other jobs that are affected. */
export function whoText({ jobs, jobCount, otherCount }: Trial, reported: Reported = 'all'): string {
  if (reported === 'none') return 'unknown: no server reports its jobs'
  const others = `${otherCount === 0 ? 'no other job' : plural(otherCount, 'other job')} affected`
  const first = jobs[0]
  if (!first && otherCount === 0) return reported === 'some' ? 'no job on reporting servers' : 'no live job matches'
  if (!first) return others
  return `${plainText(first.jobId)}${jobCount === 1 ? '' : ` and ${formatNumber(jobCount - 1)} more`}; ${others}`
}
