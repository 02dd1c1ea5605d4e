/** One resource over a range: its lock lives, messages and clients as the Locks view shows them, and a kept convoy replays them. */
import type { LocksFrame, LockLives, LockMessages } from '#core/api/locks.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { ClientId, ResourceId } from '#core/seqdlm/messages.ts'
import type { LockLife, LockWorld, ResourceCounts, TracedMessage } from '#core/seqdlm/trace/trace.ts'
import { bounded } from './condition-text.ts'

type ResourceFrame = NonNullable<LocksFrame['resource']>

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

export interface ResourceRange {
  readonly endNs: number
  readonly spanNs: number
  /** Most lives and messages; of more the newest. */
  readonly livesMax: number
  readonly messagesMax: number
}

/** @param parts  parts of the frame that are not derived from the range. */
export function resourceFrame(
  world: LockWorld,
  resource: ResourceId,
  { endNs, spanNs, livesMax, messagesMax }: ResourceRange,
  toMs: (ns: number) => number,
  parts: Pick<ResourceFrame, 'isFound' | 'queue' | 'early'>,
): ResourceFrame | null {
  const { trace } = world
  const about = world.describe(resource)
  if (!about) return null
  const beginNs = endNs - spanNs
  const fromNs = Math.max(0, beginNs)
  const { lives, more: moreLives } = trace.lives(resource, fromNs, endNs, livesMax)
  const { messages, more: moreMessages } = trace.messages(resource, fromNs, endNs, messagesMax)
  const clients = [...new Set<ClientId>([...lives, ...messages].map((x) => x.client))].sort((a, b) => a - b)
  const places = new Map(clients.map((client, place) => [client, place]))
  const list: ClientList = {
    placeOf: (client) => places.get(client) ?? 0,
    nameOf: (client) => bounded(world.client(client).name),
  }
  return {
    key: String(resource),
    name: bounded(about.name),
    server: bounded(about.server),
    about: bounded(about.about),
    clients: clients.map((client, number) => {
      const { name, jobId } = world.client(client)
      return { number, name: bounded(name), jobId: bounded(jobId) }
    }),
    moment: { endMs: toMs(endNs), spanMs: spanNs / NS_PER_MS },
    isFound: parts.isFound,
    isKept: fromNs >= trace.keptSince,
    queue: parts.queue,
    lives: lifeColumns(lives, beginNs, list),
    moreLives,
    messages: messageColumns(messages, beginNs, list),
    moreMessages,
    messageTimes: world.messageTimes,
    early: parts.early,
  }
}

/** Queue over [fromNs, toNs] as its longest per bin; null: no longer known. */
export function queueOver(
  { trace }: LockWorld,
  resource: ResourceId,
  [fromNs, toNs]: readonly [number, number],
  bins: number,
  toMs: (ns: number) => number,
): ResourceFrame['queue'] {
  const width = (toNs - fromNs) / bins
  const waiting = trace.queue(resource, fromNs, toNs, bins)
  return {
    t: Array.from(waiting, (_, i) => toMs(Math.min(toNs, fromNs + (i + 1) * width))),
    waiting: Array.from(waiting, (v) => (Number.isNaN(v) ? null : v)),
  }
}

/** Kinds of grants of a resource in a range; zero if its counts are not known. */
export const earlyOf = (counts: ResourceCounts | undefined): ResourceFrame['early'] => ({
  grants: counts?.earlyGrants ?? 0,
  all: counts?.grants ?? 0,
  revocations: counts?.earlyRevocations ?? 0,
  conversions: counts?.conversions ?? 0,
})
