/** Display models of the jobs of a metadata frame, for charts and legends. */
import type { MetadataFrame } from '#core/api/padll.ts'
import { largest } from '../../charts/scale.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatSpan, plural } from '../../format/units.ts'
import { comparedValue } from '../compared.ts'
import { jobName } from '../job-name.ts'
import { inUnit, type OpUnit } from './op-unit.ts'

export interface JobModel {
  /** Job id; empty for the other jobs. */
  readonly id: string
  readonly name: string
  readonly colour: number
  readonly arriving: number | null
  readonly allocated: number | null
  readonly measured: number | null
  readonly arrivingSeries: readonly (number | null)[]
  readonly allocatedSeries: readonly (number | null)[]
  readonly measuredSeries: readonly (number | null)[]
  /** Operations that wait. */
  readonly queued: number
  readonly facts: readonly string[]
}

/** Largest value, which determines the unit and the common scale, op/s. */
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

/** Top of the small charts. Allocations are not counted: one far above the rates would flatten all charts. */
export function smallTop(models: readonly JobModel[]): number {
  return models.reduce((m, f) => Math.max(m, largest(f.arrivingSeries), largest(f.measuredSeries)), 0)
}

/** Mean wait of an operation in the window, s. The sum of all waits would soon be days. */
function meanWaitS(throttledS: number, measured: readonly (number | null)[], windowS: number): number {
  const known = measured.filter((v) => v !== null)
  const served = measured.length === 0 ? 0 : (known.reduce((n, v) => n + v, 0) / measured.length) * windowS
  return served > 0 ? throttledS / served : 0
}

export function jobModels({ jobs, plane, t, controller }: MetadataFrame, unit: OpUnit): JobModel[] {
  // Policies are not recorded.
  const hasNoPolicy = (demand: number | null, limit: number | null): boolean =>
    demand === null && limit === null && controller.algorithm !== null
  const windowS = ((t.at(-1) ?? 0) - (t[0] ?? 0)) / 1000
  return jobs.jobId.map((id, i) => {
    const demand = jobs.demandPolicy[i] ?? null
    const limit = jobs.limitPolicy[i] ?? null
    const queued = jobs.queued[i] ?? 0
    const stages = jobs.stages[i] ?? 0
    const hasLeft = id !== '' && stages === 0 && jobs.measured[i] === null && plane !== 'mds'
    const atA = jobs.against?.[i]
    const change =
      atA === undefined || id === ''
        ? null
        : comparedValue(atA, jobs.measured[i] ?? null, (v) => inUnit(unit, v), unit.divisor / 10)
    const waitS = meanWaitS(jobs.throttledS[i] ?? 0, jobs.measuredSeries[i] ?? [], windowS)
    return {
      id,
      name: id === '' ? 'other' : plainText(jobName(id).short),
      colour: jobs.colour[i] ?? 0,
      arriving: jobs.asked[i] ?? null,
      allocated: jobs.allocated[i] ?? null,
      measured: jobs.measured[i] ?? null,
      arrivingSeries: jobs.askedSeries[i] ?? [],
      allocatedSeries: jobs.allocatedSeries[i] ?? [],
      measuredSeries: jobs.measuredSeries[i] ?? [],
      queued,
      facts: [
        ...(change ? [`A ${change.a}, ${change.delta}`] : []),
        ...(queued > 0 ? [`${formatNumber(queued)} waiting`] : []),
        ...(demand === null ? [] : [`demand (policy) ${inUnit(unit, demand)}`]),
        ...(limit === null ? [] : [`limit (policy) ${inUnit(unit, limit)}`]),
        ...(hasLeft ? ['no stages left'] : hasNoPolicy(demand, limit) ? ['no policy'] : []),
        ...(waitS >= 0.001 ? [`mean wait ${waitText(waitS)}`] : []),
        ...(stages > 0 ? [plural(stages, plane === 'mds' ? 'rule' : 'stage')] : []),
      ],
    }
  })
}

/**
 * Stable order of jobs: present jobs keep their places, new ones follow, `other` is last. Charts and legends whose jobs
 * change places with every sample cannot be read.
 */
export function steadyOrder(before: readonly string[], now: readonly string[]): string[] {
  const there = new Set(now)
  const kept = before.filter((id) => id !== '' && there.has(id))
  const known = new Set(kept)
  const rest = now.filter((id) => id !== '' && !known.has(id))
  return [...kept, ...rest, ...(there.has('') ? [''] : [])]
}

const waitText = (s: number): string =>
  s < 1 ? `${formatNumber(s * 1000)} ms` : s < 60 ? `${formatNumber(s, 1)} s` : formatSpan(s * 1000)
