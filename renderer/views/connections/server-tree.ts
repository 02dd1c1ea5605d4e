/** Tree of a cluster's servers: bastion, MGS, then MDSes and OSSes folded by role, as discovered. */
import { shortHosts } from '#core/base/host-list.ts'
import type { Level } from '#core/api/frames.ts'
import { serverRole, type ServerCard, type ServerRole } from '#core/api/clusters.ts'
import { formatNumber, plural } from '../../format/units.ts'

export type GroupKind = 'bastion' | 'mgs' | 'mds' | 'oss' | 'other'
export interface ServerGroup {
  readonly key: string
  readonly kind: GroupKind
  /** Host names, e.g. `oss01 to oss12`. */
  readonly names: string
  /** Targets, e.g. `48 OST`, or the role of a single server. */
  readonly what: string
  readonly level: Level
  /** Servers answering, e.g. `12 of 12`, or the round trip of a single one. */
  readonly state: string
  /** Depth in the tree; 0 is the root. */
  readonly depth: number
  /** Empty for a bastion, which is only a jump host. */
  readonly servers: readonly ServerCard[]
}

const byName = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

/** `oss01 to oss12`, `mds01, mds02`, `oss01 to oss04, oss07`. Runs of three or more show both ends. */
export const hostNames = (hosts: readonly string[]): string =>
  shortHosts([...hosts].sort(byName), (run) => `${run.hosts[0]} to ${run.hosts.at(-1)}`)

const roleNames: Readonly<Record<ServerRole, string>> = {
  mgs: 'MGS',
  mds: 'MDS',
  oss: 'OSS',
  scheduler: 'scheduler',
  controller: 'controller',
  haechi: 'data node',
  ccpfs: 'ccPFS',
}
export const rolesOf = (roles: readonly ServerRole[]): string =>
  serverRole.options
    .filter((role) => roles.includes(role))
    .map((role) => roleNames[role])
    .join(', ')

const weight: Readonly<Record<Level, number>> = { ok: 0, idle: 1, unknown: 2, watch: 3, bad: 4 }
export const worstLevel = (levels: readonly Level[]): Level =>
  levels.reduce<Level>((most, level) => (weight[level] > weight[most] ? level : most), 'ok')

export const roundTrip = (ms: number | null): string => {
  if (ms === null) return ''
  return `${formatNumber(ms, ms < 10 ? 1 : 0)} ms`
}
const countOf = (servers: readonly ServerCard[], kind: 'OST' | 'MDT'): number =>
  new Set(servers.flatMap((s) => s.targets.filter((t) => new RegExp(`(^|-)${kind}[0-9a-f]{4}`, 'i').test(t)))).size

function whatOf(servers: readonly ServerCard[], roles: string): string {
  const counts = (['MDT', 'OST'] as const).flatMap((kind) => {
    const n = countOf(servers, kind)
    return n === 0 ? [] : [`${formatNumber(n)} ${kind}`]
  })
  // The names of a run already show OSS or MDS; its targets are the useful part.
  if (counts.length > 0 && servers.length > 1) return counts.join(', ')
  return [roles || 'role not detected yet', ...counts].join(', ')
}

/** True while connected and answering the probes. */
export const isAnswering = ({ state, level }: ServerCard): boolean => state === 'connected' && level !== 'bad'

const stateNames: Readonly<Record<ServerCard['state'], string>> = {
  idle: 'idle',
  connecting: 'connecting',
  connected: 'connected',
  lost: 'lost',
  refused: 'refused',
}
function stateOf(servers: readonly ServerCard[]): string {
  const [only] = servers
  if (servers.length === 1 && only) {
    if (isAnswering(only)) return roundTrip(only.roundTripMs) || 'connected'
    return only.state === 'connected' ? 'no data' : stateNames[only.state]
  }
  if (servers.every((s) => s.state === 'idle')) return 'idle'
  const answering = servers.filter(isAnswering).length
  return `${formatNumber(answering)} of ${formatNumber(servers.length)}`
}

const kindOf = (roles: readonly ServerRole[]): GroupKind =>
  (['mgs', 'mds', 'oss'] as const).find((role) => roles.includes(role)) ?? 'other'

export function treeOf(servers: readonly ServerCard[]): ServerGroup[] {
  const bastions = [...Map.groupBy(servers, (s) => s.via)].filter(([via]) => via !== '')
  const byRole = [...Map.groupBy(servers, (s) => rolesOf(s.roles))].map(([roles, those]) => ({
    roles,
    those,
    kind: kindOf(those[0]?.roles ?? []),
  }))
  const order: readonly GroupKind[] = ['mgs', 'mds', 'oss', 'other']
  byRole.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || byName(a.roles, b.roles))
  const under = bastions.length > 0 ? 1 : 0
  const hasMgs = byRole[0]?.kind === 'mgs'
  return [
    ...bastions.map(([via, those]): ServerGroup => {
      const isUsed = those.some((s) => s.state === 'connected')
      const level = isUsed ? 'ok' : worstLevel(those.map((s) => s.level))
      return {
        key: `via ${via}`,
        kind: 'bastion',
        names: via,
        what: 'bastion',
        level,
        depth: 0,
        servers: [],
        state: isUsed ? `used by ${plural(those.length, 'server')}` : stateOf(those.slice(0, 1)),
      }
    }),
    ...byRole.map(({ roles, those, kind }): ServerGroup => ({
      key: `role ${roles}`,
      kind,
      servers: those,
      names: hostNames(those.map((s) => s.host)),
      what: whatOf(those, roles),
      level: worstLevel(those.map((s) => s.level)),
      state: stateOf(those),
      depth: under + (hasMgs && kind !== 'mgs' ? 1 : 0),
    })),
  ]
}
