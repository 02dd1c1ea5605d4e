/** Explanations: colors, lines and shapes of each chart, by view. */
import type { Meaning } from '../meaning.ts'

export const legendMeanings = [
  {
    id: 'overview.stack',
    title: 'Throughput by job',
    unit: 'B/s',
    means:
      'The seven largest jobs of the window, one color each, stacked; the rest is other. A job has the same color in every view.',
    formula: '\u0394 bytes read and written / \u0394 t, summed over OSTs',
    source: 'obdfilter.*.job_stats',
    caveat: 'In a comparison the dashed line is A, all jobs together.',
  },
  {
    id: 'jobs.stack',
    title: 'RPC/s by job',
    unit: 'RPC/s',
    means:
      'The seven largest jobs of the window, one color each, stacked; the rest is other. A job has the same color in every view.',
    formula: '\u0394 samples of every operation / \u0394 t, summed over OSTs',
    source: 'obdfilter.*.job_stats',
    caveat: 'Served, not requested: waiting RPCs are not included.',
  },
  {
    id: 'jobs.ledger',
    title: 'Tokens lent and borrowed',
    unit: 'tokens per interval',
    means:
      'Changes of token balances per interval. Above the line: balances that rose, by tokens lent or paid back. Below: balances that fell, by tokens borrowed or received back.',
    formula: 'sum over periods, targets and jobs of the change of a balance, > 0 and < 0; both sides are equal',
    source: 'AdapTBF III-C2, III-C3',
    caveat: 'While the source runs only: samples of the past do not contain these sums.',
  },
  {
    id: 'jobs.rates',
    title: 'Demand, allocated, served',
    unit: 'RPC/s',
    means:
      'Demand of the job (dashed), the rate that the controller allocated, or without a controller the rate that its rules allow, and the rate served. At A of a comparison: the rate served then.',
    formula: 'means of the samples drawn; the rate allowed is the sum over servers of the rate of one CPT',
    source: 'job_stats, nrs_tbf_rule, controller',
  },
  {
    id: 'sandbox.rates',
    title: 'Rates by job',
    unit: 'in the unit of the heading',
    means:
      'Throughput of the largest jobs of the variant, largest at the bottom; the value at the crosshair. A click isolates a job in all variants.',
    formula: 'median over the seeds, per bin of the run',
    source: 'the model, every RPC of every seed',
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
    means: 'Area: measured. Line: allocated by the controller. Dashed: arriving calls, throttled or not.',
    formula: '\u0394 passed / \u0394 t; rate of the job; \u0394 arrived / \u0394 t',
    source: 'statistics of the stages; PADLL, control algorithms',
    caveat: 'TBF does not report arriving calls: no dashed line for the metadata service.',
  },
  {
    id: 'locks.held',
    title: 'Locks held',
    unit: 'locks',
    means:
      'Line: locks in the namespace, granted and waiting. The second line is the limit of its pool, drawn from 20 % of it on.',
    formula: '',
    source: 'ldlm.namespaces.NS.lock_count, pool.limit',
  },
  {
    id: 'locks.rates',
    title: 'Grants and cancels',
    unit: 'locks/s',
    means:
      'Solid: locks granted per second (LGR). Dashed: locks canceled per second (LCR). While more are granted than canceled, locks accumulate.',
    formula:
      '\u0394 count of pool.stats / \u0394 t between two readings; without root the value since the last recalculation',
    source: 'ldlm.namespaces.NS.pool.stats; without root pool.grant_rate, pool.cancel_rate',
  },
  {
    id: 'locks.lanes',
    title: 'States of a request',
    unit: 'one row per client',
    means: 'Waiting from request to grant, then granted, then canceling. Marks: early grant, early revocation.',
    formula: '',
    source: 'SeqDLM, early grant and early revocation; trace of the lock server',
  },
  {
    id: 'locks.numbers',
    title: 'Sequence numbers',
    unit: 'number of the resource',
    means:
      'Dot: number assigned with a grant. Ring: data of that number is on the data server; older writes that arrive later are not applied.',
    formula: 'grows by 1 with each grant of a write lock on the resource',
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
      'Compatible: locks that can be held together with this one. Waited for: locks that were released before this grant.',
    formula: 'checked for each overlapping lock',
    source: 'SeqDLM, lock compatibility',
  },
  {
    id: 'tokens.clientBars',
    title: 'Bars of a client',
    unit: 'tokens of the period',
    means:
      'Tokens used from the reservation, then from the pool; the marks are the reservation (R) and the limit (L). Diamond: the reservation was missed.',
    formula: 'used = completed + in flight = from reservation + from pool',
    source: 'Haechi, QoS engine',
  },
  {
    id: 'tokens.poolLine',
    title: 'Global pool',
    unit: 'tokens',
    means:
      'Free: tokens that any client may claim. Below zero (overclaimed): claims on an empty pool, which no client has to return. Dashed: the pool without conversion.',
    formula:
      'pool: claims are subtracted at once, so it can fall below 0; without conversion: start \u2212 tokens claimed',
    source: 'Haechi, global pool and token conversion',
  },
  {
    id: 'tokens.capacityLine',
    title: 'Capacity',
    unit: 'tokens per period',
    means:
      'Estimate: capacity of the data node per period, as estimated by the monitor. Used: I/Os completed, as the clients reported them. Dashed: the profiled capacity, its initial value.',
    formula: 'U \u2265 \u03C9: \u03C9 + \u03B7; else U \u2265 least: mean of the last M; else kept',
    source: 'Haechi, adaptive capacity estimation',
  },
  {
    id: 'history.overlay',
    title: 'A and B',
    unit: 'of the measure',
    means: 'Both ranges, aligned at their starts: A dashed, B solid.',
    formula: 'mean of each part of the range',
    source: 'history of this console',
    caveat: 'Ranges of different length overlap only in their first part.',
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
