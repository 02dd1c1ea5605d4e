/** Rows of the namespaces table. */
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
  readonly level: Level
  readonly why: string
  readonly spark: readonly (number | null)[]
}
export type NamespaceCounter = Exclude<keyof NamespaceRow, 'level' | 'why' | 'spark' | 'namespace' | 'target' | 'node'>

/** Rows by name, so that those with equal counters keep their order. */
export function namespaceRows(ldlm: NonNullable<LocksFrame['ldlm']>): NamespaceRow[] {
  const rows = ldlm.namespace.map((namespace, i) => ({
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
    level: ldlm.level[i] ?? 'unknown',
    why: ldlm.why[i] ?? '',
    spark: ldlm.spark[i] ?? [],
  }))
  return rows.sort((a, b) => (a.namespace < b.namespace ? -1 : Number(a.namespace > b.namespace)))
}
