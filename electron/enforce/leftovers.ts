/**
 * Leftovers: rules and timers of Sluice on servers that no running console manages, for example of a console that was
 * killed or of a controller whose process has ended, and, worst, rules that no timer will stop.
 */
import type { Leftover } from '#core/api/clusters.ts'
import type { NodeEnd } from '#core/api/rule-edits.ts'
import { isLustreServer, type NodeConnection } from '../base/connection.ts'
import { SERVICES } from '../base/service.ts'
import type { Audit } from '../base/audit.ts'
import { covers, readTimers, type FoundTimer } from './expiry.ts'
import { ownership, type RuleSpot } from './managed-names.ts'
import { readActiveRules, removeRules, type ActiveRule } from './remove-rules.ts'
import type { EnforcementStore } from './store.ts'
import { isOrphan } from './store-leases.ts'

const ANSWER_MS = 10_000

export interface LeftoverParts {
  readonly cluster: string
  readonly nodes: readonly NodeConnection[]
  readonly store: EnforcementStore | undefined
  /** True for a rule that this process started or that its controllers manage. */
  readonly isHeld: (spot: RuleSpot) => boolean
  /** Units that this process renews or waits for. */
  readonly heldUnits: ReadonlySet<string>
  readonly nowMs: () => number
}

/** One leftover rule or timer, and how to remove it. */
export interface FoundLeftover extends Leftover {
  readonly spot: RuleSpot | undefined
  readonly units: readonly string[]
}

/** Timers that will stop a rule. */
const timersOf = (spot: RuleSpot, timers: readonly FoundTimer[]): FoundTimer[] =>
  timers.filter(
    (t) => t.isOwn && covers(t, [{ parameter: SERVICES[spot.service].rules, queue: spot.queue, name: spot.name }]),
  )

function ruleLeftover(r: ActiveRule, timers: readonly FoundTimer[] | undefined, parts: LeftoverParts): FoundLeftover {
  const { host, service, queue, name, line } = r
  const known = parts.store?.rules.find({ cluster: parts.cluster, host, service, queue, name })
  const matching = timersOf(r, timers ?? [])
  const first = matching.toSorted((a, b) => (a.leftS ?? Infinity) - (b.leftS ?? Infinity))[0]
  const warning = timers && matching.length === 0 ? '; nothing will stop it' : ''
  return {
    key: [host, service, queue, name].join('/'),
    host,
    service,
    queue,
    rule: name,
    text: `${line.conditions} ${line.rate} RPC/s${warning}`,
    timer: first?.unit ?? '',
    expiresMs: first?.leftS === undefined ? null : Math.round(parts.nowMs() + first.leftS * 1000),
    owner: known ? `${known.owner}${known.reason === '' ? '' : `: ${known.reason}`}` : '',
    spot: { host, service, queue, name },
    units: matching.map((t) => t.unit),
  }
}

/** Leftovers of one server; the reason if they cannot be determined. */
async function leftoversOn(node: NodeConnection, parts: LeftoverParts): Promise<FoundLeftover[] | string> {
  const { cluster, store, isHeld, heldUnits, nowMs } = parts
  const active = await readActiveRules(node, ANSWER_MS)
  if (!active) return `${node.host}: its rules cannot be read`
  const isManaged = ownership(cluster, store)
  const kind = node.timers ?? 'systemd'
  const listed = kind === 'none' ? undefined : await readTimers(node, ANSWER_MS)
  if (listed && !listed.ok && active.some(isManaged)) return `${node.host}: ${listed.error.why ?? listed.error.what}`
  const timers = listed?.ok ? listed.value : []
  // A rule whose name an operator chose on another machine is recognized by the Sluice timer that will stop it.
  const leftover = active.filter((r) => isManaged(r) || timersOf(r, timers).length > 0)
  const now = nowMs()
  // Another console, or a command, may be working on the same cluster.
  const leased = (store?.leases.of(cluster) ?? []).filter((l) => l.host === node.host && !isOrphan(l, now))
  const leasedUnits = new Set([...heldUnits, ...leased.map((l) => l.unit)])
  const otherRules = (store?.rules.of(cluster, node.host) ?? []).filter(
    (r) => r.by && !isOrphan({ ...r.by, expiresMs: Infinity }, now),
  )
  for (const r of otherRules) leasedUnits.add(r.unit)
  const isOfOther = (s: RuleSpot): boolean =>
    otherRules.some((r) => r.service === s.service && r.queue === s.queue && r.name === s.name)
  const rules = leftover
    .filter((r) => {
      if (isHeld(r)) return false
      // A rule without a timer is reported, whichever user owns it: nothing else will stop it.
      if (timersOf(r, timers).length === 0) return true
      return !isOfOther(r) && !timersOf(r, timers).some((t) => leasedUnits.has(t.unit))
    })
    .map((r) => ruleLeftover(r, timers, parts))
  const named = new Set(rules.flatMap((r) => r.units))
  const bare = timers
    .filter((t) => t.isOwn && !leasedUnits.has(t.unit) && !named.has(t.unit))
    .map((t): FoundLeftover => ({
      key: [node.host, 'timer', t.unit].join('/'),
      host: node.host,
      service: '',
      queue: '',
      rule: '',
      text: `a timer for ${t.stops.length} ${t.stops.length === 1 ? 'rule' : 'rules'}, none of them a leftover`,
      timer: t.unit,
      expiresMs: t.leftS === undefined ? null : Math.round(now + t.leftS * 1000),
      owner: '',
      spot: undefined,
      units: [t.unit],
    }))
  return [...rules, ...bare]
}

/**
 * Checks every server that answers. Nothing is changed.
 *
 * @returns  leftovers, rules without a timer first; and why some servers could not be checked.
 */
export async function findLeftovers(parts: LeftoverParts): Promise<{ list: FoundLeftover[]; fault: string }> {
  const nodes = parts.nodes.filter(isLustreServer)
  const found = await Promise.all(nodes.map((n) => leftoversOn(n, parts)))
  const list = found.flatMap((f) => (typeof f === 'string' ? [] : f))
  const danger = (l: FoundLeftover): number => (l.rule === '' ? 2 : l.timer === '' ? 0 : 1)
  return {
    list: list.toSorted((a, b) => danger(a) - danger(b)),
    fault: found.filter((f) => typeof f === 'string').join('; '),
  }
}

/** Removes leftovers by their keys; what is no longer a leftover stays. Returns one result per server that had any. */
export async function cleanLeftovers(
  parts: LeftoverParts & { readonly audit: Audit },
  keys: readonly string[],
): Promise<NodeEnd[]> {
  const { list } = await findLeftovers(parts)
  const chosen = list.filter((l) => keys.includes(l.key))
  const hosts = [...new Set(chosen.map((l) => l.host))]
  return Promise.all(
    hosts.flatMap((host) => {
      const onHost = chosen.filter((l) => l.host === host)
      const node = parts.nodes.find((n) => n.host === host && isLustreServer(n))
      return node ? [cleanOn(node, onHost, parts)] : []
    }),
  )
}

async function cleanOn(
  node: NodeConnection,
  leftovers: readonly FoundLeftover[],
  { audit, nowMs, store, cluster }: LeftoverParts & { readonly audit: Audit },
): Promise<NodeEnd> {
  const rules = leftovers.flatMap((l) => l.spot ?? [])
  const units = [...new Set(leftovers.flatMap((l) => l.units))]
  const { removed: _, ...end } = await removeRules({ node, rules, units, audit, nowMs, answerMs: ANSWER_MS })
  if (end.state === 'done') for (const r of rules) store?.rules.forget({ cluster, ...r })
  return end
}
