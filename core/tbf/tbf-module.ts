/**
 * Parameters of the ptlrpc module that TBF uses (/sys/module/ptlrpc/parameters), and the latency of its timers.
 *
 * Source: spec/lustre 2.2. Rate and depth apply to rules and policies started afterwards; the cache size is read live.
 */
import { LUSTRE_DEFAULTS, type RuleDefaults } from './rule-list.ts'

export interface TbfModule extends RuleDefaults {
  /** tbf_jobid_cache_size: idle classes that a head keeps with their tokens. Default 8192. */
  readonly jobidCacheSize?: number
  /** Delay from the set time of a one-shot timer until a service thread polls, ns. Default 0. */
  readonly timerLatencyNs?: number
}

/** Default of tbf_jobid_cache_size. */
export const JOBID_CACHE_SIZE = 8192

/** Initial module parameters; a write to a parameter changes them in place. */
export const loadedModule = (timerLatencyNs = 0): { -readonly [K in keyof TbfModule]-?: number } => ({
  ...LUSTRE_DEFAULTS,
  jobidCacheSize: JOBID_CACHE_SIZE,
  timerLatencyNs,
})
