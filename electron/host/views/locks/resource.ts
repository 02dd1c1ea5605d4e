/** One resource of the locks view: the shown range, its lock lives and messages, its queue. */
import type { LocksFrame, LanesRange, LockLives, LockMessages } from '#core/api/locks.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { ClientId, ResourceId } from '#core/seqdlm/messages.ts'
import type { LockWorld, ResourceCounts, TraceReader, LockLife, TracedMessage } from '#core/seqdlm/trace/trace.ts'
import { bounded } from '../../../cluster/locks/condition-text.ts'
import { chosenResource, fittingRange, longestQueueEnd } from './default-range.ts'

/** A lock that replaces many, or waits for many, names the first of them. */
const NAMED_MAX = 16
const TEXT_MAX = 200

/** Clients of the frame: index in its list, and name. */
interface ClientList {
  readonly placeOf: (client: ClientId) => number
  readonly nameOf: (client: ClientId) => string
}

/** Infinity means the end of the file, which a message cannot carry. */
const finite = (v: number): number | null => (Number.isFinite(v) ? v : null)
const known = (v: number | undefined): number | null => v ?? null

/** A trace identifies clients by number; numbers are replaced by names. */
const named = (rule: string, { nameOf }: ClientList): string =>
  rule.replace(/\bclient (\d+)\b/g, (_, number: string) => nameOf(Number(number)))

/** Lock lives of one resource as columns, in ms from the beginning of the shown range. */
function lifeColumns(lives: readonly LockLife[], beginNs: number, clients: ClientList): LockLives {
  const ms = (ns: number | undefined): number | null => (ns === undefined ? null : (ns - beginNs) / NS_PER_MS)
  return {
    id: lives.map((l) => l.id),
    client: lives.map((l) => clients.placeOf(l.client)),
    asked: lives.map((l) => (l.askedNs - beginNs) / NS_PER_MS),
    granted: lives.map((l) => ms(l.grantedNs)),
    canceling: lives.map((l) => ms(l.cancelingNs)),
    released: lives.map((l) => ms(l.endedNs)),
    dataAt: lives.map((l) => ms(l.dataNs)),
    mode: lives.map((l) => l.mode),
    askedMode: lives.map((l) => l.askedMode),
    sn: lives.map((l) => known(l.sn)),
    minSn: lives.map((l) => known(l.minSn)),
    start: lives.map((l) => l.range.start),
    requiredEnd: lives.map((l) => finite(l.required.end)),
    end: lives.map((l) => finite(l.range.end)),
    isEarlyGrant: lives.map((l) => l.isEarlyGrant),
    isEarlyRevocation: lives.map((l) => l.isEarlyRevocation),
    dirtyBytes: lives.map((l) => Math.max(0, l.writtenBytes - l.bytes)),
    bytes: lives.map((l) => Math.max(l.writtenBytes, l.bytes)),
    downgradedAt: lives.map((l) => ms(l.downgradedNs)),
    downgradedTo: lives.map((l) => l.downgradedTo ?? null),
    absorbed: lives.map((l) => l.absorbed.slice(0, NAMED_MAX)),
    behind: lives.map((l) => l.behind.slice(0, NAMED_MAX).map((b) => b.life)),
    behindUntil: lives.map((l) => l.behind.slice(0, NAMED_MAX).map((b) => b.until)),
    rule: lives.map((l) => bounded(named(l.rule, clients), TEXT_MAX)),
    ending: lives.map((l) => (l.ending === undefined || l.ending === 'released' ? '' : l.ending)),
  }
}

/** Messages of one resource as columns, in ms from the beginning of the shown range. */
function messageColumns(messages: readonly TracedMessage[], beginNs: number, { placeOf }: ClientList): LockMessages {
  return {
    sent: messages.map((m) => (m.sentNs - beginNs) / NS_PER_MS),
    arrived: messages.map((m) => (m.arrivedNs === undefined ? null : (m.arrivedNs - beginNs) / NS_PER_MS)),
    client: messages.map((m) => placeOf(m.client)),
    isUp: messages.map((m) => m.isUp),
    kind: messages.map((m) => m.kind),
    life: messages.map((m) => known(m.life)),
    text: messages.map((m) => bounded(m.text, TEXT_MAX)),
  }
}

