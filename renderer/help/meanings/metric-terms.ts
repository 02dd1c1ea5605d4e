/** Measures of a sandbox result: meaning and computation. */
import type { Metric } from '#core/api/sandbox.ts'

export interface MetricTerm {
  readonly name: string
  readonly unit: string
  readonly means: string
  readonly formula: string
}

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
    means: 'Fairness of service relative to entitlement: 1 is fair, 1/n is one job with everything.',
    formula: '(sum x)\u00B2 / (n \u00B7 sum x\u00B2), x = served over the max-min fair share by nodes',
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
    means: 'Whole seconds in which RPCs of a job waited and none was served, over all jobs.',
    formula: 'sum over jobs of starved seconds',
  },
  sloMisses: {
    means: 'Jobs that waited longer than the objective.',
    formula: 'count of jobs with p95 wait > objective',
  },
  utilisation: {
    means: 'Share of time in which the device of a target was busy, mean of all targets.',
    formula: 'mean over targets of busy time / time',
  },
}
