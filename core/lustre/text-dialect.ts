/**
 * Differences of printed counters and tables between releases.
 *
 * Source: spec/lustre 0.2, 4.3, 6, corrected by measured A1-A3, A6, A14, A16, A26, A30, A31. 2.16 was not measured: it follows its
 * column in spec/lustre, else 2.15. 2.12 follows its column in spec/lustre.
 */
import type { Release } from './release.ts'

export interface TextDialect {
  /** Width of the name column of `stats` tables, characters. */
  readonly statsNameWidth: number
  /** True if tables and job entries include the start of counting: start_time and elapsed_time below snapshot_time. */
  readonly hasStartTime: boolean
  /** True if the parameter enable_stats_header exists, which omits start_time and elapsed_time when it is 0. */
  readonly hasStatsHeaderSwitch: boolean
  readonly jobStats: JobStatsDialect
  readonly histogram: HistogramDialect
  readonly namespaces: NamespaceDialect
  /** True if files are where 2.15 has them: tables of targets in /proc, request buffers of services in debugfs. */
  readonly isOldLayout: boolean
  /** True if reading `devices` holds a reference to each device, which is then included in its last column. */
  readonly devicesCountReader: boolean
}

export interface JobStatsDialect {
  /** Counters of an OST and of an MDT in the order printed. */
  readonly ost: readonly string[]
  readonly mdt: readonly string[]
  /** True if a table without jobs still prints its `job_stats:` line. */
  readonly headerWhenEmpty: boolean
  /** Times of an entry: whole seconds, or `secs.nsecs` with that unit. */
  readonly times: 'seconds' | 'nanoseconds'
  /** Blank between `min:`, `max:`, `sum:` and their numbers. */
  readonly gap: '' | ' '
  /** Values of operations: only `reqs`, or `usecs` with min, max, sum and sum of squares. */
  readonly operations: 'reqs' | 'usecs'
  /** True if read_bytes and write_bytes have size histograms. */
  readonly hist: boolean
  readonly ids: JobIdDialect
}

export interface JobIdDialect {
  /**
   * Form of an unprintable byte: `?`, or `\xHH` in an id that is then quoted. Letters, digits and the Latin-1 letters are always printed
   * verbatim.
   */
  readonly odd: 'question mark' | 'escape'
  /** Signs printed verbatim, besides letters and digits. */
  readonly plain: string
  /** True if an id with a colon, or with a leading `@`, is quoted although nothing in it is escaped. */
  readonly quotesYaml: boolean
  /** True if a write of `"..."` is parsed as the printed form; else a written name is always the bytes of an id. */
  readonly unquotes: boolean
}

export interface HistogramDialect {
  /** The first lines of brw_stats and rpc_stats: one with `(secs.nsecs)`, or three as in the other tables. */
  readonly times: 'parenthesised' | 'plain'
  /** True if rpc_stats of an osc counts direct I/O separately and has a latency section. */
  readonly rpcLatency: boolean
  /** Percent signs in the heads of an mdc's rpc_stats; 2.17 and the development line print two. */
  readonly mdcPercent: '%' | '%%'
  /** True if brw_stats has the section `block maps msec`. */
  readonly blockMaps: boolean
}

export interface NamespaceDialect {
  /** Default time that an unused lock stays cached, ms. */
  readonly lruMaxAgeMs: number
  /** Defaults of contended_locks and contention_seconds. */
  readonly contendedLocks: number
  readonly contentionSeconds: number
  /** True if contention_seconds is limited to 1..16, and contention_hold_seconds and contention_events exist. */
  readonly contentionLimits: boolean
  /** True if max_nolock_bytes exists. */
  readonly maxNolockBytes: boolean
  /** True if the LFRU cache exists: lock_cache_policy, lock_lru_hits, lru_priv_ratio_limit and related parameters. */
  readonly lfru: boolean
  /** True if dump_stack_on_error exists. */
  readonly dumpStack: boolean
}

const OST = [
  'read_bytes',
  'write_bytes',
  'read',
  'write',
  'getattr',
  'setattr',
  'punch',
  'sync',
  'destroy',
  'create',
  'statfs',
  'get_info',
  'set_info',
  'quotactl',
  'prealloc',
]

const MDT_OPERATIONS = [
  'open',
  'close',
  'mknod',
  'link',
  'unlink',
  'mkdir',
  'rmdir',
  'rename',
  'getattr',
  'setattr',
  'getxattr',
  'setxattr',
  'statfs',
  'sync',
  'samedir_rename',
]
const PARALLEL_RENAMES = ['parallel_rename_file', 'parallel_rename_dir']
const MDT_DATA = ['read', 'write', 'read_bytes', 'write_bytes', 'punch', 'migrate', 'fallocate']

