/**
 * `ldlm.*`: tunables of the lock manager on servers and clients, and the locks of each namespace.
 *
 * Lock counters (lock_count, pool.* and the like) exist where the emulator counts the locks of a namespace; elsewhere the files
 * are missing rather than zero. Source: spec/lustre 5.1-5.3, measured A17, A18, A29, A30.
 */
import { fail } from '../../base/result.ts'
import { formatPoolState, type PoolState } from '../../lustre/pool-state.ts'
import type { Parameter } from '../parameter.ts'
import {
  file,
  storedNumber,
  kernelNumber,
  line,
  text,
  written,
  type FileOps,
  type NumberLimits,
  type Place,
} from './file.ts'
import type { NodeState } from './node.ts'
import { statsFile, type CounterKind, type StatsSource } from './stats-file.ts'

/** Lock counters of a namespace. */
export interface LockView {
  readonly resources: number
  /** Granted and waiting. */
  readonly locks: number
  /** Unused locks that a client caches; `lru_size=clear` drops them. */
  readonly unused: number
  readonly dropUnused?: () => void
  /** Cache hits in the development line, and privileged hits and locks. */
  readonly hits: number
  readonly privilegedHits: number
  readonly privileged: number
  /** Times that a resource was found contended; any write resets it to 0. */
  contentionEvents: number
  /** Callbacks that timed out. */
  readonly timeouts: number
  /** All of pool.state except its name; whether `plan` is printed depends on the side. */
  readonly pool: Omit<PoolState, 'pool' | 'plan'> & { readonly plan: number }
  /** Time since the last pool recalculation, and its interval, s. */
  readonly recalcTime: number
  readonly recalcPeriod: number
  readonly poolStats: StatsSource
}

export interface Namespace {
  /** `filter-testfs-OST0000_UUID`, `testfs-OST0000-osc-ffff...`, `MGS`. */
  readonly name: string
  /** Locks that a server grants, that a client holds, or that a server holds on another server. */
  readonly side: 'server' | 'client' | 'server connection'
}

/** Milliseconds, or a number with suffix `ms` or `s`. */
function lruMaxAge(initialMs: number): FileOps {
  let ms = initialMs
  return line(
    () => ms,
    (value) => {
      const m = /^(\d+)(ms|s)?\n?$/.exec(value)
      if (!m) return fail('EINVAL')
      ms = Number(m[1]) * (m[2] === 's' ? 1000 : 1)
      return written
    },
  )
}

function lockCachePolicy(): FileOps {
  let policy = 'LFRU'
  return line(
    () => policy,
    (value) => {
      const wanted = value.trimEnd()
      if (wanted !== 'LRU' && wanted !== 'LFRU') return fail('EINVAL')
      policy = wanted
      return written
    },
  )
}

/** Attributes of a namespace. Those of servers also exist on clients if the modules were built with server support. */
function attributes(ns: Namespace, node: NodeState): Readonly<Record<string, FileOps>> {
  const d = node.profile.text.namespaces
  const seconds: NumberLimits = d.contentionLimits ? { min: 1, max: 16 } : {}
  return {
    contended_locks: storedNumber(d.contendedLocks),
    contention_seconds: storedNumber(d.contentionSeconds, seconds),
    ...(d.contentionLimits ? { contention_hold_seconds: storedNumber(30, { min: 10, max: 60 }) } : {}),
    ctime_age_limit: storedNumber(10),
    dirty_age_limit: storedNumber(10),
    ...(d.dumpStack ? { dump_stack_on_error: storedNumber(0) } : {}),
    early_lock_cancel: storedNumber(ns.side === 'client' ? 1 : 0),
    ...(d.lfru
      ? {
          lock_cache_policy: lockCachePolicy(),
          lru_priv_ratio_limit: storedNumber(29),
          lru_priv_score_threshold: storedNumber(1),
        }
      : {}),
    lru_cancel_batch: storedNumber(16),
    lru_max_age: lruMaxAge(d.lruMaxAgeMs),
    ...(d.maxNolockBytes ? { max_nolock_bytes: storedNumber(0) } : {}),
    max_parallel_ast: storedNumber(1024),
    ns_recalc_pct: storedNumber(10),
  }
}

const POOL_COUNTERS: readonly CounterKind[] = [
  ...['granted', 'grant', 'cancel'].map((name) => ({ name, unit: 'locks' })),
  ...['grant_rate', 'cancel_rate', 'grant_plan'].map((name) => ({ name, unit: 'locks/s' })),
  { name: 'slv', unit: 'lock.secs' },
  ...['shrink_request', 'shrink_freed', 'recalc_freed'].map((name) => ({ name, unit: 'locks' })),
  { name: 'recalc_timing', unit: 'secs' },
].map((k) => ({ ...k, shape: 'sum' as const }))

