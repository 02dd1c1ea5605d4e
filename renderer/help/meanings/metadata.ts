/** Explanations: columns of channels, and values of jobs under metadata QoS. */
import type { Meaning } from '../meaning.ts'

export const metadataMeanings = [
  {
    id: 'metadata.channel',
    title: 'Channel or rule',
    unit: '',
    means:
      'Channel of a stage: calls are assigned to one channel each. On metadata servers, the corresponding TBF rule.',
    formula: '',
    source: 'PADLL, stage and its channels; mds.MDS.mdt.nrs_tbf_rule',
  },
  {
    id: 'metadata.operations',
    title: 'Operations',
    unit: '',
    means: 'Calls of this channel: one operation, or a class such as meta_op.',
    formula: '',
    source: 'PADLL, differentiation rules',
  },
  {
    id: 'metadata.asked',
    title: 'Arriving',
    unit: 'op/s; B/s for data calls',
    means: 'Calls that arrived at the channel, throttled or not.',
    formula: '\u0394 arrived / \u0394 t',
    source: 'statistics of the stages',
    caveat: 'TBF does not report it: not shown for the metadata service.',
  },
  {
    id: 'metadata.limit',
    title: 'Limit',
    unit: 'op/s; B/s for data calls',
    means: 'Rate of the enforcement object\u2019s token bucket, as last set by the controller.',
    formula: 'rate of the job / its stages, or in proportion to use',
    source: 'PADLL, control algorithms; rate of nrs_tbf_rule',
  },
  {
    id: 'metadata.measured',
    title: 'Measured',
    unit: 'op/s; B/s for data calls',
    means: 'Calls forwarded to the file system.',
    formula: '\u0394 served / \u0394 t, since the last collection; on metadata servers over the last second',
    source: 'statistics of the stages; mdt.*.job_stats',
  },
  {
    id: 'metadata.used',
    title: 'Used',
    unit: '% of the limit',
    means: 'Measured rate as a share of the limit. From 97 %, the channel counts as being at its limit.',
    formula: 'measured / limit',
    source: 'columns Measured and Limit',
  },
  {
    id: 'metadata.backPressure',
    title: 'Back-pressure',
    unit: '% of the calls',
    means: 'Share of calls that had to wait for a token.',
    formula: '\u0394 waited / \u0394 served, at most 1; over several stages the mean weighted by served calls',
    source: 'statistics of the stages',
    caveat: 'TBF reports no wait times.',
  },
  {
    id: 'metadata.wait',
    title: 'Mean wait',
    unit: 'ms',
    means: 'Mean throttling delay of all forwarded calls, including those without a wait.',
    formula: '\u0394 throttled time / \u0394 served',
    source: 'statistics of the stages',
  },
  {
    id: 'metadata.spark',
    title: 'Last 5 min',
    unit: 'op/s; B/s for data calls',
    means: 'Measured rate over the last five minutes, on its own scale from 0.',
    formula: '',
    source: 'history in memory',
    caveat: 'Of a rule on metadata servers: the rate of its job in the shown scope, as far as samples are in memory.',
  },
  {
    id: 'metadata.falseAllocation',
    title: 'False allocation',
    unit: 'op/s',
    means:
      'Rate allocated to jobs and not used, while operations of another job wait. The algorithm PSFA (proportional sharing without false allocation) reallocates it; the other algorithms do not.',
    formula:
      'sum of max(0, allocated \u2212 measured) of jobs while another one waits: at stages its queue exceeds 50 ms at its rate; on metadata servers it is served \u2265 0.9 \u00B7 allocated',
    source: 'PADLL, the evaluation of false resource allocation',
  },
  {
    id: 'metadata.systemLimit',
    title: 'System limit',
    unit: 'op/s',
    means: 'Maximum rate of all jobs together in this scope.',
    formula: 'sum of allocations \u2264 limit',
    source: 'PADLL, Max_R of the control algorithms',
  },
] as const satisfies readonly Meaning[]
