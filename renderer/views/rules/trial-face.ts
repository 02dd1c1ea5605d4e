/** How many jobs a rule would bind, and what that does to them, in few words. */
import type { Trial } from '#core/api/rule-edits.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatPercent, NOTHING, plural } from '../../format/units.ts'

/** Whose jobs were read: of servers that do not report nothing is known. */
export type Reported = 'all' | 'some' | 'none'

/** `12 jobs`, `10 to 12 jobs` where some only may come under it; `≥ 12 jobs` where not every server reports. */
export function jobsText(trial: Trial, reported: Reported = 'all'): string {
  if (reported === 'none') return NOTHING
  return reported === 'some' ? `\u2265 ${countText(trial)}` : countText(trial)
}
function countText({ jobCount, mayCount }: Trial): string {
  if (mayCount === 0) return plural(jobCount, 'job')
  const sure = Math.max(0, jobCount - mayCount)
  return sure === 0 ? `${plural(jobCount, 'job')} may` : `${formatNumber(sure)} to ${plural(jobCount, 'job')}`
}

/** What the jobs can reach against what they do now: `−69 %`; a limit above it changes nothing yet. */
export function changeText({ jobCount, rpcsNow, rpcsAfter }: Trial): string {
  if (jobCount === 0) return NOTHING
  if (rpcsAfter === null) return 'no limit'
  if (rpcsNow === 0) return 'idle now'
  if (rpcsAfter >= rpcsNow) return 'room left'
  return formatPercent(rpcsAfter / rpcsNow - 1)
}

/** The same of one job. */
export const jobChange = (change: number | null): string =>
  change === null ? 'no limit' : change >= 0 ? 'room left' : formatPercent(change)

/** The first job by name, and whether anybody else is touched. */
export function whoText({ jobs, jobCount, otherCount }: Trial, reported: Reported = 'all'): string {
  if (reported === 'none') return 'not known: no server reports its jobs'
  const others = otherCount === 0 ? 'no other' : plural(otherCount, 'other')
  const first = jobs[0]
  if (!first && otherCount === 0)
    return reported === 'some' ? 'no job of the servers that report' : 'no live job comes under it'
  if (!first) return `${others} touched`
  return jobCount === 1 ? `${plainText(first.jobId)}, ${others}` : `${plainText(first.jobId)} first, ${others}`
}