const LIVES_MAX = 400
const MESSAGES_MAX = 600
/** Longest look-back of a found range, and of storms. */
export const SIGHT_NS = 15 * NS_PER_S
const QUEUE_BINS = 300

/** Clock of the source: ns since its start, and Unix ms. */
export interface Clock {
  readonly toMs: (ns: number) => number
  readonly toNs: (ms: number) => number
}

export interface ResourceQuery {
  readonly selected: string
  readonly moment: LanesRange | null
  /** null: as the longest queue requires. */
  readonly spanMs: number | null
}

export function resourceAt(
  world: LockWorld,
  atNs: number,
  lastSecond: readonly ResourceCounts[],
  clock: Clock,
  query: ResourceQuery,
): LocksFrame['resource'] {
  const { trace } = world
  const resource = chosenResource(world, atNs, query.selected)
  const about = resource === undefined ? undefined : world.describe(resource)
  if (resource === undefined || !about) return null
  const { endNs, spanNs } = rangeAt(trace, resource, atNs, clock, query)
  const beginNs = endNs - spanNs
  const fromNs = Math.max(0, beginNs)
  const { lives, more: moreLives } = trace.lives(resource, fromNs, endNs, LIVES_MAX)
  const { messages, more: moreMessages } = trace.messages(resource, fromNs, endNs, MESSAGES_MAX)
  const clients = [...new Set<ClientId>([...lives, ...messages].map((x) => x.client))].sort((a, b) => a - b)
  const places = new Map(clients.map((client, place) => [client, place]))
  const list: ClientList = {
    placeOf: (client) => places.get(client) ?? 0,
    nameOf: (client) => bounded(world.client(client).name),
  }
  const counts = lastSecond.find((c) => c.resource === resource)
  return {
    key: String(resource),
    name: bounded(about.name),
    server: bounded(about.server),
    about: bounded(about.about),
    clients: clients.map((client, number) => {
      const { name, jobId } = world.client(client)
      return { number, name: bounded(name), jobId: bounded(jobId) }
    }),
    moment: { endMs: clock.toMs(endNs), spanMs: spanNs / NS_PER_MS },
    isFound: query.moment === null,
    isKept: fromNs >= trace.keptSince,
    queue: queueAt(world, resource, atNs, clock),
    lives: lifeColumns(lives, beginNs, list),
    moreLives,
    messages: messageColumns(messages, beginNs, list),
    moreMessages,
    early: {
      grants: counts?.earlyGrants ?? 0,
      all: counts?.grants ?? 0,
      revocations: counts?.earlyRevocations ?? 0,
      conversions: counts?.conversions ?? 0,
    },
  }
}

function rangeAt(
  trace: TraceReader,
  resource: ResourceId,
  atNs: number,
  clock: Clock,
  { moment, spanMs }: ResourceQuery,
): { readonly endNs: number; readonly spanNs: number } {
  const spanNs = Math.round((moment?.spanMs ?? spanMs ?? 0) * NS_PER_MS)
  // A requested range moves back with the cursor: nothing later than the cursor is shown.
  if (moment) return { endNs: Math.max(0, Math.min(atNs, clock.toNs(moment.endMs))), spanNs }
  return spanMs === null
    ? fittingRange(trace, resource, atNs)
    : { endNs: longestQueueEnd(trace, resource, atNs, spanNs), spanNs }
}

/** Queue from which a range is selected; a gap before the source began and beyond its memory. */
function queueAt(
  { trace }: LockWorld,
  resource: number,
  atNs: number,
  clock: Clock,
): NonNullable<LocksFrame['resource']>['queue'] {
  const width = SIGHT_NS / QUEUE_BINS
  const bins = Math.min(QUEUE_BINS, Math.max(1, Math.floor(atNs / width)))
  const fromNs = Math.max(0, atNs - bins * width)
  const waiting = trace.queue(resource, fromNs, atNs, bins)
  return {
    t: Array.from(waiting, (_, i) => clock.toMs(Math.min(atNs, fromNs + (i + 1) * width))),
    waiting: Array.from(waiting, (v) => (Number.isNaN(v) ? null : v)),
  }
}
