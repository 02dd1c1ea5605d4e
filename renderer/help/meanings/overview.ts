/** Explanations: tiles, target strip and movers of the overview. */
import type { Meaning } from '../meaning.ts'

export const overviewMeanings = [
  {
    id: 'overview.read',
    title: 'Read',
    unit: 'B/s, in MB/s or MiB/s as chosen in Settings',
    means: 'Bytes read from the OSTs by all jobs, mean of the last second.',
    formula: '\u0394 read_bytes sum / \u0394 t, summed over OSTs and jobs',
    source: 'obdfilter.*.job_stats, read_bytes',
    caveat: 'I/O without a job id is not included. Prefixed with \u2265 while a server is missing.',
  },
  {
    id: 'overview.write',
    title: 'Write',
    unit: 'B/s, in MB/s or MiB/s as chosen in Settings',
    means: 'Bytes written to the OSTs by all jobs, mean of the last second.',
    formula: '\u0394 write_bytes sum / \u0394 t, summed over OSTs and jobs',
    source: 'obdfilter.*.job_stats, write_bytes',
    caveat: 'I/O without a job id is not included. Prefixed with \u2265 while a server is missing.',
  },
  {
    id: 'overview.rpc',
    title: 'RPC',
    unit: 'RPC/s',
    means: 'RPCs that the OSTs served for all jobs, mean of the last second. TBF limits these, not bytes.',
    formula: '\u0394 count of every operation / \u0394 t, summed over OSTs and jobs',
    source: 'obdfilter.*.job_stats, samples',
    caveat: 'Metadata RPCs of the MDTs are counted separately, as MD op/s in Jobs.',
  },
  {
    id: 'overview.service',
    title: 'Service time',
    unit: 'ms',
    means:
      'Mean service time of a read or a write, over the last second. Amber if it is above 20 ms and more than twice the mean of the preceding window.',
    formula: '\u0394 usecs sum / \u0394 samples of reads and writes in each sample; mean of these samples',
    source: 'obdfilter.*.job_stats, read and write in usecs',
    caveat: 'Excludes the wait in TBF: a throttled job has a short service time.',
  },
  {
    id: 'overview.queued',
    title: 'Queued RPCs',
    unit: 'RPCs',
    means:
      'RPCs queued in the schedulers of all servers, mean of the last second. Amber if it is above 64 and more than three times the mean of the preceding window.',
    formula: 'sum of queued over policies, over the regular and the high-priority queue, and over servers',
    source: 'ost.OSS.ost_io.nrs_policies, mds.MDS.mdt.nrs_policies, queued',
    caveat: 'req_qdepth does not count RPCs that wait in TBF; this does.',
  },
  {
    id: 'overview.budget',
    title: 'Utilization',
    unit: '%',
    means:
      'RPCs that the OSTs served as a share of the token rate of all of them, mean of the last second. Amber above 105 %.',
    formula: 'RPC/s / (OSTs \u00B7 token rate T)',
    source: 'AdapTBF III-C, T; control.max_rate of the cluster or the scenario',
    caveat:
      'The token rate is set by the operator; until then 1000 RPC/s per OST is a guess. If it is below the capacity of a target, 100 % is not the hardware limit.',
  },
  {
    id: 'overview.rules',
    title: 'Rules',
    unit: 'rules in force',
    means:
      'TBF rules on all servers, without the built-in default. A rule on four servers counts four times, one on two services of a server twice.',
    formula: 'count of rules of the regular queue, first CPT, name \u2260 default, over the services of all servers',
    source: 'nrs_tbf_rule of ost_io, mdt and mdt_readpage',
  },
  {
    id: 'overview.lent',
    title: 'Tokens lent',
    unit: 'tokens, 1 token = 1 RPC',
    means: 'Tokens lent and not returned yet. Borrowers owe the same number.',
    formula: 'sum of token balances > 0, over jobs and targets; mean of the last second',
    source: 'AdapTBF III-C2 and III-C3, equations (8), (16), (20)',
    caveat: 'Only under AdapTBF; other controllers lend nothing.',
  },
  {
    id: 'overview.locks',
    title: 'Locks waiting',
    unit: 'requests',
    means:
      'Lock requests waiting for a grant, mean of the last second. Amber after a convoy, ping-pong or an eviction risk in the last 15 s, with the resource.',
    formula: 'sum of waiting queues over resources',
    source: 'SeqDLM II-A; the lock servers of the emulated ccPFS',
    caveat: 'Lustre servers do not export waiting locks, so a Lustre cluster has no such tile.',
  },
  {
    id: 'overview.utilisation',
    title: 'Utilization of a target',
    unit: '%',
    means: 'RPCs that the target served, as a share of its token rate, mean of the last second.',
    formula: 'RPC/s of the target / token rate T',
    source: 'obdfilter.*.job_stats; AdapTBF III-C, T',
    caveat: 'Not device utilization, which servers do not report.',
  },
  {
    id: 'overview.serviceMs',
    title: 'Service of a target',
    unit: 'ms',
    means: 'Mean service time of the reads and writes of this target, last second.',
    formula: '\u0394 usecs sum / \u0394 samples of reads and writes in each sample; mean of these samples',
    source: 'obdfilter.TARGET.job_stats',
  },
  {
    id: 'overview.queuedAt',
    title: 'Queue of a target',
    unit: 'RPCs',
    means:
      'RPCs queued on the server of the target, mean of the last second. All targets of a server share its queue and show the same number.',
    formula: 'sum of queued over the policies and queues of the server',
    source: 'ost.OSS.ost_io.nrs_policies, queued',
  },
  {
    id: 'overview.imbalance',
    title: 'Imbalance',
    unit: '\u00D7 the mean',
    means: 'Load of this target relative to the mean. 1 is balanced; 2 is twice the mean.',
    formula: 'RPC/s of the target / mean RPC/s of all targets',
    source: 'obdfilter.*.job_stats',
  },
  {
    id: 'overview.moved',
    title: 'Top movers',
    unit: 'RPC/s',
    means: 'Jobs by change of rate, not by rate: jobs that started or stopped loading the servers.',
    formula:
      'mean of the last sixth of the window \u2212 mean of the rest of it; in a comparison, last sixth of the window at B \u2212 last sixth at A',
    source: 'obdfilter.*.job_stats',
  },
  {
    id: 'overview.timers',
    title: 'Expiring rules and leases',
    unit: 'time left',
    means: 'Rules and leases that expire by a timer on the server, even if this window is closed.',
    formula: 'expiry \u2212 now, on the clock of the source',
    source: 'transient systemd timer, or a waiting process of the server\u2019s shell; a lease is such a timer, too',
    caveat: 'If the clocks of this machine and the server differ, the display is wrong, but not the timer.',
  },
  {
    id: 'overview.disk',
    title: 'Disk I/O',
    unit: 'count of disk I/O, by size, time, number in flight or fragments',
    means:
      'Reads and writes started by the disk of a target, or of all targets of a server, between two readings of its histograms.',
    formula:
      '\u0394 of each bin between two readings, by default 60 s apart (emulator: 5 s); of a server the sum of its targets',
    source: 'brw_stats of osd-* (older releases: of obdfilter)',
    caveat: 'wbcfs has no such statistics, ZFS has fewer. Unknown across a remount or after the counters were cleared.',
  },
  {
    id: 'overview.estimate',
    title: 'Service estimate',
    unit: 's',
    means: 'Service time estimate that the server reports to clients, per CPT, and the longest since it started.',
    formula: '',
    source: 'ost.OSS.ost_io.timeouts, mds.MDS.mdt.timeouts',
    caveat: 'Whole seconds. Adaptive timeouts follow it: when it grows, clients wait longer before they reconnect.',
  },
] as const satisfies readonly Meaning[]
