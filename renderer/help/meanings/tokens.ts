/** Columns and gauges of the data node. The words of the view are laid down beside it; here are its other figures. */
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
    means: 'Whether the client is active, joins, leaves, is gone, is throttled by its limit, or starves.',
    formula: 'starved: it waits for a token and the pool is empty',
    source: 'Haechi, QoS engine',
  },
  {
    id: 'tokens.bar',
    title: 'Used of R and L',
    unit: 'tokens, this period',
    means: 'What was used from the reservation, then from the pool, with sticks at R and L.',
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
    caveat: 'The data node does not see them: they are still on the client.',
  },
  {
    id: 'tokens.iops',
    title: 'IOPS',
    unit: 'I/O a second',
    means: 'I/Os completed in the last whole period.',
    formula: 'N / T',
    source: 'report word of the client',
  },
  {
    id: 'tokens.p99',
    title: 'p99',
    unit: '\u00B5s',
    means: '99 % of the I/Os of the last whole period were done within this time, the wait for a token not included.',
    formula: 'p99(completed \u2212 issued)',
    source: 'latency histogram of the client',
  },
  {
    id: 'tokens.cpu',
    title: 'Data-node CPU events',
    unit: 'events',
    means: 'How often data I/O woke the CPU of the data node. One-sided I/O must not: this must read 0.',
    formula: '',
    source: 'Haechi, one-sided verbs; counters of the node',
  },
  {
    id: 'tokens.idle',
    title: 'Idle tokens',
    unit: '%',
    means: 'Tokens that lay idle while a client starved. Conversion keeps it near 0.',
    formula:
      'mean over the period of unused tokens / \u03C9, where the pool is empty and a client without tokens has requests waiting',
    source: 'Haechi, work conservation',
  },
  {
    id: 'tokens.worst',
    title: 'Reservations missed',
    unit: 'whole periods in a row',
    means: 'The client that missed its reservation longest, and from when on an alert is told.',
    formula: 'min(N, R) < R',
    source: 'Haechi, capacity estimation',
  },
  {
    id: 'tokens.reserved',
    title: 'Reserved',
    unit: 'tokens per period',
    means: 'Sum of all reservations, and where admission closes.',
    formula: 'sum of R \u2264 \u03C9, and done in time under equal shares',
    source: 'Haechi, admission control',
  },
  {
    id: 'tokens.epoch',
    title: 'Epoch',
    unit: 'periods',
    means: 'Number of the period. A diamond: somebody missed its reservation in it.',
    formula: '',
    source: 'Haechi, QoS monitor',
  },
] as const satisfies readonly Meaning[]

/** Fact sheets are named in the repository by number; the paper is what an operator can look up. */
const paper = (source: string): string => source.replace('spec/haechi', 'Haechi; docs/sources.md, sections')

export const tokensMeanings: readonly Meaning[] = [
  ...terms.map(({ id, name, unit, means, formula, source }) => ({
    ...{ id: `tokens.${id}`, title: name, unit, means, formula, source: paper(source) },
  })),
  ...figures,
]