/** Locks per CPU in a server's own cache. */
const LRU_PER_CPU = 100
/** Grant step of a server's pool, percent. */
const GRANT_STEP = 1

/** Limit of the lock cache; without one, the number of unused locks. */
function lruSize(ns: Namespace, locks: LockView, node: NodeState): FileOps {
  let limit = 0
  return line(
    () => (limit > 0 ? limit : ns.side === 'server' ? LRU_PER_CPU * node.cpus : locks.unused),
    (value) => {
      const n = value.trimEnd() === 'clear' ? 0 : kernelNumber(value)
      if (n === undefined) return fail('EINVAL')
      if (n === 0) locks.dropUnused?.()
      limit = n
      return written
    },
  )
}

/** Lock counter files of a namespace; `number` is the index of its pool among the pools of its side. */
function lockFiles(ns: Namespace, locks: LockView, number: number, node: NodeState): Parameter[] {
  const at = (parts: readonly string[], ops: FileOps, place: Place = 'sysfs'): Parameter =>
    file(place, ['ldlm', 'namespaces', ns.name, ...parts], ops)
  const isServer = ns.side === 'server'
  const state = (): string => {
    const { plan, ...pool } = locks.pool
    const name = `ldlm-pool-${ns.name}-${number}`
    return formatPoolState({ ...pool, pool: name, plan: isServer ? { gsp: GRANT_STEP, gp: plan } : undefined })
  }
  const scalars: Readonly<Record<string, () => number>> = {
    lock_count: () => locks.locks,
    lock_timeouts: () => locks.timeouts,
    lock_unused_count: () => locks.unused,
    resource_count: () => locks.resources,
    ...(node.profile.text.namespaces.lfru
      ? {
          lock_lru_hits: () => locks.hits,
          lock_lru_priv_hits: () => locks.privilegedHits,
          lock_unused_priv_count: () => locks.privileged,
        }
      : {}),
  }
  const pool: Readonly<Record<string, () => number>> = {
    cancel_rate: () => locks.pool.cr,
    client_lock_volume: () => locks.pool.clv,
    grant_plan: () => locks.pool.plan,
    grant_rate: () => locks.pool.gr,
    grant_speed: () => locks.pool.gs,
    granted: () => locks.pool.granted,
    recalc_time: () => locks.recalcTime,
    server_lock_volume: () => locks.pool.slv,
  }
  return [
    ...Object.entries(scalars).map(([name, get]) => at([name], line(get))),
    at(['lru_size'], lruSize(ns, locks, node)),
    ...(node.profile.text.namespaces.contentionLimits
      ? [
          at(
            ['contention_events'],
            line(
              () => locks.contentionEvents,
              () => {
                locks.contentionEvents = 0
                return written
              },
            ),
          ),
        ]
      : []),
    ...Object.entries(pool).map(([name, get]) => at(['pool', name], line(get))),
    at(['pool', 'limit'], storedNumber(locks.pool.limit)),
    at(['pool', 'lock_volume_factor'], storedNumber(locks.pool.lvf)),
    at(['pool', 'recalc_period'], storedNumber(locks.recalcPeriod)),
    at(['pool', 'state'], text(state), 'debugfs'),
    at(['pool', 'stats'], statsFile(node, locks.poolStats, POOL_COUNTERS), 'debugfs'),
  ]
}

/** Lock counters of a namespace; undefined where they are not counted. */
export type LocksOf = (ns: Namespace) => LockView | undefined

/** Parameters of all namespaces of a node, and shared ones. */
export function ldlmParameters(node: NodeState, namespaces: readonly Namespace[], locksOf: LocksOf): Parameter[] {
  const pools = { server: 0, client: 0 }
  const served: LockView[] = []
  const perNamespace = namespaces.flatMap((ns) => {
    const number = ns.side === 'server' ? pools.server++ : pools.client++
    const locks = locksOf(ns)
    if (locks && ns.side === 'server') served.push(locks)
    return [
      ...Object.entries(attributes(ns, node)).map(([name, ops]) =>
        file('sysfs', ['ldlm', 'namespaces', ns.name, name], ops),
      ),
      ...(locks ? lockFiles(ns, locks, number, node) : []),
    ]
  })
  return [
    file('sysfs', ['ldlm', 'cancel_unused_locks_before_replay'], storedNumber(1, { max: 1 })),
    file(node.debugfsThenSysfs, ['ldlm', 'dump_granted_max'], storedNumber(256)),
    ...(served.length > 0
      ? [
          file(
            node.debugfsThenSysfs,
            ['ldlm', 'lock_granted_count'],
            line(() => served.reduce((n, l) => n + l.pool.granted, 0)),
          ),
        ]
      : []),
    ...(node.profile.text.hasStatsHeaderSwitch
      ? [
          file(
            'sysfs',
            ['ldlm', 'ldlm_enqueue_min'],
            line(() => 100),
          ),
        ]
      : []),
    ...perNamespace,
  ]
}
