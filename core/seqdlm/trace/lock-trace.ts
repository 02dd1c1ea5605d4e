/**
 * Bounded trace of a lock manager, readable as of any time that is still kept.
 *
 * The write side only records; everything that takes computation (obstacles, the rule of a grant, messages as text) is
 * derived when it is read. Source: spec/seqdlm 2, 4-6. Deviations: none in the events; locks and requests lost in a
 * server's crash are reported as held or waiting until a request is repeated or the bounds are reached, since no event
 * ends them.
 */
import type { ResourceId } from '../messages.ts'
import { isReadMode, isWriteMode, isCompatible, join, type LockMode } from '../modes.ts'
import { SEQDLM } from '../policy.ts'
import { contains, overlaps, union, EOF, type LockRange } from '../ranges.ts'
import * as c from './counts.ts'
import { Feed } from './feed.ts'
import { Ledger } from './ledger.ts'
import { lifeAt, type LifeRecord, type AbsorbedLock } from './life.ts'
import { REQUESTED_NS, CLIENT, ENDED_NS, GRANTED_NS, REVOKED_NS } from './life-columns.ts'
import { LifeStore, type ResourceLives } from './life-store.ts'
import type { MessageRecord, Unprocessed } from './message-log.ts'
import { findObstacles, obstacles, type TracedPolicy, type FoundObstacle } from './obstacles.ts'
import { NONE } from './slots.ts'
import type {
  LockLife,
  LockPeriod,
  ModeCounts,
  ResourceCounts,
  ResourceWaits,
  TracedCondition,
  TracedConvoy,
  TracedMessage,
  TraceFeed,
  TraceReader,
} from './trace.ts'
import { type Counts, BUCKET_NS, BUSY_SINCE, HANDOVERS, WAITING } from './counts.ts'

/** Number with thin spaces between thousands. */
const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, '\u2009')

/** `#4 121`. */
const showSn = (sn: number): string => `#${grouped(sn)}`

/** `0 .. 65 535`, `4 096 .. end`; for several pieces the hull and their number. */
function showRange({ start, end, pieces }: LockRange): string {
  const hull = `${grouped(start)} .. ${end === EOF ? 'end' : grouped(end)}`
  return pieces === null ? hull : `${hull} in ${grouped(pieces.length)} pieces`
}

/** Lists the first few, and the number of the rest. */
function listed(texts: readonly string[], most = 3): string {
  const more = texts.length - most
  return texts.slice(0, most).join(', ') + (more > 0 ? ` and ${grouped(more)} more` : '')
}

/**
 * Owner changes per second of a ping-pong, in both halves of the last second.
 *
 * Each change costs the client a cancel and a new request, a millisecond or two each: at 20 a second that is several
 * percent of the time of every client involved, and far more than occasional opens of a file cause.
 */
const PING_PONG = 20
/** Time after which a client that has not released a revoked lock is evicted, as Lustre's `timeout`. */
const EVICTION_NS = 100e9

const SECOND = 1_000_000_000
const HALF = SECOND / 2

interface ConditionSource {
  readonly ledger: Ledger
  readonly store: LifeStore
  readonly policy: TracedPolicy
  readonly timeoutNs: number
}

/** Conditions as of `at` (convoys, ping-pong, a client that does not answer), of each kind the most urgent first. */
function conditionsAt(source: ConditionSource, at: number): TracedCondition[] {
  const { ledger, store } = source
  const convoys: (TracedCondition & { kind: 'convoy' })[] = []
  const pingPongs: (TracedCondition & { kind: 'ping-pong' })[] = []
  const rowOf = ledger.rowsAt(at)
  for (const [resource, counts] of ledger.resources) {
    const here = store.resources.get(resource)
    const row = rowOf(counts)
    if (row === null || here === undefined) continue
    const waiting = row[WAITING] as number
    const behindMode = waiting >= c.CONVOY_WAITING ? modeBehind(source, here, at) : undefined
    if (behindMode !== undefined) {
      convoys.push({ kind: 'convoy', resource, waiting, sinceNs: row[BUSY_SINCE] as number, behindMode })
    }
    const pingPong = (row[HANDOVERS] as number) >= PING_PONG ? pingPongOf(ledger, counts, at) : null
    if (pingPong !== null) pingPongs.push({ kind: 'ping-pong', resource, ...pingPong })
  }
  const inConvoy = new Set(convoys.map((c) => c.resource))
  // A served convoy changes owners, too; its queue is what matters.
  const rank = (p: (typeof pingPongs)[number]): number => (inConvoy.has(p.resource) ? 1 : 0)
  convoys.sort((a, b) => b.waiting - a.waiting || a.resource - b.resource)
  pingPongs.sort((a, b) => rank(a) - rank(b) || b.perSecond - a.perSecond || a.resource - b.resource)
  const eviction = oldestRevocation(source, at)
  return [...convoys, ...pingPongs, ...(eviction === null ? [] : [eviction])]
}

