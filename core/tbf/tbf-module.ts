/**
 * The parameters of the ptlrpc module that TBF runs by (/sys/module/ptlrpc/parameters), and how late its timers fire.
 *
 * Source: spec/lustre 2.2. Rate and depth are taken over by the rules and policies that are started afterwards; the cache
 * size is read live.
 */
import { LUSTRE_DEFAULTS, type RuleDefaults } from './rule-list.ts'

export interface TbfModule extends RuleDefaults {
  /** tbf_jobid_cache_size: idle classes that a head keeps with their tokens. Default 8192. */
  readonly jobidCacheSize?: number
  /** From the instant a one-shot timer is set for until a service thread looks, ns. Default 0. */
  readonly timerLatencyNs?: number
}

/** Default of tbf_jobid_cache_size. */
export const JOBID_CACHE_SIZE = 8192

/** What a server is loaded with; a write to a parameter changes it in place. */
export const loadedModule = (timerLatencyNs = 0): { -readonly [K in keyof TbfModule]-?: number } => ({
  ...LUSTRE_DEFAULTS,
  jobidCacheSize: JOBID_CACHE_SIZE,
  timerLatencyNs,
})
