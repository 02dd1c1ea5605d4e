/** Jobs of a metadata frame as the charts and legends take them. */
import type { MetadataFrame } from '#core/api/padll.ts'
import { largest } from '../../charts/scale.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatSpan, plural } from '../../format/units.ts'
import { jobName } from '../job-name.ts'
import { inUnit, type OpUnit } from './op-unit.ts'

export interface JobFace {
  /** Job id; empty for the rest. */
  readonly id: string
  readonly name: string
  readonly colour: number
  readonly asked: number | null
  readonly allocated: number | null
  readonly measured: number | null
  readonly askedSeries: readonly (number | null)[]
  readonly allocatedSeries: readonly (number | null)[]
  readonly measuredSeries: readonly (number | null)[]
  /** It waits: it asked for more than it got. */
  readonly queued: number
  readonly facts: readonly string[]
}

/** Everything that decides about the unit and the common scale, op/s. */
export function largestOf(frame: MetadataFrame): number {
  const { jobs } = frame
  return Math.max(
    frame.limit ?? 0,
    largest(frame.asked),
    largest(jobs.measured),
    largest(jobs.allocated),
    largest(jobs.asked),
  )
}

/** Tallest of the small charts. An allocation that none of them comes near would flatten them all. */
export function smallTop(faces: readonly JobFace[]): number {
  return faces.reduce((m, f) => Math.max(m, largest(f.askedSeries), largest(f.measuredSeries)), 0)
}

/** Mean wait of an operation of the window, s: the sum of all waits is soon days, which says nothing to anybody. */
function meanWaitS(throttledS: number, measured: readonly (number | null)[], windowS: number): number {
  const known = measured.filter((v) => v !== null)
  const served = measured.length === 0 ? 0 : (known.reduce((n, v) => n + v, 0) / measured.length) * windowS
  return served > 0 ? throttledS / served : 0
}

export function jobFaces({ jobs, plane, t }: MetadataFrame, unit: OpUnit): JobFace[] {
  const windowS = ((t.at(-1) ?? 0) - (t[0] ?? 0)) / 1000
  return jobs.jobId.map((id, i) => {
    const [demand, limit] = [jobs.demandPolicy[i] ?? null, jobs.limitPolicy[i] ?? null]
    const [queued, stages] = [jobs.queued[i] ?? 0, jobs.stages[i] ?? 0]
    const hasLeft = id !== '' && stages === 0 && jobs.measured[i] === null && plane !== 'mds'
    const waitS = meanWaitS(jobs.throttledS[i] ?? 0, jobs.measuredSeries[i] ?? [], windowS)
    return {
      id,
      name: id === '' ? 'other' : plainText(jobName(id).short),
      colour: jobs.colour[i] ?? 0,
      asked: jobs.asked[i] ?? null,
      allocated: jobs.allocated[i] ?? null,
      measured: jobs.measured[i] ?? null,
      askedSeries: jobs.askedSeries[i] ?? [],
      allocatedSeries: jobs.allocatedSeries[i] ?? [],
      measuredSeries: jobs.measuredSeries[i] ?? [],
      queued,
      facts: [
        ...(queued > 0 ? [`${formatNumber(queued)} wait`] : []),
        ...(demand === null ? [] : [`demand ${inUnit(unit, demand)}`]),
        ...(limit === null ? [] : [`limit ${inUnit(unit, limit)}`]),
        ...(hasLeft ? ['has left'] : demand === null && limit === null ? ['no policy'] : []),
        ...(waitS >= 0.001 ? [`mean wait ${waitWords(waitS)}`] : []),
        ...(stages > 0 ? [plural(stages, plane === 'mds' ? 'rule' : 'stage')] : []),
      ],
    }
  })
}

/**
 * The places of jobs: whoever is there keeps its place, new ones follow, `other` stands last. Charts and legends whose jobs
 * change places with every sample cannot be read.
 */
export function steadyOrder(before: readonly string[], now: readonly string[]): string[] {
  const there = new Set(now)
  const kept = before.filter((id) => id !== '' && there.has(id))
  const known = new Set(kept)
  const rest = now.filter((id) => id !== '' && !known.has(id))
  return [...kept, ...rest, ...(there.has('') ? [''] : [])]
}

const waitWords = (s: number): string =>
  s < 1 ? `${formatNumber(s * 1000)} ms` : s < 60 ? `${formatNumber(s, 1)} s` : formatSpan(s * 1000)
