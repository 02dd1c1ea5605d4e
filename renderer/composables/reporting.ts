/** Reporting state of the current servers, as text, and whether totals include all of them. */
import { computed } from 'vue'
import type { ServerRole } from '#core/api/clusters.ts'
import { useConnectionsStore } from '../stores/connections.ts'
import { useSourceStore } from '../stores/source.ts'

const names: Readonly<Partial<Record<ServerRole, string>>> = { oss: 'OSS', mds: 'MDS' }

export function useReporting() {
  const source = useSourceStore()
  const connections = useConnectionsStore()
  const nodes = computed(() => source.frame?.nodes ?? null)
  const isPartial = computed(() => nodes.value !== null && nodes.value.reporting < nodes.value.total)
  const reported = computed(() => {
    if (nodes.value === null || !isPartial.value) return 'all'
    return nodes.value.reporting === 0 ? 'none' : 'some'
  })
  const missing = computed(() => nodes.value?.missing ?? [])
  /** `11/12 OSS`, followed by the MDSs; servers if roles are unknown. */
  const parts = computed(() => {
    const now = nodes.value
    if (now === null) return []
    const silent = new Set(now.missing.map((m) => m.host))
    // Recorded frames may be from other servers than the cards.
    const servers = source.frame?.source.kind === 'RECORDED' ? [] : (connections.onScreen?.servers ?? [])
    const kinds = (['oss', 'mds'] as const).flatMap((role) => {
      const those = servers.filter((s) => s.roles.includes(role) && (role === 'oss' || !s.roles.includes('oss')))
      const up = those.filter((s) => !silent.has(s.host)).length
      return those.length === 0 ? [] : [{ up, of: those.length, name: names[role] ?? role }]
    })
    const up = kinds.reduce((n, k) => n + k.up, 0)
    const of = kinds.reduce((n, k) => n + k.of, 0)
    if (up === now.reporting && of === now.total) return kinds
    return [{ up: now.reporting, of: now.total, name: source.frame?.source.kind === 'LIVE' ? 'servers' : 'OSS' }]
  })
  const text = computed(() => parts.value.map((p) => `${p.up}/${p.of} ${p.name}`).join(' \u00B7 '))
  /** Roles with missing servers. */
  const short = computed(() =>
    parts.value
      .filter((p) => p.up < p.of)
      .map((p) => `${p.up}/${p.of} ${p.name}`)
      .join(', '),
  )
  /** Marks a total as a lower bound while some servers do not report. */
  const total = (figure: string): string => (isPartial.value && /\d/.test(figure) ? `\u2265 ${figure}` : figure)
  return { nodes, isPartial, reported, missing, parts, text, short, total }
}