/** Mode that the oldest waiting request waits for; undefined if no longer known. */
function modeBehind({ store, policy }: ConditionSource, here: ResourceLives, at: number): LockMode | undefined {
  const { table } = store
  const slot = store.notEndedBefore(here, ENDED_NS, at).find((s) => table.isWaitingAt(s, at))
  if (slot === undefined) return undefined
  const first = table.record(slot)
  const found = findObstacles(first, at, store.around(here, first.id), policy).filter((o) => o.clearedSeq === Infinity)
  return (found.find((o) => o.life.isHeldAt(at)) ?? found[0])?.mode
}

/** Handovers between two times; those before the known counts are taken as none. */
function handovers(ledger: Ledger, counts: Counts, from: number, to: number): number {
  const begin = ledger.rowAt(counts, Math.max(from, ledger.since))
  const end = ledger.rowAt(counts, to)
  return begin === null || end === null ? 0 : (end[HANDOVERS] as number) - (begin[HANDOVERS] as number)
}

function pingPongOf(ledger: Ledger, counts: Counts, at: number): { perSecond: number; sinceNs: number } | null {
  const halves = [handovers(ledger, counts, at - HALF, at), handovers(ledger, counts, at - SECOND, at - HALF)]
  if (halves.some((n) => n < PING_PONG / 2)) return null
  // Earlier times at ends of buckets, where the counts are most accurate.
  let since = Math.floor((at - SECOND) / BUCKET_NS) * BUCKET_NS
  while (since > ledger.since && handovers(ledger, counts, since - HALF, since) >= PING_PONG / 2) since -= HALF
  return { perSecond: halves.reduce((a, b) => a + b), sinceNs: Math.max(0, ledger.since, Math.min(since, at - SECOND)) }
}

function oldestRevocation({ store, timeoutNs }: ConditionSource, at: number): TracedCondition | null {
  const { table } = store
  let oldest = NONE
  let oldestNs = Infinity
  for (const here of store.resources.values()) {
    for (const slot of store.notEndedBefore(here, ENDED_NS, at)) {
      const revokedNs = table.get(slot, REVOKED_NS)
      if (revokedNs > at || revokedNs >= oldestNs || table.get(slot, ENDED_NS) <= at) continue
      oldest = slot
      oldestNs = revokedNs
    }
  }
  if (oldest === NONE) return null
  const { resource, client } = table.record(oldest)
  return { kind: 'eviction', resource, client, ageNs: at - oldestNs, timeoutNs }
}

/**
 * Explains a grant: the cell of Table II or the state of the queue that decided it, the locks it merged with, and the
 * reason for not granting it for longer use. Derived from the lives around it; the text contains only modes and
 * numbers.
 *
 * @param w       granted.
 * @param behind  its obstacles until then.
 * @param around  lives of its resource, at least those that had not ended at its request.
 */
function grantRule(w: LifeRecord, behind: readonly FoundObstacle[], around: readonly LifeRecord[]): string {
  return [merged(w), decided(w, behind, around), earlyRevocation(w, around)].filter((s) => s !== '').join('; ')
}

const nameOf = (l: AbsorbedLock | LifeRecord): string => (isWriteMode(l.mode) ? showSn(l.sn) : 'PR')

function merged({ absorbed, askedMode, mode }: LifeRecord): string {
  const [first] = absorbed
  if (first === undefined) return ''
  const merge = `merged with own ${listed(absorbed.map(nameOf))}`
  const held = absorbed.reduce((m, l) => join(l.modeNow, m), first.modeNow)
  return held === askedMode ? `${merge}, ${mode} both` : `${merge}: ${held} + ${askedMode} gives ${mode} (Fig. 9)`
}

