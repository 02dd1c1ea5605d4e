/** Rows of the namespaces table, and their sort order. */
import type { LocksFrame } from '#core/api/locks.ts'
import type { Level } from '#core/api/parts.ts'

export interface NamespaceRow {
  readonly namespace: string
  readonly target: string
  readonly node: string
  readonly locks: number | null
  readonly unused: number | null
  readonly resources: number | null
  readonly granted: number | null
  readonly grantRate: number | null
  readonly cancelRate: number | null
  readonly limit: number | null
  readonly timeouts: number | null
  readonly contentions: number | null
  readonly level: Level
  readonly why: string
  readonly spark: readonly (number | null)[]
}
export type NamespaceColumn = Exclude<keyof NamespaceRow, 'level' | 'why' | 'spark' | 'namespace'>

export function namespaceRows(ldlm: NonNullable<LocksFrame['ldlm']>): NamespaceRow[] {
  return ldlm.namespace.map((namespace, i) => ({
    namespace,
    target: ldlm.target[i] ?? '',
    node: ldlm.node[i] ?? '',
    locks: ldlm.locks[i] ?? null,
    unused: ldlm.unused[i] ?? null,
    resources: ldlm.resources[i] ?? null,
    granted: ldlm.granted[i] ?? null,
    grantRate: ldlm.grantRate[i] ?? null,
    cancelRate: ldlm.cancelRate[i] ?? null,
    limit: ldlm.limit[i] ?? null,
    timeouts: ldlm.timeouts[i] ?? null,
    contentions: ldlm.contentions[i] ?? null,
    level: ldlm.level[i] ?? 'unknown',
    why: ldlm.why[i] ?? '',
    spark: ldlm.spark[i] ?? [],
  }))
}

/** Sorts text ascending and numbers descending; unknown values come last. */
export function sortedRows(rows: readonly NamespaceRow[], by: NamespaceColumn): NamespaceRow[] {
  return [...rows].sort((a, b) => {
    const x = a[by]
    const y = b[by]
    if (typeof x === 'string' || typeof y === 'string') return String(x).localeCompare(String(y), 'en')
    if (x === null || y === null) return Number(x === null) - Number(y === null)
    return y - x || a.namespace.localeCompare(b.namespace, 'en')
  })
}
