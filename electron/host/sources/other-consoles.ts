/**
 * Other consoles that enforce on the same cluster: those of this data folder by the leases in the enforcement store,
 * others by their leases on the servers. Enforce is never entered beside another console; a takeover must be requested,
 * is recorded, and waits until the others have left.
 */
import { fail, ok, type Result } from '#core/base/result.ts'
import { isLustreServer, type NodeConnection } from '../../base/connection.ts'
import { SERVICES } from '../../base/service.ts'
import { consoleName } from '../../enforce/console-name.ts'
import { readTimers, type FoundTimer } from '../../enforce/expiry.ts'
import type { Lease } from '../../enforce/lease.ts'
import { readActiveRules, removeRules, type ActiveRule } from '../../enforce/remove-rules.ts'
import { displace, foreignLeases, foreignTimersOn, SETTLE_MS } from '../../enforce/stop-all.ts'
import { thisUser } from '../../enforce/store.ts'
import type { Source } from './source.ts'

const ANSWER_MS = 10_000
/** Longest wait for other processes of this data folder to leave enforce, wall ms. */
const LEAVE_MS = 12_000

/** Active lease of another console. */
export interface OtherLease {
  readonly host: string
  readonly console: string
  readonly lease: string
  /** Time until its timer fires, s; null: not known. */
  readonly leftS: number | null
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Servers that can be queried now. */
function nodesOf({ monitor, facts }: Source): NodeConnection[] {
  const silent = new Set(facts.silent?.() ?? [])
  return monitor.source.nodes.filter((n) => isLustreServer(n) && !silent.has(n.host))
}

/** Long enough for one period of any controller and the answer to a command. */
export const settleMsOf = ({ monitor }: Source): number => Math.max(SETTLE_MS, monitor.intervalNs / 1e6 + SETTLE_MS / 2)

async function foundOn(node: NodeConnection, { monitor, store }: Source): Promise<FoundTimer[]> {
  const timers = await readTimers(node, ANSWER_MS)
  if (!timers.ok || store?.isOpen === false) return []
  return foreignTimersOn(node.host, timers.value, { cluster: monitor.source.cluster, store, session: monitor.session })
}

/** Active leases of other consoles on the servers that answer; none on the emulator. */
export async function otherConsoles(source: Source): Promise<OtherLease[]> {
  const { monitor, store } = source
  if (monitor.source.kind !== 'LIVE') return []
  const now = monitor.nowMs()
  const known = foreignLeases(store, monitor.source.cluster, now).map((l): OtherLease => ({
    host: l.host,
    console: `${l.owner} (process ${l.pid})`,
    lease: l.unit,
    leftS: Math.max(0, (l.expiresMs - now) / 1000),
  }))
  const found = await Promise.all(
    nodesOf(source).map(async (node) => {
      const timers = await foundOn(node, source)
      return timers.map((t): OtherLease => ({
        host: node.host,
        console: consoleName(t.unit),
        lease: t.unit,
        leftS: t.leftS ?? null,
      }))
    }),
  )
  return [...known, ...found.flat()]
}

/** Lists the enforcing consoles in a sentence. */
export function otherConsolesText(leases: readonly OtherLease[]): string {
  const [first] = leases
  if (!first) return ''
  const remaining = first.leftS === null ? '' : `, ${Math.ceil(first.leftS)} s left`
  const hosts = new Set(leases.map((o) => o.host))
  const more = hosts.size > 1 ? `, and ${hosts.size - 1} more servers` : ''
  return `${first.console} holds a lease on ${first.host} (${first.lease}${remaining})${more}`
}

/**
 * Enters enforce. Failures: those of the write protection and of the mode; OTHER_CONSOLE (another console enforces, and no
 * takeover was requested); TAKE_OVER_FAILED (it did not leave).
 */
export async function enterEnforce(source: Source, takeOver: boolean): Promise<Result<undefined>> {
  const { monitor, writeProtection } = source
  const may = writeProtection?.mayEnter('enforce') ?? ok(undefined)
  if (!may.ok || monitor.loop.mode === 'enforce') return may
  const leases = await otherConsoles(source)
  if (leases.length > 0) {
    const taken = takeOver
      ? await takeOverFrom(source, leases)
      : fail({
          code: 'OTHER_CONSOLE',
          what: `Another console enforces on ${monitor.source.cluster}`,
          why: otherConsolesText(leases),
          unaffected: 'It continues unchanged; Observe and Advise work here.',
          next: 'Use Observe or Advise, or take over: the other console then leaves enforce (--take-over).',
        })
    if (!taken.ok) return taken
    // This took seconds: a lock set meanwhile applies.
    const still = writeProtection?.mayEnter('enforce')
    if (still && !still.ok) return still
  }
  return monitor.setMode('enforce')
}

async function takeOverFrom(source: Source, leases: readonly OtherLease[]): Promise<Result<undefined>> {
  const { monitor, store } = source
  const { cluster } = monitor.source
  const failed = (code: string, why: string, next: string): Result<undefined> =>
    fail({ code, what: `${cluster} was not taken over`, why, unaffected: 'This console writes nothing.', next })
  const names = [...new Set(leases.map((o) => o.console))].join(', ')
  const text = `take over from ${names}: ${leases.map((o) => `${o.lease} on ${o.host}`).join(', ')}`
  const atMs = monitor.nowMs()
  try {
    monitor.audit.write(atMs, cluster, 'mode', text)
    monitor.stops.record('take-over', thisUser(), Date.now())
  } catch (e) {
    return failed('NOT_ON_RECORD', e instanceof Error ? e.message : String(e), 'Free space in the data folder.')
  }
  monitor.events.add({ atMs, kind: 'mode', level: 'watch', subject: 'Mode', text, where: cluster })
  const displacedServers = await Promise.all(nodesOf(source).map((node) => removeForeign(node, source)))
  const untilMs = performance.now() + LEAVE_MS
  while (foreignLeases(store, cluster, monitor.nowMs()).length > 0 && performance.now() < untilMs) await pause(100)
  await pause(settleMsOf(source))
  const remaining = await otherConsoles(source)
  for (const displaced of displacedServers) {
    // If a console did not leave, the lease stays to cover the remaining rules.
    if (!displaced || (remaining.length === 0 && !(await isCleared(displaced, source)))) continue
    try {
      await displaced.coverTimer.end(monitor.nowMs())
    } catch {
      // It fires within a minute, on rules that no longer exist.
    }
  }
  if (remaining.length === 0) return ok(undefined)
  return failed(
    'TAKE_OVER_FAILED',
    `it did not leave: ${otherConsolesText(remaining)}`,
    'Ask its operator, or try again.',
  )
}

/** Server where other consoles were displaced. */
interface Displaced {
  readonly node: NodeConnection
  /** Timer that covers their rules meanwhile. */
  readonly coverTimer: Lease
  /** Rules that their leases named: `PARAMETER NAME`. */
  readonly theirs: ReadonlySet<string>
}

const activeRulesOf = async (node: NodeConnection, theirs: ReadonlySet<string>): Promise<ActiveRule[] | undefined> =>
  (await readActiveRules(node, ANSWER_MS))?.filter((r) => theirs.has(`${SERVICES[r.service].rules} ${r.name}`))

/**
 * True if none of their rules is left on the server. Rules started after it was read, and before their leases ended,
 * are covered by the cover timer alone: they are removed before it ends.
 */
async function isCleared({ node, theirs }: Displaced, { monitor }: Source): Promise<boolean> {
  const late = await activeRulesOf(node, theirs)
  if (late === undefined || late.length === 0) return late !== undefined
  const { audit } = monitor
  await removeRules({ node, rules: late, units: [], audit, nowMs: () => monitor.nowMs(), answerMs: ANSWER_MS })
  return (await activeRulesOf(node, theirs))?.length === 0
}

/** Ends the leases of other consoles, and removes their rules. */
async function removeForeign(node: NodeConnection, source: Source): Promise<Displaced | undefined> {
  const { audit, session } = source.monitor
  const leases = await foundOn(node, source)
  if (leases.length === 0) return undefined
  const theirs = new Set(leases.flatMap((t) => t.stops.map((s) => `${s.parameter} ${s.name}`)))
  const rules = (await activeRulesOf(node, theirs)) ?? []
  const nowMs = (): number => source.monitor.nowMs()
  const coverTimer = await displace(node, leases, rules, {
    audit,
    session,
    nowMs,
    answerMs: ANSWER_MS,
    purpose: 'take',
  })
  if (!coverTimer) return undefined
  await removeRules({ node, rules, units: [], audit, nowMs, answerMs: ANSWER_MS })
  return { node, coverTimer, theirs }
}
