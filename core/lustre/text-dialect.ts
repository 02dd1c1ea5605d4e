/**
 * What the releases differ in about counters and tables as they are printed.
 *
 * Source: spec/lustre 0.2, 4.3, 6, corrected by measured A1-A3, A6, A14, A16, A26, A30, A31. 2.16 was not measured: it is the
 * sheet's column, and where that says nothing, as 2.15. 2.12 is the sheet's column too.
 */
import type { Release } from './release.ts'

export interface TextDialect {
  /** Width of the name column of `stats` tables, characters. */
  readonly statsNameWidth: number
  /** Whether tables and job entries say since when they count: start_time and elapsed_time below snapshot_time. */
  readonly hasStartTime: boolean
  /** Whether the parameter enable_stats_header exists, which leaves start_time and elapsed_time out when it is 0. */
  readonly hasStatsHeaderSwitch: boolean
  readonly jobStats: JobStatsDialect
  readonly histogram: HistogramDialect
  readonly namespaces: NamespaceDialect
  /** Whether files live where 2.15 has them: tables of targets in /proc, request buffers of services in debugfs. */
  readonly isOldLayout: boolean
  /** Whether reading `devices` holds a reference to each device, which its last column then shows. */
  readonly devicesCountReader: boolean
}

export interface JobStatsDialect {
  /** Counters of an OST and of an MDT in the order printed. */
  readonly ost: readonly string[]
  readonly mdt: readonly string[]
  /** Whether a table without jobs still prints its `job_stats:` line. */
  readonly headerWhenEmpty: boolean
  /** Times of an entry: whole seconds, or `secs.nsecs` with that unit. */
  readonly times: 'seconds' | 'nanoseconds'
  /** Blank between `min:`, `max:`, `sum:` and their numbers. */
  readonly gap: '' | ' '
  /** What operations count: `reqs` without more, or `usecs` with min, max, sum and sum of squares. */
  readonly operations: 'reqs' | 'usecs'
  /** Whether read_bytes and write_bytes carry their sizes in bins. */
  readonly hist: boolean
  readonly ids: JobIdDialect
}

export interface JobIdDialect {
  /**
   * What becomes of a byte that may not be printed: `?`, or `\xHH` in an id that is then quoted. Letters, digits and the
   * Latin-1 letters are always printed as they are.
   */
  readonly odd: 'question mark' | 'escape'
  /** Signs that are printed as they are, besides letters and digits. */
  readonly plain: string
  /** Whether an id with a colon, or with `@` in front, is quoted though nothing in it is escaped. */
  readonly quotesYaml: boolean
  /** Whether a write of `"..."` is read as the printed form; else a written name is always the bytes of an id. */
  readonly unquotes: boolean
}

export interface HistogramDialect {
  /** The first lines of brw_stats and rpc_stats: one with `(secs.nsecs)`, or three as in the other tables. */
  readonly times: 'parenthesised' | 'plain'
  /** Whether rpc_stats of an osc counts direct I/O apart and has a section of latencies. */
  readonly rpcLatency: boolean
  /** The percent signs in the heads of an mdc's rpc_stats; the development line prints two. */
  readonly mdcPercent: '%' | '%%'
  /** Whether brw_stats has the section `block maps msec`. */
  readonly blockMaps: boolean
}

export interface NamespaceDialect {
  /** Milliseconds that an unused lock stays cached, by default. */
  readonly lruMaxAgeMs: number
  /** Defaults of contended_locks and contention_seconds. */
  readonly contendedLocks: number
  readonly contentionSeconds: number
  /** Whether contention_seconds is limited to 1..16, and contention_hold_seconds and contention_events exist. */
  readonly contentionLimits: boolean
  /** Whether max_nolock_bytes exists. */
  readonly maxNolockBytes: boolean
  /** Whether the LFRU cache exists: lock_cache_policy, lock_lru_hits, lru_priv_ratio_limit and what belongs to them. */
  readonly lfru: boolean
  /** Whether dump_stack_on_error exists. */
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
  // As 2.15.8 prints them; 2.15.0 still has the question marks of 2.12.
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