const MDT_2_15 = [...MDT_OPERATIONS, 'crossdir_rename', ...MDT_DATA]
const MDT_2_16 = [...MDT_OPERATIONS, ...PARALLEL_RENAMES, 'crossdir_rename', ...MDT_DATA]
const MDT_2_17 = [...MDT_OPERATIONS, ...PARALLEL_RENAMES, 'crossdir_rename', 'rename_trylocks', ...MDT_DATA]

const JOB_STATS_2_15: JobStatsDialect = {
  ost: OST,
  mdt: MDT_2_15,
  headerWhenEmpty: true,
  times: 'nanoseconds',
  gap: ' ',
  operations: 'usecs',
  hist: false,
  // As printed by 2.15.8; 2.15.0 still has the question marks of 2.12.
  ids: { odd: 'escape', plain: '.@-_', quotesYaml: false, unquotes: false },
}

const JOB_STATS_2_16: JobStatsDialect = {
  ...JOB_STATS_2_15,
  mdt: MDT_2_16,
  hist: true,
  ids: { odd: 'escape', plain: '.@-_:/', quotesYaml: true, unquotes: true },
}

const JOB_STATS_2_17: JobStatsDialect = { ...JOB_STATS_2_16, mdt: MDT_2_17, headerWhenEmpty: false }

const JOB_STATS: Readonly<Record<Release, JobStatsDialect>> = {
  '2.12': {
    ost: OST.filter((name) => !['read', 'write', 'prealloc'].includes(name)),
    mdt: [...MDT_OPERATIONS, 'crossdir_rename', 'read_bytes', 'write_bytes', 'punch'],
    headerWhenEmpty: true,
    times: 'seconds',
    gap: '',
    operations: 'reqs',
    hist: false,
    ids: { odd: 'question mark', plain: '', quotesYaml: false, unquotes: false },
  },
  '2.15': JOB_STATS_2_15,
  '2.16': JOB_STATS_2_16,
  '2.17': JOB_STATS_2_17,
  dev: { ...JOB_STATS_2_17, mdt: [...MDT_2_17, 'readpage'] },
}

const HISTOGRAM_2_15: HistogramDialect = { times: 'plain', rpcLatency: false, mdcPercent: '%', blockMaps: true }

const NAMESPACES_2_15: NamespaceDialect = {
  lruMaxAgeMs: 3_900_000,
  contendedLocks: 32,
  contentionSeconds: 2,
  contentionLimits: false,
  maxNolockBytes: true,
  lfru: false,
  dumpStack: false,
}

export const TEXT_DIALECTS: Readonly<Record<Release, TextDialect>> = {
  '2.12': {
    statsNameWidth: 25,
    hasStartTime: false,
    hasStatsHeaderSwitch: false,
    jobStats: JOB_STATS['2.12'],
    histogram: { ...HISTOGRAM_2_15, times: 'parenthesised', blockMaps: false },
    namespaces: NAMESPACES_2_15,
    devicesCountReader: false,
    isOldLayout: true,
  },
  '2.15': {
    statsNameWidth: 25,
    hasStartTime: true,
    hasStatsHeaderSwitch: false,
    jobStats: JOB_STATS['2.15'],
    histogram: HISTOGRAM_2_15,
    namespaces: NAMESPACES_2_15,
    devicesCountReader: false,
    isOldLayout: true,
  },
  '2.16': {
    statsNameWidth: 25,
    hasStartTime: true,
    hasStatsHeaderSwitch: false,
    jobStats: JOB_STATS['2.16'],
    histogram: HISTOGRAM_2_15,
    namespaces: { ...NAMESPACES_2_15, lruMaxAgeMs: 600_000 },
    devicesCountReader: false,
    isOldLayout: false,
  },
  '2.17': {
    statsNameWidth: 25,
    hasStartTime: true,
    hasStatsHeaderSwitch: true,
    jobStats: JOB_STATS['2.17'],
    histogram: { ...HISTOGRAM_2_15, rpcLatency: true, mdcPercent: '%%' },
    namespaces: { ...NAMESPACES_2_15, lruMaxAgeMs: 600_000, dumpStack: true },
    devicesCountReader: true,
    isOldLayout: false,
  },
  dev: {
    statsNameWidth: 35,
    hasStartTime: true,
    hasStatsHeaderSwitch: true,
    jobStats: JOB_STATS.dev,
    histogram: { ...HISTOGRAM_2_15, rpcLatency: true, mdcPercent: '%%' },
    namespaces: {
      lruMaxAgeMs: 600_000,
      contendedLocks: 16,
      contentionSeconds: 4,
      contentionLimits: true,
      maxNolockBytes: false,
      lfru: true,
      dumpStack: true,
    },
    devicesCountReader: true,
    isOldLayout: false,
  },
}
