/** Explanations: measures of a day, the store, and the movers between two spans. */
import type { Meaning } from '../meaning.ts'

export const historyMeanings = [
  {
    id: 'history.serviceMs',
    title: 'Service',
    unit: 'ms',
    means: 'Mean service time of reads and writes on all targets.',
    formula:
      '\u0394 usecs sum / \u0394 samples in each sample; mean of the samples of the step drawn, not weighted by RPCs',
    source: 'samples of the local store; obdfilter.*.job_stats',
    caveat: 'Excludes the wait in TBF.',
  },
  {
    id: 'history.rpcs',
    title: 'RPC',
    unit: 'RPC/s',
    means: 'RPCs that the OSTs served.',
    formula: 'mean of the step drawn',
    source: 'samples of the local store; obdfilter.*.job_stats',
  },
  {
    id: 'history.readBps',
    title: 'Read',
    unit: 'B/s, in MB/s or MiB/s as chosen in Settings',
    means: 'Bytes read by all jobs.',
    formula: 'mean of the step drawn',
    source: 'samples of the local store; read_bytes of job_stats',
  },
  {
    id: 'history.writeBps',
    title: 'Write',
    unit: 'B/s, in MB/s or MiB/s as chosen in Settings',
    means: 'Bytes written by all jobs.',
    formula: 'mean of the step drawn',
    source: 'samples of the local store; write_bytes of job_stats',
  },
  {
    id: 'history.queued',
    title: 'Queued',
    unit: 'RPCs',
    means: 'RPCs that waited in the schedulers of all OSSes and MDSes.',
    formula: 'mean of the step drawn',
    source: 'samples of the local store; queued of nrs_policies (ost_io, mdt)',
  },
  {
    id: 'history.a',
    title: 'A',
    unit: 'RPC/s',
    means: 'Mean rate in range A of one job, user, account or executable.',
    formula: 'RPCs served in A / its length; time without a measurement is excluded from both',
    source: 'samples of the local store',
  },
  {
    id: 'history.b',
    title: 'B',
    unit: 'RPC/s',
    means: 'Mean rate in range B of one job, user, account or executable.',
    formula: 'RPCs served in B / its length; time without a measurement is excluded from both',
    source: 'samples of the local store',
  },
  {
    id: 'history.change',
    title: 'Change',
    unit: 'RPC/s',
    means: 'Change from A to B. Right of the zero line: more in B.',
    formula: 'B \u2212 A',
    source: 'samples of the local store',
  },
  {
    id: 'history.tier',
    title: 'Resolution',
    unit: 'bytes in the file',
    means: 'Samples are stored raw, then as means of 1 s, 10 s and 1 min, each with its own retention.',
    formula: 'mean of the samples of the step; of a token balance the last value',
    source: 'the local store',
    caveat: 'Peaks shorter than the step are flattened; events are stored separately and keep their time.',
  },
  {
    id: 'history.quota',
    title: 'Quota',
    unit: 'bytes',
    means:
      'Maximum size of the store. When it is full, the oldest samples of the finest resolution are deleted first, and events and rules older than these, with a notice here. The last minute stays.',
    formula: '',
    source: 'the local store',
  },
] as const satisfies readonly Meaning[]
