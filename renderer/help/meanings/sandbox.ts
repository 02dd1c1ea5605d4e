/** Explanations: measures of a result, as named on its cards. */
import { METRICS } from '#core/api/sandbox.ts'
import { metricTerms, roleTerms } from './metric-terms.ts'
import type { Meaning } from '../meaning.ts'

const heads: Readonly<Record<(typeof METRICS)[number], readonly [title: string, unit: string, caveat?: string]>> = {
  throughputBps: ['Throughput', 'B/s, median over the seeds'],
  throughputRpcs: ['RPCs', 'RPC/s, median over the seeds'],
  jain: [
    'Jain fairness',
    '1/n to 1',
    'The demand of a job that sends the next RPC only after a reply is estimated from an idle system.',
  ],
  victimP95Ms: [
    'Wait p95 of the victim',
    'ms',
    'Includes the wait in TBF, at the device and on the network; not in the application.',
  ],
  victimP99Ms: ['Wait p99 of the victim', 'ms', 'With few RPCs it is the maximum.'],
  starvedS: ['Starved', 's, summed over jobs'],
  sloMisses: ['SLO misses', 'jobs', 'The objective is set under Parameters; servers do not know it.'],
  utilisation: ['Device utilization', '% of the time', 'Devices of the model; servers do not report it.'],
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
    title: 'Metadata service, locks, tokens',
    unit: 'as on the card',
    means:
      'Objectives of metadata, locks and tokens: waits, false allocation, lock convoys, reservations met, idle tokens. The verdict judges them.',
    formula: 'median over the seeds',
    source,
  },
  {
    id: 'sandbox.verdict',
    title: 'Verdict',
    unit: '',
    means: `Best variant compared with the baseline, in one sentence: gain of the victim, loss of the hog, total loss, gains and losses of metadata, locks and tokens. ${roleTerms.hog}. ${roleTerms.victim}.`,
    formula: 'medians over the seeds; \u00B1 is half of the band over the median',
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