function decided(w: LifeRecord, behind: readonly FoundObstacle[], around: readonly LifeRecord[]): string {
  const range = w.absorbed.reduce((r, l) => union(r, l.range), w.required)
  const beside = around.filter(
    (l) => l.grantedSeq < w.grantedSeq && l.endedSeq > w.grantedSeq && overlaps(l.range, range),
  )
  const canceling = beside.filter((l) => l.cancelingSeq < w.grantedSeq && modeBefore(l, w.grantedSeq) === 'NBW')
  const foreign = canceling.filter((l) => l.client !== w.client)
  if (w.isEarlyGrant) {
    const over = foreign.length > 0 ? ` over ${listed(foreign.map(nameOf))}` : ''
    return `Lock compatibility, ${w.mode} beside canceling NBW: yes (early grant${over})`
  }
  const last = behind.reduce<FoundObstacle | undefined>((a, b) => (a && a.clearedSeq > b.clearedSeq ? a : b), undefined)
  if (last !== undefined) return cleared(w, last)
  if (w.hasWaited) return 'its obstacles are gone, and no longer in memory'
  if (w.mode === 'PR' && beside.some((l) => l.mode === 'PR')) return 'Lock compatibility, PR beside PR: yes'
  if (canceling.length > 0)
    return `Lock compatibility, ${w.mode} beside own canceling NBW: yes (${listed(canceling.map(nameOf))})`
  return 'no unreleased lock overlaps'
}

function cleared(w: LifeRecord, { life, until, mode }: FoundObstacle): string {
  if (until === 'canceling')
    return `every conflicting lock is canceling or released (${w.mode} beside granted ${mode}: no)`
  if (life.ending === 'withdrawn')
    return `the conflicting request before it is withdrawn (${w.mode} beside ${mode}: no)`
  const how = life.ending === 'evicted' ? 'released or evicted' : 'released'
  return `every conflicting lock is ${how} (${w.mode} beside ${mode}: no)`
}

/** Returns the mode of a lock at an event. */
const modeBefore = (l: LifeRecord, seq: number): LifeRecord['mode'] =>
  l.downgrades.findLast((d) => d.seq < seq)?.mode ?? l.mode

function earlyRevocation(w: LifeRecord, around: readonly LifeRecord[]): string {
  if (!w.isEarlyRevocation) return ''
  const waiter = around.find(
    (v) =>
      v.client !== w.client &&
      v.hasWaited &&
      v.id < w.grantedSeq &&
      Math.min(v.grantedSeq, v.endedSeq) > w.grantedSeq &&
      !isCompatible(v.askedMode, w.mode, 'GRANTED') &&
      overlaps(v.required, w.range),
  )
  const who = waiter ? `${waiter.askedMode} of client ${waiter.client}` : 'a conflicting request'
  return `granted as canceling: could not expand, ${who} waits (early revocation)`
}

/** Text of a message: `requests NBW 0 .. 65 535`, `grants #4 127 NBW 0 .. end, early`. */
function messageText(m: MessageRecord, life: LifeRecord | null): string {
  switch (m.kind) {
    case 'lock-request':
      return `requests ${m.mode} ${m.range === null ? '' : showRange(m.range)}`
    case 'lock-grant':
      return grantText(m, life)
    case 'lock-refusal':
      return 'refuses the request'
    case 'revoke':
      return `revokes ${lockName(m)}`
    case 'revoke-reply':
      return `${lockName(m)} is canceling`
    case 'downgrade':
      return `downgrades ${lockName(m)} to ${m.mode}`
    case 'release':
      return `releases ${lockName(m)}`
    case 'flush-request':
      return flushText(m)
    case 'flush-reply':
      return 'flush is done'
    case 'read-request':
    case 'read-reply':
      return `${m.kind === 'read-request' ? 'reads' : 'data'} ${m.range === null ? '' : showRange(m.range)}`
    case 'size-request':
      return 'requests the size'
    case 'size-reply':
      return `size ${grouped(m.named)} bytes`
    default:
      return m.kind
  }
}

function grantText({ mode, range, named }: MessageRecord, life: LifeRecord | null): string {
  const name = mode !== null && isWriteMode(mode) ? `${showSn(named)} ` : ''
  const marks = `${life?.isEarlyGrant ? ', early' : ''}${life?.isEarlyRevocation ? ', canceling' : ''}`
  return `grants ${name}${mode} ${range === null ? '' : showRange(range)}${marks}`
}

/** `#4 121 NBW`, `PR`; for a lock that was unknown when it was named, its number. */
function lockName({ lockMode, lockSn, named }: MessageRecord): string {
  if (lockMode === null) return `lock ${grouped(named)}`
  return isWriteMode(lockMode) ? `${showSn(lockSn)} ${lockMode}` : lockMode
}

