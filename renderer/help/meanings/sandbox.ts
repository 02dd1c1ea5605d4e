/** The measures of a result, as its cards name them. */
import { METRICS } from '#core/api/sandbox.ts'
import { metricTerms } from './metric-terms.ts'
import type { Meaning } from '../meaning.ts'

const heads: Readonly<Record<(typeof METRICS)[number], readonly [title: string, unit: string, caveat?: string]>> = {
  throughputBps: ['Throughput', 'B/s, median over the seeds'],
  throughputRpcs: ['RPCs', 'RPC/s, median over the seeds'],
  jain: ['Jain fairness', '1/n to 1', 'Of jobs that want less than their share, it says nothing.'],
  victimP95Ms: [
    'Wait p95 of the victim',
    'ms',
    'Read and write wait in TBF, at the device and on the way; not in the application.',
  ],
  victimP99Ms: ['Wait p99 of the victim', 'ms', 'From few RPCs it is the longest of them.'],
  starvedS: ['Starved', 's, summed over jobs'],
  sloMisses: ['SLO misses', 'jobs', 'The objective is chosen in the run bar; no server knows it.'],
  utilisation: ['Utilisation', '% of the time', 'Of the model\u2019s devices; a server does not print it.'],
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
      'Figures of the other planes of the scenario: operations and waits under PADLL, bytes of the lock manager, reservations kept.',
    formula: 'median over the seeds',
    source,
  },
  {
    id: 'sandbox.verdict',
    title: 'Verdict',
    unit: '',
    means:
      'The best variant against the baseline in one sentence: what the victim wins, what the hog loses, what all lose.',
    formula: 'medians over the seeds, with the width of their band',
    source: 'the runs of this page',
    caveat: 'True for the model. What the model does not know stands beside it.',
  },
  {
    id: 'sandbox.seeds',
    title: 'Seeds',
    unit: 'runs of each variant',
    means:
      'Each seed draws other arrivals and other service times. The band is from the 5th to the 95th percentile of them.',
    formula: 'median, p5 to p95',
    source,
  },
]
