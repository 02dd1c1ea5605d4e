/** Explanations: measures of a result, as named on its cards. */
import { METRICS } from '#core/api/sandbox.ts'
import { metricTerms } from './metric-terms.ts'
import type { Meaning } from '../meaning.ts'

const heads: Readonly<Record<(typeof METRICS)[number], readonly [title: string, unit: string, caveat?: string]>> = {
  throughputBps: ['Throughput', 'B/s, median over the seeds'],
  throughputRpcs: ['RPCs', 'RPC/s, median over the seeds'],
  jain: ['Jain fairness', '1/n to 1', 'Not meaningful for jobs with less demand than their share.'],
  victimP95Ms: [
    'Wait p95 of the victim',
    'ms',
    'Includes the wait in TBF, at the device and on the network; not in the application.',
  ],
  victimP99Ms: ['Wait p99 of the victim', 'ms', 'With few RPCs it is the maximum.'],
  starvedS: ['Starved', 's, summed over jobs'],
  sloMisses: ['SLO misses', 'jobs', 'The objective is set in the run bar; servers do not know it.'],
  utilisation: ['Utilisation', '% of the time', 'Devices of the model; servers do not report it.'],
}
const source = 'the model, every RPC of every seed'

export const sandboxMeanings: readonly Meaning[] = [
  ...METRICS.map((id) => {
    const [title, unit, caveat] = heads[id]
    const { means, formula } = metricTerms[id]
    return { id: `sandbox.${id}`, title, unit, means, formula, source, ...(caveat ? { caveat } : {}) }
  }),
  {
    id: 'sandbox.plane',
    title: 'Metadata, locks, tokens',
    unit: 'in the card',
    means:
      'Measures of the other planes of the scenario: operations and waits under PADLL, bytes of the lock manager, reservations met.',
    formula: 'median over the seeds',
    source,
  },
  {
    id: 'sandbox.verdict',
    title: 'Verdict',
    unit: '',
    means: 'Best variant compared with the baseline, in one sentence: gain of the victim, loss of the hog, total loss.',
    formula: 'medians over the seeds, with the width of their band',
    source: 'the runs of this page',
    caveat: 'Valid for the model; its limits are listed beside it.',
  },
  {
    id: 'sandbox.seeds',
    title: 'Seeds',
    unit: 'runs of each variant',
    means: 'Each seed has different arrivals and service times. The band is the 5th to the 95th percentile over seeds.',
    formula: 'median, p5 to p95',
    source,
  },
]