function flushText({ flushed }: MessageRecord): string {
  const bytes = flushed.reduce((sum, f) => sum + f.bytes, 0)
  return `flushes ${grouped(bytes)} bytes of ${listed(flushed.map((f) => showSn(f.sn)))}`
}

/** Candidate ends per range: a quarter of a range apart. */
const PARTS = 4
const MOST_PARTS = 100_000

/**
 * Returns the end of the range with the most waiting requests on average, the newest of equals; undefined if none
 * waited.
 *
 * Ends are on a grid of quarters of a range that does not move with `at`, so that the result is stable.
 */
function fullest(
  ledger: Ledger,
  counts: Counts,
  { at, spanNs, from }: { readonly at: number; readonly spanNs: number; readonly from: number },
): number | undefined {
  const part = spanNs / PARTS
  const lastPart = Math.floor(at / part)
  const firstPart = Math.max(Math.ceil(from / part), lastPart - MOST_PARTS)
  if (!(part > 0) || lastPart - firstPart < PARTS) return undefined
  // Waiting requests times ns, by quarter.
  const areas = new Float64Array(lastPart - firstPart)
  ledger.steps(counts, firstPart * part, lastPart * part, (start, end, waiting) => {
    if (waiting === 0) return
    for (let p = Math.floor(start / part); p * part < end; p++) {
      const i = p - firstPart
      const share = Math.min(end, (p + 1) * part) - Math.max(start, p * part)
      if (i >= 0 && i < areas.length && share > 0) areas[i]! += waiting * share
    }
  })
  let best = 0
  let found: number | undefined
  for (let end = areas.length; end >= PARTS; end--) {
    const area = areas.subarray(end - PARTS, end).reduce((a, b) => a + b)
    if (area > best * (1 + 1e-9)) [best, found] = [area, (firstPart + end) * part]
  }
  return found
}

export interface TraceOptions {
  /** Policy of the lock manager; default: SeqDLM. */
  readonly policy?: TracedPolicy
  /** Time after which a client that does not release a revoked lock is evicted, ns. */
  readonly evictionNs?: number
  readonly limits?: Partial<TraceLimits>
}

export interface TraceLimits {
  readonly lives: number
  readonly livesPerResource: number
  /** Lives that have not ended, followed to their end without being listed. */
  readonly unlisted: number
  /** Pieces of lock ranges (DLM-datatype), all lives together. */
  readonly pieces: number
  readonly messages: number
  readonly resources: number
  /** Steps for exact counts and queues: a power of two, >= 1,024. */
  readonly steps: number
  /** Time span of the counts. */
  readonly bucketsNs: number
  /** Ends of buckets kept, all resources together; with more, counts span less time. */
  readonly buckets: number
}

export const TRACE_LIMITS: TraceLimits = {
  lives: 40_000,
  livesPerResource: 8_000,
  unlisted: 80_000,
  pieces: 500_000,
  messages: 60_000,
  resources: 1024,
  steps: 2 ** 18,
  bucketsNs: 600e9,
  buckets: 200_000,
}

export class LockTrace implements TraceReader {
  readonly convoyWaiting = c.CONVOY_WAITING
  readonly #policy: TracedPolicy
  readonly #timeoutNs: number
  readonly #lives: LifeStore
  readonly #ledger: Ledger
  readonly #feed: Feed

  constructor({ policy = SEQDLM, evictionNs = EVICTION_NS, limits }: TraceOptions = {}) {
    const all = { ...TRACE_LIMITS, ...limits }
    this.#policy = policy
    this.#timeoutNs = evictionNs
    this.#ledger = new Ledger({ steps: all.steps, bucketsNs: all.bucketsNs, copies: all.buckets })
    this.#lives = new LifeStore(all, (here, slot) => this.#feed.lost(here, slot))
    this.#feed = new Feed(this.#lives, this.#ledger, all)
  }

  get feed(): TraceFeed {
    return this.#feed
  }

