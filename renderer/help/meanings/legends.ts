/** Explanations: colors, lines and shapes of each chart, by view. */
import type { Meaning } from '../meaning.ts'

export const legendMeanings = [
  {
    id: 'overview.stack',
    title: 'Throughput by job',
    unit: 'B/s',
    means:
      'The largest jobs of the window, one color each, stacked; the rest is other. A job has the same color in every view.',
    formula: '\u0394 bytes read and written / \u0394 t, summed over OSTs',
    source: 'obdfilter.*.job_stats',
    caveat: 'In a comparison the dashed line is A, all jobs together.',
  },
  {
    id: 'jobs.stack',
    title: 'RPC/s by job',
    unit: 'RPC/s',
    means:
      'The largest jobs of the window, one color each, stacked; the rest is other. A job has the same color in every view.',
    formula: '\u0394 samples of every operation / \u0394 t, summed over OSTs',
    source: 'obdfilter.*.job_stats',
    caveat: 'Served, not requested: waiting RPCs are not included.',
  },
  {
    id: 'jobs.ledger',
    title: 'Lent and borrowed',
    unit: 'tokens per interval',
    means: 'Tokens exchanged per interval: lent above the line, borrowed below.',
    formula: 'sums of the moves between records; lent = borrowed',
    source: 'AdapTBF III-C2, III-C3',
    caveat: 'Live controller only: single moves are not stored in history.',
  },
  {
    id: 'jobs.ops',
    title: 'Operations',
    unit: 'share of the operations',
    means: 'Operations of the job by color, with their shares.',
    formula: '\u0394 samples of the operation / \u0394 samples of all',
    source: 'obdfilter.*.job_stats, mdt.*.job_stats',
  },
  {
    id: 'metadata.stack',
    title: 'Rates by job',
    unit: 'op/s; B/s for data calls',
    means: 'Measured rate of each job, one color each, stacked; the rest is other.',
    formula: '\u0394 passed / \u0394 t',
    source: 'statistics of the stages; mdt.*.job_stats',
  },
  {
    id: 'metadata.smalls',
    title: 'By job',
    unit: 'op/s; B/s for data calls',
    means: 'Area: measured. Line: allocated by the controller. Dashed: demand, throttled or not.',
    formula: '\u0394 passed / \u0394 t; rate of the job; \u0394 arrived / \u0394 t',
    source: 'statistics of the stages; PADLL, control algorithms',
    caveat: 'TBF reports no demand: the line is omitted in the plane of metadata servers.',
  },
  {
    id: 'locks.held',
    title: 'Locks held',
    unit: 'locks',
    means:
      'Line: locks that the namespace has granted. The second line is the limit of its pool, drawn once it is near.',
    formula: '',
    source: 'ldlm.namespaces.NS.pool.granted, pool.limit',
  },
  {
    id: 'locks.rates',
    title: 'Grants and cancels',
    unit: 'locks/s',
    means:
      'LGR, locks granted per second, and LCR, dashed, locks cancelled per second. While LGR is higher, locks accumulate.',
    formula: 'count since the last recalculation / its period',
    source: 'ldlm.namespaces.NS.pool.grant_rate, pool.cancel_rate',
  },
  {
    id: 'locks.lanes',
    title: 'States of a request',
    unit: 'one lane per client',
    means: 'Waiting from request to grant, then granted, then cancelling. Marks: early grant, early revocation.',
    formula: '',
    source: 'SeqDLM, early grant and early revocation; trace of the lock server',
  },
  {
    id: 'locks.numbers',
    title: 'Sequence numbers',
    unit: 'number of the resource',
    means:
      'Dot: number assigned with a grant. Ring: data of that number is on the data server; older writes that arrive later are not applied.',
    formula: '+1 with each conflicting grant',
    source: 'SeqDLM, sequencer locks; trace of the lock server',
  },
  {
    id: 'locks.modes',
    title: 'Modes',
    unit: '',
    means: 'Color of each lock mode. The compatibility table shows which modes are compatible.',
    formula: '',
    source: 'SeqDLM, lock modes',
  },
  {
    id: 'locks.cells',
    title: 'Cells of the table',
    unit: '',
    means:
      'Compatible: locks that can be held together with this one. Waited for: locks that had to be released before this grant.',
    formula: 'checked for each overlapping lock',
    source: 'SeqDLM, lock compatibility',
  },
  {
    id: 'tokens.clientBars',
    title: 'Bars of a client',
    unit: 'tokens of the period',
    means:
      'Tokens used from the reservation, then from the pool; the marks are reservation R and limit L. Diamond: R was missed.',
    formula: 'used = from reservation + from pool',
    source: 'Haechi, QoS engine; spec/haechi 3, 4',
  },
  {
    id: 'tokens.poolLine',
    title: 'Global pool',
    unit: 'tokens',
    means:
      'Free: tokens that any client may claim. Overdrawn: claims on an empty pool; debt below zero has no owner. Dashed: the pool without conversion.',
    formula: 'claims are subtracted at once, so it can fall below 0',
    source: 'Haechi, global pool and token conversion; spec/haechi 3, 5',
  },
  {
    id: 'tokens.capacityLine',
    title: 'Capacity',
    unit: 'tokens per period',
    means:
      'Estimate: capacity of the data node per period, as estimated by the monitor. Used: I/Os served. Dashed: the profiled capacity, its initial value.',
    formula: 'raised while it is fully used, otherwise lowered',
    source: 'Haechi, adaptive capacity estimation; spec/haechi 6',
  },
  {
    id: 'history.overlay',
    title: 'A and B',
    unit: 'of the measure',
    means: 'Both spans, aligned at their starts: A dashed, B solid.',
    formula: 'mean of each part of the span',
    source: 'history of this console',
    caveat: 'Spans of different length overlap only in their first part.',
  },
  {
    id: 'history.marks',
    title: 'Marks',
    unit: '',
    means: 'One shape per kind of event, at the time of the event.',
    formula: '',
    source: 'events of the history',
  },
  {
    id: 'sandbox.calibration',
    title: 'Recorded and predicted',
    unit: 'RPC/s',
    means: 'Line: recorded on the live cluster. Dashed: prediction of the calibrated model for the same demand.',
    formula: 'mean of each bin',
    source: 'history of this console; the model',
    caveat: 'The difference between the lines shows how wrong a prediction from this range can be.',
  },
] as const satisfies readonly Meaning[]
