/**
 * Global stop. The stop record is written first; every process of this data folder checks it before each command.
 * Pending work of this process is awaited; then every rule of Sluice is removed from every server that answers, a few
 * servers at a time. The rules are read again after longer than a period, and timers and leases end only after that:
 * commands that may still act are covered until then.
 *
 * Consoles of other data folders are known by their leases on the servers. A timer of this stop covers their rules
 * while their leases and rules are removed, so that they find both gone and leave enforce, and no rule is ever without
 * a timer.
 *
 * Allowed while the cluster is locked, since it only ends limits; not in read-only, where nothing is ever written and a
 * script lists the commands to type instead.
 */
import type { NodeEnd, StopResult } from '#core/api/rule-edits.ts'
import { ok, type Result } from '#core/base/result.ts'
import { isLustreServer, type NodeConnection } from '../base/connection.ts'
import { SERVICES } from '../base/service.ts'
import type { Audit, AuditWriter } from '../base/audit.ts'
import { consoleName, consoleUnit, isOfSession, type UnitPurpose } from './console-name.ts'
import { lockCommits } from './commit-lock.ts'
import { covers, readTimers, type FoundTimer } from './expiry.ts'
import type { TimerStop } from './expiry-spec.ts'
import { Lease } from './lease.ts'
import { ownership, type RuleSpot } from './managed-names.ts'
import { endTimerUnits, readActiveRules, removeRules, type RemovalEnd, type ActiveRule } from './remove-rules.ts'
import { isOrphan, thisProcess, type LeaseRecord } from './store-leases.ts'
import type { EnforcementStore } from './store.ts'

const ANSWER_MS = 10_000
/** Servers processed concurrently. */
const AT_ONCE = 16
/** Least time between the removal and the verifying read, wall ms. */
export const SETTLE_MS = 2_000
/**
 * Longest wait for pending work: here, in a commit of another process, and until other processes have seen the stop,
 * wall ms.
 */
const UNDER_WAY_MS = 12_000
/** Number of attempts to remove rules that come back. */
const ROUNDS = 3

export interface StopParts {
  readonly cluster: string
  readonly nodes: readonly NodeConnection[]
  /** Servers that are not connected: reported with the timers known to be there. */
  readonly silent?: readonly string[] | undefined
  readonly store: EnforcementStore | undefined
  readonly audit: Audit
  /** Part of the names of this console's timers. */
  readonly session: string
  /** Unix ms on the source's clock. */
  readonly nowMs: () => number
  /** Records the stop for all processes, and ends this process's controllers. @throws if it cannot be recorded. */
  readonly stopControllers: () => void
  /** Waits at most so many ms for pending work of this process; @returns servers on which a command may still act. */
  readonly over?: ((ms: number) => Promise<ReadonlySet<string>>) | undefined
  /** Time between the removal and the verifying read: longer than a period of any controller, wall ms. */
  readonly settleMs?: number | undefined
  readonly answerMs?: number | undefined
  readonly underWayMs?: number | undefined
}

