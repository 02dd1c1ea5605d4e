/** Explanations: columns and gauges of the data node, besides the terms in token-terms.ts. */
import { terms } from './token-terms.ts'
import type { Meaning } from '../meaning.ts'

const figures = [
  {
    id: 'tokens.name',
    title: 'Client',
    unit: '',
    means: 'A client of the data node: it has a reservation, a limit, and its own queue.',
    formula: '',
    source: 'Haechi, QoS engine',
  },
  {
    id: 'tokens.state',
    title: 'State',
    unit: '',
    means:
      'State of the client: active, joining, leaving, gone or crashed; throttled by its limit; starved; best effort, without a reservation.',
    formula: 'starved: requests wait, \u03BE = 0, g = 0, the pool is empty, and the limit is not reached',
    source: 'Haechi, QoS engine',
  },
  {
    id: 'tokens.bar',
    title: 'Used of reservation and limit',
    unit: 'tokens, this period',
    means: 'Tokens used from the reservation, then from the pool, with marks at the reservation (R) and the limit (L).',
    formula: 'from reservation: min(used, R \u2212 \u03BE \u2212 yielded); the rest is from the pool',
    source: 'Haechi, QoS engine',
  },
  {
    id: 'tokens.usedNow',
    title: 'Used',
    unit: 'tokens, this period',
    means: 'Tokens that the client used in this period: I/Os completed and I/Os in flight.',
    formula: 'completed + in flight = used from reservation + used from pool',
    source: 'Haechi, QoS engine',
    caveat: 'I/Os that were in flight when the period began count in this period, too.',
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
    source: 'report of the client',
  },
  {
    id: 'tokens.p99',
    title: 'p99',
    unit: '\u00B5s',
    means: '99 % of the I/Os since the start of this run completed within this time, without the wait for a token.',
    formula: 'p99(completed \u2212 issued), in bins of 1 \u00B5s',
    source: 'latency histogram of the client',
    caveat: 'Not known for a past period.',
  },
  {
    id: 'tokens.cpu',
    title: 'Data-node CPU events',
    unit: 'events',
    means:
      'Number of times data I/O woke the CPU of the data node, since the start of this run. One-sided I/O must not: this must be 0.',
    formula: '',
    source: 'Haechi, one-sided verbs; counters of the node',
  },
  {
    id: 'tokens.idle',
    title: 'Idle tokens',
    unit: '%',
    means: 'Tokens idle while a client starved. Conversion keeps it near 0.',
    formula:
      'mean over the period so far of unused tokens of clients without requests / \u03C9, counted while the pool is empty and a client without tokens has requests waiting',
    source: 'Haechi, work conservation',
  },
  {
    id: 'tokens.worst',
    title: 'Reservations missed',
    unit: 'whole periods in a row',
    means:
      'Longest run of whole periods, up to the last one, in which one client missed its reservation, with the name of that client and the alert threshold.',
    formula: 'N + yielded + slack < R in each, slack = window + R \u00B7 check interval / T',
    source: 'Haechi, capacity estimation',
  },
  {
    id: 'tokens.reserved',
    title: 'Reserved',
    unit: 'tokens per period',
    means: 'Sum of all reservations from the next period on, and the maximum that admission control allows.',
    formula:
      'sum of R \u2264 \u03C9, each R \u2264 T \u00B7 C_L; that all are met under equal shares is shown, not required',
    source: 'Haechi, admission control',
  },
  {
    id: 'tokens.epoch',
    title: 'Period',
    unit: '',
    means: 'Number of the period. Diamond: a client missed its reservation.',
    formula: '',
    source: 'Haechi, QoS monitor',
  },
] as const satisfies readonly Meaning[]

export const tokensMeanings: readonly Meaning[] = [
  ...terms.map(({ id, name, unit, means, formula, source }) => ({
    id: `tokens.${id}`,
    title: name,
    unit,
    means,
    formula,
    source,
  })),
  ...figures,
]
