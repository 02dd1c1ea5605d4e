/** Explanations: columns of the jobs table, and the inspector of a job. */
import type { Meaning } from '../meaning.ts'

export const jobsMeanings = [
  {
    id: 'jobs.rank',
    title: 'Rank',
    unit: '',
    means: 'Position in the current sort order. The pause sign: the order is paused while hovering.',
    formula: '',
    source: 'the sort of this table',
  },
  {
    id: 'jobs.jobId',
    title: 'Job',
    unit: '',
    means: 'Job id in the RPCs of the clients, with its parts and its owner.',
    formula: 'jobid_name of the clients, for example %j.%e.%u',
    source: 'job_id of job_stats; jobid_var and jobid_name of the clients',
    caveat:
      'Servers keep the first 31 bytes: two long ids can become one. Any user can choose an id where jobid_var is not set by the batch system.',
  },
  {
    id: 'jobs.account',
    title: 'Account',
    unit: '',
    means: 'Account charged by the batch system.',
    formula: '',
    source: 'squeue or qstat',
    caveat: 'Empty if no batch job has this id.',
  },
  {
    id: 'jobs.nodes',
    title: 'Nodes',
    unit: 'nodes',
    means: 'Compute nodes of the job. AdapTBF gives a job the share of its nodes.',
    formula: 'p = nodes / sum of nodes of active jobs',
    source: 'squeue or qstat; AdapTBF III-C1, equation (1)',
    caveat: 'A job without nodes in the batch system counts as 1 node.',
  },
  {
    id: 'jobs.rpcs',
    title: 'RPC/s',
    unit: 'RPC/s',
    means: 'Data RPCs that all OSTs served for the job, mean of the last second; the line shows the time window.',
    formula: '\u0394 samples of every operation / \u0394 t, summed over OSTs',
    source: 'obdfilter.*.job_stats',
    caveat: 'Served, not requested: waiting RPCs are not included.',
  },
  {
    id: 'jobs.readBps',
    title: 'Read',
    unit: 'B/s, in MB/s or MiB/s as chosen in Settings',
    means: 'Bytes read by the job, mean of the last second.',
    formula: '\u0394 read_bytes sum / \u0394 t',
    source: 'obdfilter.*.job_stats, read_bytes',
  },
  {
    id: 'jobs.writeBps',
    title: 'Write',
    unit: 'B/s, in MB/s or MiB/s as chosen in Settings',
    means: 'Bytes written by the job, mean of the last second.',
    formula: '\u0394 write_bytes sum / \u0394 t',
    source: 'obdfilter.*.job_stats, write_bytes',
  },
  {
    id: 'jobs.mdops',
    title: 'MD op/s',
    unit: 'op/s',
    means: 'Metadata operations that the MDTs served for the job, mean of the last second.',
    formula: '\u0394 samples of every operation / \u0394 t, summed over MDTs',
    source: 'mdt.*.job_stats',
    caveat: 'Not in RPC/s, which counts the OSTs only.',
  },
  {
    id: 'jobs.ioBytes',
    title: 'Avg I/O',
    unit: 'bytes',
    means:
      'Mean number of bytes of an RPC that the OSTs served for the job, over the last second. Small RPCs cost a target more per byte.',
    formula: '(read B/s + write B/s) / RPC/s',
    source: 'obdfilter.*.job_stats',
    caveat: 'RPCs without data, such as punch and setattr, count too and lower the mean.',
  },
  {
    id: 'jobs.topOp',
    title: 'Top op',
    unit: '',
    means: 'Most frequent operation of the job in the last second.',
    formula: 'largest \u0394 samples',
    source: 'obdfilter.*.job_stats, mdt.*.job_stats',
    caveat: 'At a past sample operations are not kept: there it is read or write, whichever moved more bytes.',
  },
  {
    id: 'jobs.throttled',
    title: 'Throttled',
    unit: '% of the last 10 s',
    means: 'Share of time in which the job ran at the rate of its rule.',
    formula:
      'mean over samples of (servers where it is at the limit / servers where a rule matches it); at the limit: RPCs of 10 samples \u2265 0.9 \u00B7 rate \u00B7 their time',
    source: 'inferred from job_stats and nrs_tbf_rule',
    caveat:
      'Servers report no wait times. A job whose demand equals its rate looks the same. The rate is that of one CPT.',
  },
  {
    id: 'jobs.rule',
    title: 'Rule',
    unit: 'RPC/s, summed over servers',
    means:
      'First rule that matches the job, and its rate. Default rule only: no other rule matches. The rate is that of one CPT of each server.',
    formula: 'first match in the order of the list',
    source: 'ost.OSS.ost_io.nrs_tbf_rule',
    caveat: 'Existing classes keep their old rule after a change of rank, until a rule is started.',
  },
  {
    id: 'jobs.record',
    title: 'Token balance',
    unit: 'tokens, bar on a \u221A scale',
    means:
      'Tokens lent (+, to the right) or borrowed (\u2212, to the left) since the job was first seen. All balances sum to 0.',
    formula: 'redistribution: r + lent \u2212 borrowed; re-compensation: r \u2212 received back + paid back',
    source: 'AdapTBF III-C2, III-C3, equations (8), (16), (20)',
    caveat: 'Kept while a job is idle. Only under AdapTBF.',
  },
  {
    id: 'jobs.sum',
    title: 'Sum of token balances',
    unit: 'tokens',
    means:
      'Every token lent was borrowed by another job, so this must be 0. Any other value is a fault of the controller.',
    formula: 'sum of token balances of all known jobs, idle ones included',
    source: 'AdapTBF III-C, invariant of equations (8), (16), (20)',
  },
  {
    id: 'jobs.share',
    title: 'Share',
    unit: '%',
    means:
      'Tokens that the job was allocated, as a share of all tokens of the chosen target or of all targets, and the share that it is entitled to by node count on the targets where it has tokens. Mean of the last second.',
    formula:
      'tokens of the job / tokens of all jobs; sum over its targets of tokens \u00B7 nodes / nodes of the jobs with tokens there, / tokens of all jobs',
    source: 'AdapTBF III-C1, equations (1), (2)',
  },
] as const satisfies readonly Meaning[]