/** Calls the store, ignoring its errors: its disk may be full, and rules are removed all the same. */
function tolerant<T>(act: () => T, otherwise: T): T {
  try {
    return act()
  } catch {
    return otherwise
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Timers that will stop the rules of a server that does not answer, as far as recorded. */
function timersKnown({ cluster, store, nowMs }: StopParts, host: string): string {
  const rules = tolerant(() => store?.rules.of(cluster, host) ?? [], [])
  const leases = tolerant(() => store?.leases.of(cluster) ?? [], []).filter((l) => l.host === host)
  const at = new Map<string, number>()
  for (const r of rules) if (r.unit !== '' && r.expiresMs !== null) at.set(r.unit, r.expiresMs)
  for (const l of leases) at.set(l.unit, l.expiresMs)
  const now = nowMs()
  const pending = [...at]
    .filter(([, ms]) => ms > now)
    .map(([unit, ms]) => `${unit} in ${Math.ceil((ms - now) / 1000)} s`)
  const bare = rules.filter((r) => r.unit === '').map((r) => r.name)
  return [
    pending.length > 0 ? `its rules end by ${pending.join(', ')}` : 'no Sluice timer is known there',
    ...(bare.length > 0 ? [`without a timer: ${bare.join(', ')}`] : []),
  ].join('; ')
}

/** Leases of other running processes of this data folder. */
export function foreignLeases(store: EnforcementStore | undefined, cluster: string, nowMs: number): LeaseRecord[] {
  const me = thisProcess()
  const isThisProcess = (l: LeaseRecord): boolean => l.machine === me.machine && l.pid === me.pid && l.born === me.born
  return tolerant(() => store?.leases.of(cluster) ?? [], []).filter((l) => !isThisProcess(l) && !isOrphan(l, nowMs))
}

/** Timers of consoles of other data folders, on one server. */
export function foreignTimersOn(
  host: string,
  timers: readonly FoundTimer[],
  { cluster, store, session }: Pick<StopParts, 'cluster' | 'store' | 'session'>,
): FoundTimer[] {
  const leasedUnits = new Set(
    tolerant(() => store?.leases.of(cluster) ?? [], [])
      .filter((l) => l.host === host)
      .map((l) => l.unit),
  )
  return timers.filter(
    (t) => consoleUnit(t.unit) !== undefined && !isOfSession(t.unit, session) && !leasedUnits.has(t.unit),
  )
}

const keyOf = (s: TimerStop): string => `${s.parameter} ${s.queue} ${s.name}`
function stopOfKey(key: string): TimerStop {
  const [parameter = '', queue = 'reg', name = ''] = key.split(' ')
  return { parameter, queue: queue as TimerStop['queue'], name }
}

/**
 * Removes the leases of consoles of other data folders from a server: a timer of this console covers their rules
 * meanwhile, then their leases end, so that they find both gone.
 *
 * @returns  the covering timer; undefined if none could be made: then their leases stay until their rules are gone.
 */
export async function displace(
  node: NodeConnection,
  others: readonly FoundTimer[],
  active: readonly ActiveRule[],
  parts: Pick<StopParts, 'audit' | 'session' | 'nowMs' | 'answerMs'> & {
    readonly purpose: UnitPurpose
    /** Timer that already covers the rules. */
    readonly coverTimer?: Lease | undefined
  },
): Promise<Lease | undefined> {
  const { audit, session, nowMs, purpose, answerMs = ANSWER_MS } = parts
  const keys = active.map((r) => keyOf({ parameter: SERVICES[r.service].rules, queue: r.queue, name: r.name }))
  const stops = [...new Set([...keys, ...others.flatMap((t) => t.stops.map(keyOf))])]
  // Its timers only remove rules, so they do not wait for a record that cannot be written.
  const recorded: AuditWriter = { write: (...record) => void audit.note(...record) }
  const coverTimer = parts.coverTimer ?? new Lease(node, session, recorded, { stop: stopOfKey, purpose })
  try {
    const covered = await coverTimer.cover(stops, 0, nowMs())
    if (!covered.ok) return parts.coverTimer
    await endTimerUnits({
      node,
      units: others.filter((t) => t.isOwn).map((t) => t.unit),
      audit,
      nowMs,
      answerMs,
      evenNeeded: true,
    })
    return coverTimer
  } catch {
    // The leases table cannot be written: their leases stay until their rules are gone.
    return parts.coverTimer
  }
}

/** Stop of one server, over its rounds. */
class ServerStop {
  readonly node: NodeConnection
  readonly #parts: StopParts
  readonly #answerMs: number
  /** Timers to end when none of their rules is left. */
  readonly #units = new Set<string>()
  readonly #others = new Map<string, StopResult['others'][number]>()
  #coverTimer: Lease | undefined
  #end: RemovalEnd | undefined
  #removed = 0

  constructor(node: NodeConnection, parts: StopParts) {
    this.node = node
    this.#parts = parts
    this.#answerMs = parts.answerMs ?? ANSWER_MS
  }

  get removed(): number {
    return this.#removed
  }

  get others(): StopResult['others'] {
    return [...this.#others.values()]
  }

  get isDone(): boolean {
    return this.#end?.state === 'done'
  }

  /** True once the rules were read, or the server's state became uncertain: it is read again to verify the removal. */
  get needsVerification(): boolean {
    return this.#end !== undefined && this.#end.state !== 'not sent'
  }

  /** Removes the present rules. @returns true if rules came back that were gone. */
  async remove(): Promise<boolean> {
    const wasDone = this.isDone
    const { node } = this
    const { audit, nowMs, store, cluster } = this.#parts
    const active = await readActiveRules(node, this.#answerMs)
    if (!active) {
      const state = this.#end === undefined ? 'not sent' : 'unknown'
      this.#end = {
        host: node.host,
        state,
        removed: 0,
        detail: `it does not answer; ${timersKnown(this.#parts, node.host)}`,
      }
      return false
    }
    const timers = await readTimers(node, this.#answerMs)
    const found = timers.ok ? timers.value.filter((t) => t.isOwn) : []
    const isManaged = ownership(cluster, store)
    const others = foreignTimersOn(node.host, timers.ok ? timers.value : [], this.#parts)
    const theirs = new Set(others.flatMap((t) => t.stops.map((s) => `${s.parameter} ${s.name}`)))
    // Without a store, rules named by operators are recognized by the Sluice timers that stop them.
    const timed = store === undefined ? found : []
    const isTimed = ({ service, queue, name }: ActiveRule): boolean =>
      timed.some((t) => covers(t, [{ parameter: SERVICES[service].rules, queue, name }]))
    const rules = active.filter(
      (r) => isManaged(r) || isTimed(r) || theirs.has(`${SERVICES[r.service].rules} ${r.name}`),
    )
    for (const t of others) {
      this.#others.set(t.unit, { host: node.host, console: consoleName(t.unit), lease: t.unit })
    }
    if (others.length > 0) {
      this.#coverTimer = await displace(node, others, rules, {
        ...this.#parts,
        purpose: 'stop',
        coverTimer: this.#coverTimer,
      })
    }
    const coverUnits = this.#coverTimer?.units ?? []
    for (const t of found) if (!coverUnits.includes(t.unit)) this.#units.add(t.unit)
    // Unchanged since the last reading; a lease that is still there may write again.
    if (wasDone && rules.length === 0) return others.length > 0
    const end = await removeRules({ node, rules, units: [], audit, nowMs, answerMs: this.#answerMs })
    this.#removed += end.removed
    if (end.state === 'done') this.#forget(rules)
    this.#end = end
    return wasDone
  }

  #forget(rules: readonly RuleSpot[]): void {
    const { store, cluster } = this.#parts
    for (const { host, service, queue, name } of rules) {
      tolerant(() => store?.rules.forget({ cluster, host, service, queue, name }), undefined)
    }
  }

  /** Internal error: the server's rules are unknown. */
  fault(e: unknown): void {
    const why = e instanceof Error ? e.message : String(e)
    this.#end = { host: this.node.host, state: 'unknown', removed: 0, detail: `internal error: ${why}` }
  }

  /** A command may still act on the server: its timers stay. */
  doubt(why: string): void {
    const was = this.#end
    if (!was || was.state === 'not sent') return
    this.#end = { ...was, state: 'unknown', detail: `${was.detail}; ${why}` }
  }

  /**
   * Ends timers that have nothing left to stop; those of a server in an unsure state stay, and cover what may still
   * arrive.
   */
  async settle(): Promise<void> {
    const { node } = this
    const { audit, nowMs, store, cluster } = this.#parts
    const units = [...this.#units]
    if (this.#end?.state !== 'done') return
    const pending = await endTimerUnits({ node, units, audit, nowMs, answerMs: this.#answerMs })
    try {
      await this.#coverTimer?.end(nowMs())
    } catch {
      // It fires within a minute and stops rules that are gone.
    }
    for (const unit of units) {
      if (!pending.includes(unit)) tolerant(() => store?.leases.end(cluster, node.host, unit), undefined)
    }
    const pendingText = pending.length === 0 ? '' : `; remaining timers, without effect: ${pending.join(', ')}`
    this.#end = { ...this.#end, detail: `${this.#end.detail}${pendingText}` }
  }

  end(): NodeEnd {
    const { state, detail } = this.#end ?? { state: 'not sent' as const, detail: 'it was not reached' }
    return { host: this.node.host, state, detail }
  }
}

/** Runs an action for every server, a few at a time. */
async function onEach(stops: readonly ServerStop[], act: (s: ServerStop) => Promise<unknown>): Promise<void> {
  const queue = [...stops]
  const work = async (): Promise<void> => {
    for (let s = queue.shift(); s; s = queue.shift()) {
      try {
        await act(s)
      } catch (e) {
        // An internal error on one server must not leave rules on the others.
        s.fault(e)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, stops.length) }, work))
}

/**
 * Waits until a commit of another process has ended, and keeps new ones from beginning. @returns function that releases
 * the lock; failures are those of taking it.
 */
async function holdCommits(parts: StopParts, ms: number): Promise<Result<() => void>> {
  const untilMs = performance.now() + ms
  for (;;) {
    const locked = lockCommits(parts.store, parts.cluster)
    if (locked.ok) return ok(locked.value.release)
    if (locked.error.code !== 'BUSY' || performance.now() >= untilMs) return locked
    await pause(100)
  }
}

/**
 * Stops everything of Sluice. Never rejects; one result per server, in the order of the source, unconnected ones last.
 */
export async function stopEverything(parts: StopParts): Promise<StopResult> {
  const { cluster, store, nowMs, settleMs = SETTLE_MS, underWayMs = UNDER_WAY_MS } = parts
  let unrecorded: string | undefined
  try {
    parts.stopControllers()
  } catch (e) {
    unrecorded = e instanceof Error ? e.message : String(e)
  }
  const [open, release] = await Promise.all([parts.over?.(underWayMs), holdCommits(parts, underWayMs)])
  const stops = parts.nodes.filter(isLustreServer).map((n) => new ServerStop(n, parts))
  await onEach(stops, (s) => s.remove())
  const back = new Set<ServerStop>()
  for (let round = 0; round < ROUNDS; round++) {
    const removedMs = performance.now()
    // Other processes of this data folder check the stop before their next command, and end their leases then.
    while (foreignLeases(store, cluster, nowMs()).length > 0 && performance.now() - removedMs < underWayMs)
      await pause(100)
    await pause(Math.max(0, removedMs + settleMs - performance.now()))
    back.clear()
    await onEach(
      stops.filter((s) => s.needsVerification),
      async (s) => {
        if (await s.remove()) back.add(s)
      },
    )
    if (back.size === 0) break
  }
  for (const s of back)
    s.doubt('rules or leases of another console came back after they were removed: it may write again')
  const still = (await parts.over?.(0)) ?? open ?? new Set<string>()
  for (const s of stops) {
    if (still.has(s.node.host)) s.doubt('a command is still in progress there and may act later')
    if (!release.ok) {
      const why = release.error.why ?? release.error.what
      s.doubt(
        release.error.code === 'BUSY' ? `${why}, and did not finish` : `the commit lock could not be checked: ${why}`,
      )
    }
    if (unrecorded !== undefined) s.doubt(`the stop could not be recorded for other processes: ${unrecorded}`)
  }
  for (const l of foreignLeases(store, cluster, nowMs())) {
    const why = `process ${l.pid} on ${l.machine} (${l.owner}) still holds ${l.unit} and may write`
    stops.find((s) => s.node.host === l.host)?.doubt(why)
  }
  await onEach(stops, (s) => s.settle())
  if (release.ok) release.value()
  const silent = (parts.silent ?? []).map((host): NodeEnd => ({
    host,
    state: 'not sent',
    detail: `it is not connected; ${timersKnown(parts, host)}`,
  }))
  const nodes = [...stops.map((s) => s.end()), ...silent]
  return {
    removed: stops.reduce((n, s) => n + s.removed, 0),
    nodes,
    state: nodes.every((n) => n.state === 'done') ? 'stopped' : 'uncertain',
    others: stops.flatMap((s) => s.others),
  }
}
