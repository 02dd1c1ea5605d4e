/** Measures of a sandbox result: meaning and computation. */
import type { Metric } from '#core/api/sandbox.ts'

export interface MetricTerm {
  readonly name: string
  readonly unit: string
  readonly means: string
  readonly formula: string
}

/** Roles of jobs in a sandbox result, as in `core/sandbox/roles.ts`. */
export const roleTerms = {
  hog: 'Hog: in the baseline, the job with the most RPCs above its fair share, if these are at least 1 % of all RPCs',
  victim:
    'Victim: in the baseline, the job with the longest p95 wait among those that were served less than their fair share; none without a hog',
} as const

export const metricTerms: Readonly<Record<Metric, Omit<MetricTerm, 'name' | 'unit'>>> = {
  throughputBps: {
    means: 'Bytes served to all jobs, over the simulated time.',
    formula: 'sum of bytes served / seconds',
  },
  throughputRpcs: {
    means: 'RPCs served to all jobs, data and metadata, over the simulated time.',
    formula: 'sum of RPCs served / seconds',
  },
  jain: {
    means: 'Fairness of service relative to fair shares: 1 is fair, 1/n is one job with everything.',
    formula:
      '(sum x)\u00B2 / (n \u00B7 sum x\u00B2), x = RPCs served / fair share; the share is max-min by node count, per target and second, at most the demand',
  },
  victimP95Ms: {
    means:
      'The victim is the job that, in the baseline, got less than its fair share and waited longest. 95 % of its RPCs were answered within this time.',
    formula: 'p95 from the request of the process to the reply',
  },
  victimP99Ms: {
    means: 'The victim\u2019s wait: 99 % of its RPCs were answered within this time.',
    formula: 'p99 from the request of the process to the reply',
  },
  starvedS: {
    means: 'Whole seconds in which RPCs of a job waited from the beginning on and none was answered, over all jobs.',
    formula: 'sum over jobs of starved seconds',
  },
  sloMisses: {
    means: 'Jobs that waited longer than the objective.',
    formula: 'count of jobs with p95 wait > objective; without any reply, with starved time > objective',
  },
  utilisation: {
    means: 'Share of time in which the device of a target was busy, mean of the OSTs and MDTs that a job uses.',
    formula: 'mean over these targets of busy time / time',
  },
}