  get keptSince(): number {
    // An unlisted life that has not ended is missing at any time.
    if (this.#lives.unlisted > 0) return this.#feed.now
    return Math.max(0, this.#lives.since, this.#feed.messages.since, this.#feed.droppedAt, this.#ledger.since)
  }

  /** Start of the known counts and queues, ns: longer ago than that of lives and messages. */
  get countedSince(): number {
    return Math.max(0, this.#ledger.since, this.#feed.droppedAt)
  }

  /** Amounts in memory. */
  get kept(): Readonly<Record<'lives' | 'unlisted' | 'messages' | 'resources' | 'buckets', number>> {
    const { size, unlisted, resources } = this.#lives
    const messages = this.#feed.messages.size
    const buckets = this.#ledger.copies
    return { lives: size, unlisted, messages, resources: resources.size, buckets }
  }

  resources(at: number, spanNs: number): readonly ResourceCounts[] {
    const endOf = this.#ledger.rowsAt(at)
    const beginOf = this.#ledger.rowsAt(Math.max(at - spanNs, this.#ledger.since))
    const found: ResourceCounts[] = []
    for (const [resource, counts] of this.#ledger.resources) {
      const end = endOf(counts)
      const begin = beginOf(counts)
      if (end !== null && begin !== null && end[c.REQUESTED]! > 0) found.push(countsOf(resource, begin, end))
    }
    return found.sort((a, b) => b.waiting - a.waiting || b.conflicts - a.conflicts || a.resource - b.resource)
  }

  longest(at: number, spanNs: number): ReadonlyMap<ResourceId, number> {
    const endOf = this.#ledger.rowsAt(at)
    const found = new Map<ResourceId, number>()
    for (const [resource, counts] of this.#ledger.resources) {
      const end = endOf(counts)
      const most = end === null ? 0 : longestOf(counts, end, at - spanNs, at)
      if (most > 0) found.set(resource, most)
    }
    return found
  }

  modes(at: number, spanNs: number): readonly ModeCounts[] {
    const end = this.#ledger.rowAt(this.#ledger.all, at)
    const begin = this.#ledger.rowAt(this.#ledger.all, Math.max(at - spanNs, this.#ledger.since))
    return c.MODES.map((mode, i) => ({
      mode,
      held: end?.[c.HELD_BY_MODE + i] ?? 0,
      waiting: end?.[c.WAITING_BY_MODE + i] ?? 0,
      grants: end && begin ? end[c.GRANTS_BY_MODE + i]! - begin[c.GRANTS_BY_MODE + i]! : 0,
    }))
  }

  lives(
    resource: ResourceId,
    from: number,
    to: number,
    most: number,
  ): { readonly lives: readonly LockLife[]; readonly more: number } {
    const here = this.#lives.resources.get(resource)
    if (here === undefined) return { lives: [], more: 0 }
    // Steps that have not occurred are at Infinity.
    if (to === Infinity) return this.lives(resource, from, Number.MAX_VALUE, most)
    const { table } = this.#lives
    const touching = this.#lives
      .notEndedBefore(here, ENDED_NS, from)
      .filter((slot) => table.get(slot, REQUESTED_NS) <= to)
    const more = Math.max(0, touching.length - Math.max(0, most))
    const shown = touching.slice(more).map((slot) => table.record(slot))
    const around = shown[0] === undefined ? [] : this.#lives.around(here, shown[0].id)
    return { lives: shown.map((life) => this.#lifeAt(life, to, around)), more }
  }

  messages(
    resource: ResourceId,
    from: number,
    to: number,
    most: number,
  ): { readonly messages: readonly TracedMessage[]; readonly more: number } {
    const found = this.#feed.messages.sentIn(resource, from, to)
    const more = Math.max(0, found.length - Math.max(0, most))
    const here = this.#lives.resources.get(resource)
    return { messages: found.slice(more).map((n) => this.#messageAt(this.#feed.messages.read(n), to, here)), more }
  }

  queue(resource: ResourceId, from: number, to: number, bins: number): Float64Array {
    const counts = this.#ledger.resources.get(resource)
    if (counts !== undefined) return this.#ledger.queue(counts, from, to, bins)
    // Without events the queue was empty, unless they were dropped.
    const width = (to - from) / bins
    return Float64Array.from({ length: bins }, (_, i) => (from + i * width > this.#feed.droppedAt ? 0 : NaN))
  }

  busiest(resource: ResourceId, at: number, spanNs: number, backNs: number): number | undefined {
    const counts = this.#ledger.resources.get(resource)
    const since = this.#lives.resources.get(resource)?.since ?? -Infinity
    return counts && fullest(this.#ledger, counts, { at, spanNs, from: Math.max(at - backNs, since) })
  }

  waits(at: number, spanNs: number): readonly ResourceWaits[] {
    const { table, resources } = this.#lives
    const found: ResourceWaits[] = []
    for (const [resource, here] of resources) {
      const waits: number[] = []
      for (const slot of this.#lives.notEndedBefore(here, ENDED_NS, at - spanNs)) {
        const requestedNs = table.get(slot, REQUESTED_NS)
        const grantedNs = table.get(slot, GRANTED_NS)
        // Withdrawn requests end without a grant.
        const untilNs = Math.min(grantedNs, table.get(slot, ENDED_NS), at)
        if (requestedNs > at || grantedNs <= at - spanNs) continue
        waits.push(untilNs - requestedNs)
      }
      if (waits.length === 0) continue
      waits.sort((a, b) => a - b)
      found.push({ resource, requests: waits.length, p95Ns: waits[Math.ceil(0.95 * waits.length) - 1] as number })
    }
    return found
  }

  unprocessed(): readonly Unprocessed[] {
    return this.#feed.messages.unprocessed()
  }

  conditions(at: number): readonly TracedCondition[] {
    const ledger = this.#ledger
    const store = this.#lives
    const policy = this.#policy
    const timeoutNs = this.#timeoutNs
    return conditionsAt({ ledger, store, policy, timeoutNs }, at)
  }

  takePeriods(at: number): readonly LockPeriod[] {
    return this.#feed.periods.take(at)
  }

  takeConvoys(at: number): readonly TracedConvoy[] {
    return this.#feed.periods.takeConvoys(at)
  }

  #messageAt(m: MessageRecord, to: number, here: ResourceLives | undefined): TracedMessage {
    const { resource, client, server, isUp, sentNs, arrivedNs, kind } = m
    const life = kind === 'read-request' || kind === 'read-reply' ? this.#readUnder(m, here) : this.#lives.known(m)
    return {
      resource,
      client,
      server,
      isUp,
      sentNs,
      kind,
      arrivedNs: arrivedNs <= to && arrivedNs < Infinity ? arrivedNs : undefined,
      // A request is sent before its life begins.
      life: life !== null && life.askedNs <= to ? life.id : undefined,
      text: messageText(m, life),
    }
  }

  /** Lock that a client read under: the latest of those that allow it. */
  #readUnder({ client, range, sentNs }: MessageRecord, here: ResourceLives | undefined): LifeRecord | null {
    const { table } = this.#lives
    for (let s = here?.listed.last ?? NONE; s !== NONE; s = this.#lives.previousListed(s)) {
      if (table.get(s, CLIENT) !== client || !table.isHeldAt(s, sentNs)) continue
      const life = table.record(s)
      if (isReadMode(life.modeAt(sentNs)) && range !== null && contains(life.range, range)) return life
    }
    return null
  }

  #lifeAt(life: LifeRecord, to: number, around: readonly LifeRecord[]): LockLife {
    const isSettled = Math.min(life.grantedNs, life.endedNs) <= to
    if (!isSettled) return lifeAt(life, to, obstacles(findObstacles(life, to, around, this.#policy)), '')
    if (life.behind === null) {
      const found = findObstacles(life, to, around, this.#policy)
      life.behind = obstacles(found)
      life.rule = life.grantedNs <= to ? grantRule(life, found, around) : ''
    }
    return lifeAt(life, to, life.behind, life.rule ?? '')
  }
}

function countsOf(resource: ResourceId, begin: Float64Array, end: Float64Array): ResourceCounts {
  const during = (column: number): number => end[column]! - begin[column]!
  const cancels = during(c.CANCELS)
  return {
    resource,
    waiting: end[c.WAITING]!,
    held: end[c.HELD]!,
    conflicts: during(c.CONFLICTS),
    revocations: during(c.REVOCATIONS),
    asked: during(c.REQUESTED),
    grants: during(c.GRANTS),
    earlyGrants: during(c.EARLY_GRANTS),
    earlyRevocations: during(c.EARLY_REVOCATIONS),
    conversions: during(c.CONVERSIONS),
    releases: during(c.RELEASES),
    ownerChanges: during(c.OWNER_CHANGES),
    cancelNs: cancels > 0 ? during(c.CANCEL_NS) / cancels : undefined,
  }
}

/** Longest queue in (from, at], from the row at its end and the buckets before. */
function longestOf(counts: c.Counts, end: Float64Array, from: number, at: number): number {
  // A row without events since before the range still holds the longest queue of its last bucket.
  const isOld = Math.ceil(counts.lastAt / c.BUCKET_NS) * c.BUCKET_NS <= from
  return Math.max(isOld ? end[c.WAITING]! : end[c.LONGEST]!, counts.longest(from, at) || 0)
}
