/** Explanations: status bar and time strip. */
import type { Meaning } from '../meaning.ts'

export const statusMeanings = [
  {
    id: 'status.source',
    title: 'Source',
    unit: '',
    means:
      'Source of the data: LIVE from servers, PAUSED at one sample, RECORDED from a file or the store, EMULATED by the model.',
    formula: '',
    source: 'the host',
  },
  {
    id: 'status.age',
    title: 'Age of the newest sample',
    unit: 's of wall time',
    means:
      'Time since the newest sample arrived. Amber from twice the interval on, orange-red from five times on; the interval counts as at least 0.5 s.',
    formula: 'now \u2212 arrival',
    source: 'clock of the host',
  },
  {
    id: 'status.servers',
    title: 'Servers',
    unit: 'answering / total',
    means:
      'Servers of the cluster that answer, and their total. A late answer is not a missing one. If a server is missing, totals are lower bounds (\u2265).',
    formula: 'k / n',
    source: 'the last reading of each server',
  },
  {
    id: 'status.cost',
    title: 'Monitoring overhead',
    unit: 'KB/s \u00B7 ms/s',
    means: 'Bytes received from the servers for monitoring, and their response time.',
    formula: 'bytes / s; sum of response times / s, over the last second',
    source: 'measured with every reading',
  },
  {
    id: 'status.cycle',
    title: 'Cycle',
    unit: 'ms',
    means: 'One round of reading, parsing, deciding and writing, mean of the last second.',
    formula: 'collect + parse + allocate + apply',
    source: 'AdapTBF IV-G reports about 25 ms',
    caveat:
      'Servers are read in parallel: their collect times overlap. Under AdapTBF the lag is shown, too: the age of the counters at the ' +
      'decision, and the time from the reading until its rules were in force.',
  },
  {
    id: 'status.period',
    title: 'Control period',
    unit: 'ms',
    means:
      'Time in which a server is read, decided and written, by its own clock. Every part has a budget in the period. A server that is still being read or written misses its deadline, and a period that it cannot keep up with becomes longer.',
    formula: 'time between two decisions over the last minute: p50, p99; deadlines missed',
    source: 'clock of the host; AdapTBF uses 100 ms',
    caveat: 'Servers without a streaming reader are controlled with the samples.',
  },
  {
    id: 'status.history',
    title: 'History',
    unit: '',
    means: 'State of recording: samples are written to the local store, or kept in memory only.',
    formula: '',
    source: 'the host',
  },
  {
    id: 'status.staged',
    title: 'Staged changes',
    unit: 'changes',
    means: 'Prepared changes that are not committed. Nothing was sent to servers.',
    formula: '',
    source: 'this console',
  },
  {
    id: 'status.audit',
    title: 'Audit',
    unit: 'number of the newest record',
    means: 'Every command is recorded before it is sent, in a hash chain that `sluice audit verify` checks.',
    formula: 'each record contains the hash of the previous one',
    source: 'enforcement log of the data folder',
  },
] as const satisfies readonly Meaning[]
