/**
 * Lock manager counters of a server's own namespaces, parsed from one `lctl get_param` answer.
 *
 * Source: spec/lustre 5.1-5.3, measured A17, A18, A30. The set of files depends on the release and the reader's rights: contention_events
 * exists only on the development line, pool.stats needs root. A missing file is a gap, never a zero. None of them contains lock modes
 * (5.4).
 *
 * `pool.grant_rate` and `pool.cancel_rate` count since the pool was last recalculated, which may be very recent: rates are derived from
 * the monotonic counts of pool.stats if those are readable.
 */
import { splitParams } from './lctl.ts'
import { parseStatsTable } from './stats-table.ts'
import type { ByteText } from './text.ts'

/** Counts of one namespace; undefined if the server did not print it, or not as a number. */
export interface LdlmCounters {
  /** `filter-testfs-OST0000_UUID`. */
  readonly namespace: string
  /** Target of the namespace. */
  readonly target: string
  /** Locks, granted and waiting. */
  readonly locks: number | undefined
  /** Locks in a client's list of unused ones; 0 on servers. */
  readonly unused: number | undefined
  readonly resources: number | undefined
  /** Callbacks not answered in time: clients evicted for it. */
  readonly timeouts: number | undefined
  /** Number of conflicts that make a resource contended (a setting). */
  readonly contendedLocks: number | undefined
  /** Number of times a resource became contended. */
  readonly contentions: number | undefined
  readonly granted: number | undefined
  /** Locks granted since the pool was last recalculated. */
  readonly grantRate: number | undefined
  /** Locks canceled since the pool was last recalculated. */
  readonly cancelRate: number | undefined
  readonly limit: number | undefined
  /** Locks since the table was last cleared, and the server's clock at the reading, Unix s; undefined without root. */
  readonly total: { readonly grants: number; readonly cancels: number; readonly atS: number } | undefined
}

export interface LdlmAnswer {
  readonly namespaces: readonly LdlmCounters[]
  /** `ldlm.lock_granted_count`: all locks granted by the node, including those of an MGS. */
  readonly grantedOnNode: number | undefined
  /** Values of namespaces that belong to no target of this server: MGS, MGC, and connections to other targets. */
  readonly foreign: number
  /** Values that could not be read. */
  readonly skipped: number
}

const SCALARS = {
  lock_count: 'locks',
  lock_unused_count: 'unused',
  resource_count: 'resources',
  lock_timeouts: 'timeouts',
  contended_locks: 'contendedLocks',
  contention_events: 'contentions',
} as const
const POOL_SCALARS = {
  granted: 'granted',
  grant_rate: 'grantRate',
  cancel_rate: 'cancelRate',
  limit: 'limit',
} as const
type Scalar = (typeof SCALARS)[keyof typeof SCALARS] | (typeof POOL_SCALARS)[keyof typeof POOL_SCALARS]

const GRANTED = 'ldlm.lock_granted_count'
const SERVED = 'ldlm.namespaces.{filter,mdt}-*_UUID'

/**
 * Parameters to request from a server. Alternatives are in braces, which lctl expands: a release that lacks one of them returns the
 * others without an error.
 */
export const LDLM_PARAMETERS: readonly string[] = [
  GRANTED,
  `${SERVED}.{${Object.keys(SCALARS).join(',')}}`,
  `${SERVED}.pool.{${[...Object.keys(POOL_SCALARS), 'stats'].join(',')}}`,
]

const PREFIX = 'ldlm.namespaces.'
/** A target's own namespace and one of its files. All parts are bounded, because the text is untrusted. */
const NAMESPACE_FILE =
  /^((?:filter-([\w-]{1,16}-OST[0-9a-f]{4})|mdt-([\w-]{1,16}-MDT[0-9a-f]{4}))_UUID)\.(pool\.)?([a-z_]{1,40})$/

/** Parses a count up to 2^53; undefined for any other text. */
function countOf(text: ByteText): number | undefined {
  const n = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(n) ? n : undefined
}

/** Target of a namespace; a name of another form is shown as it is. */
export const targetOfNamespace = (namespace: string): string =>
  /^(?:filter|mdt)-(.+)_UUID$/.exec(namespace)?.[1] ?? namespace

type Fields = { -readonly [K in Scalar]?: number } & { total?: LdlmCounters['total'] }

/** Only nonzero counters are printed: a table with times and no row means zero. */
function totalOf(text: ByteText): LdlmCounters['total'] {
  const { times, rows } = parseStatsTable(text)
  const atS = Number.parseFloat(times.snapshot)
  if (!(atS > 0)) return undefined
  const of = (name: string): number => rows.find((r) => r.name === name)?.samples ?? 0
  return { grants: of('grant'), cancels: of('cancel'), atS }
}

/** Stores one value; false if it cannot be parsed. */
function take(fields: Fields, inPool: boolean, attribute: string, value: ByteText): boolean {
  if (inPool && attribute === 'stats') return (fields.total = totalOf(value)) !== undefined
  const names: Readonly<Record<string, Scalar>> = inPool ? POOL_SCALARS : SCALARS
  const name = Object.hasOwn(names, attribute) ? names[attribute] : undefined
  // Ignores unrelated values of a broader query.
  if (!name) return true
  const n = countOf(value)
  if (n !== undefined) fields[name] = n
  return n !== undefined
}

/** Parses an answer to `LDLM_PARAMETERS`, or any other of get_param; never throws. */
export function parseLdlm(text: ByteText): LdlmAnswer {
  const byNamespace = new Map<string, { readonly target: string; readonly fields: Fields }>()
  let grantedOnNode: number | undefined
  let foreign = 0
  let skipped = 0
  for (const [name, value] of splitParams(text)) {
    if (name === GRANTED) {
      grantedOnNode = countOf(value)
      if (grantedOnNode === undefined) skipped++
    } else if (name.startsWith(PREFIX)) {
      const match = NAMESPACE_FILE.exec(name.slice(PREFIX.length))
      if (!match) {
        foreign++
        continue
      }
      const [, namespace = '', ost, mdt = '', pool, attribute = ''] = match
      let entry = byNamespace.get(namespace)
      if (!entry) byNamespace.set(namespace, (entry = { target: ost ?? mdt, fields: {} }))
      if (!take(entry.fields, pool !== undefined, attribute, value)) skipped++
    }
  }
  const namespaces = [...byNamespace].map(([namespace, { target, fields: f }]) => ({
    namespace,
    target,
    locks: f.locks,
    unused: f.unused,
    resources: f.resources,
    timeouts: f.timeouts,
    contendedLocks: f.contendedLocks,
    contentions: f.contentions,
    granted: f.granted,
    grantRate: f.grantRate,
    cancelRate: f.cancelRate,
    limit: f.limit,
    total: f.total,
  }))
  return { namespaces, grantedOnNode, foreign, skipped }
}
