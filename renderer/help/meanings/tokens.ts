/** Explanations: columns and gauges of the data node, besides the terms in token-terms.ts. */
import { terms } from './token-terms.ts'
import type { Meaning } from '../meaning.ts'

const figures = [
  {
    id: 'tokens.name',
    title: 'Client',
    unit: '',
    means: 'A client of the data node: it has a reservation, a limit, and a queue of its own.',
    formula: '',
    source: 'Haechi, QoS engine',
  },
  {
    id: 'tokens.state',
    title: 'State',
    unit: '',
    means: 'State of the client: active, joining, leaving, gone, throttled by its limit, or starved.',
    formula: 'starved: it waits for a token and the pool is empty',
    source: 'Haechi, QoS engine',
  },
  {
    id: 'tokens.bar',
    title: 'Used of R and L',
    unit: 'tokens, this period',
    means: 'Tokens used from the reservation, then from the pool, with marks at R and L.',
    formula: '',
    source: 'Haechi, QoS engine',
  },
  {
    id: 'tokens.usedNow',
    title: 'Used',
    unit: 'tokens, this period',
    means: 'I/Os that the client issued with a token in this period.',
    formula: 'used from reservation + used from pool',
    source: 'Haechi, QoS engine',
  },
  {
    id: 'tokens.queued',
    title: 'Queued',
    unit: 'requests',
    means: 'Requests at the client that have no token yet.',
    formula: '',
    source: 'Haechi, QoS engine',
    caveat: 'Not visible to the data node: they are still on the client.',
  },
  {
    id: 'tokens.iops',
    title: 'IOPS',
    unit: 'I/O per second',
    means: 'I/Os completed in the last whole period.',
    formula: 'N / T',
    source: 'report word of the client',
  },
  {
    id: 'tokens.p99',
    title: 'p99',
    unit: '\u00B5s',
    means: '99 % of the I/Os of the last whole period completed within this time, without the wait for a token.',
    formula: 'p99(completed \u2212 issued)',
    source: 'latency histogram of the client',
  },
  {
    id: 'tokens.cpu',
    title: 'Data-node CPU events',
    unit: 'events',
    means: 'Number of times data I/O woke the CPU of the data node. One-sided I/O must not: this must be 0.',
    formula: '',
    source: 'Haechi, one-sided verbs; counters of the node',
  },
  {
    id: 'tokens.idle',
    title: 'Idle tokens',
    unit: '%',
    means: 'Tokens idle while a client starved. Conversion keeps it near 0.',
    formula:
      'mean over the period of unused tokens / \u03C9, where the pool is empty and a client without tokens has requests waiting',
    source: 'Haechi, work conservation',
  },
  {
    id: 'tokens.worst',
    title: 'Reservations missed',
    unit: 'whole periods in a row',
    means:
      'Longest run of periods in which one client missed its reservation, with the name of that client and the alert threshold.',
    formula: 'min(N, R) < R',
    source: 'Haechi, capacity estimation',
  },
  {
    id: 'tokens.reserved',
    title: 'Reserved',
    unit: 'tokens per period',
    means: 'Sum of all reservations, and the limit of admission.',
    formula: 'sum of R \u2264 \u03C9, and done in time under equal shares',
    source: 'Haechi, admission control',
  },
  {
    id: 'tokens.epoch',
    title: 'Epoch',
    unit: 'periods',
    means: 'Number of the period. Diamond: a client missed its reservation.',
    formula: '',
    source: 'Haechi, QoS monitor',
  },
] as const satisfies readonly Meaning[]

/** Fact sheets are named by number in the repository; operators can look up the paper. */
const paper = (source: string): string => source.replace('spec/haechi', 'Haechi; docs/sources.md, sections')

export const tokensMeanings: readonly Meaning[] = [
  ...terms.map(({ id, name, unit, means, formula, source }) => ({
    id: `tokens.${id}`,
    title: name,
    unit,
    means,
    formula,
    source: paper(source),
  })),
  ...figures,
]
