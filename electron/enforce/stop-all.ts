/**
 * The global stop: controllers end, then every rule of ours goes from every server that answers, a few servers at a time. Allowed
 * while the cluster is locked, since it ends limits and makes none; not in read-only, where nothing is ever written and a script says
 * what to type instead.
 */
import type { NodeEnd } from '#core/api/rule-edits.ts'
import { isLustreServer, type NodeConnection } from '../cluster/connection.ts'
import type { Audit } from './audit.ts'
import { readTimers } from './expiry.ts'
import { ownership } from './own-names.ts'
import { readStanding, removeRules, type RemovalEnd } from './remove-rules.ts'
import type { EnforcementStore } from './store.ts'

const ANSWER_MS = 10_000
/** Servers at once. */
const AT_ONCE = 16

export interface StopParts {
  readonly cluster: string
  readonly nodes: readonly NodeConnection[]
  /** Servers that are not connected: named, with the timers that are known to be there. */
  readonly silent?: readonly string[] | undefined
  readonly store: EnforcementStore | undefined
  readonly audit: Audit
  /** Unix ms on the source's clock. */
  readonly nowMs: () => number
  /** Ends whatever writes by itself. */
  readonly stopControllers: () => void
  readonly answerMs?: number | undefined
}

/** What will stop the rules of a server that does not answer, as far as it is on record. */
function timersKnown({ cluster, store, nowMs }: StopParts, host: string): string {
  const rules = store?.rules.of(cluster, host) ?? []
  const leases = (store?.leases.of(cluster) ?? []).filter((l) => l.host === host)
  const at = new Map<string, number>()
  for (const r of rules) if (r.unit !== '' && r.expiresMs !== null) at.set(r.unit, r.expiresMs)
  for (const l of leases) at.set(l.unit, l.expiresMs)
  const now = nowMs()
  const pending = [...at]
    .filter(([, ms]) => ms > now)
    .map(([unit, ms]) => `${unit} in ${Math.ceil((ms - now) / 1000)} s`)
  const bare = rules.filter((r) => r.unit === '').map((r) => r.name)
  return [
    pending.length > 0 ? `its rules end by ${pending.join(', ')}` : 'no timer of ours is known there',
    ...(bare.length > 0 ? [`without a timer: ${bare.join(', ')}`] : []),
  ].join('; ')
}

async function stopOn(node: NodeConnection, parts: StopParts): Promise<RemovalEnd> {
  const answerMs = parts.answerMs ?? ANSWER_MS
  const isOwn = ownership(parts.cluster, parts.store)
  const standing = await readStanding(node, answerMs)
  if (!standing) {
    const detail = `it does not answer; ${timersKnown(parts, node.host)}`
    return { host: node.host, state: 'not sent', removed: 0, detail }
  }
  const rules = standing.filter(isOwn)
  const timers = await readTimers(node, answerMs)
  const units = timers.ok ? timers.value.filter((t) => t.isOwn).map((t) => t.unit) : []
  const { nowMs, audit } = parts
  const end = await removeRules({ node, rules, units, audit, nowMs, answerMs })
  if (end.state === 'done') {
    for (const { host, service, queue, name } of rules) {
      parts.store?.rules.forget({ cluster: parts.cluster, host, service, queue, name })
    }
  }
  return end
}

/** Stops everything of ours. Never rejects; one end a server, in the order of the source, silent ones last. */
export async function stopEverything(parts: StopParts): Promise<{ removed: number; nodes: NodeEnd[] }> {
  parts.stopControllers()
  const nodes = parts.nodes.filter(isLustreServer)
  const ends = new Map<NodeConnection, RemovalEnd>()
  const queue = [...nodes]
  const work = async (): Promise<void> => {
    for (let node = queue.shift(); node; node = queue.shift()) ends.set(node, await stopOn(node, parts))
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, nodes.length) }, work))
  const silent = (parts.silent ?? []).map((host) => ({
    ...{ host, state: 'not sent' as const, removed: 0 },
    detail: `it is not connected; ${timersKnown(parts, host)}`,
  }))
  const all = [...nodes.flatMap((n) => ends.get(n) ?? []), ...silent]
  return {
    removed: all.reduce((n, e) => n + e.removed, 0),
    nodes: all.map(({ host, state, detail }) => ({ host, state, detail })),
  }
}
