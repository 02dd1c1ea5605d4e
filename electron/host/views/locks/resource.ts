/** One resource of the locks view: the moment shown of it, its lives and messages, its queue. */
import type { LocksFrame, Moment } from '#core/api/locks.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { ClientId, ResourceId } from '#core/seqdlm/messages.ts'
import type { LockWorld, ResourceCounts, TraceReader } from '#core/seqdlm/trace/trace.ts'
import { bounded } from '../../../cluster/locks/words.ts'
import { lifeColumns, messageColumns, type ClientList } from './lives.ts'
import { chosenResource, fittingMoment, foundMoment } from './moment.ts'

const LIVES_MAX = 400
const MESSAGES_MAX = 600
/** As far as a found moment may lie back, and storms are told of. */
export const SIGHT_NS = 15 * NS_PER_S
const QUEUE_BINS = 300

/** The source's clock: ns since its start, and Unix ms. */
export interface Clock {
  readonly toMs: (ns: number) => number
  readonly toNs: (ms: number) => number
}

export interface ResourceQuery {
  readonly selected: string
  readonly moment: Moment | null
  /** null: as the longest queue needs. */
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
  const { endNs, spanNs } = momentAt(trace, resource, atNs, clock, query)
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

function momentAt(
  trace: TraceReader,
  resource: ResourceId,
  atNs: number,
  clock: Clock,
  { moment, spanMs }: ResourceQuery,
): { readonly endNs: number; readonly spanNs: number } {
  const spanNs = Math.round((moment?.spanMs ?? spanMs ?? 0) * NS_PER_MS)
  // A moment that was asked for moves back with the cursor: nothing of the future is shown.
  if (moment) return { endNs: Math.max(0, Math.min(atNs, clock.toNs(moment.endMs))), spanNs }
  return spanMs === null
    ? fittingMoment(trace, resource, atNs)
    : { endNs: foundMoment(trace, resource, atNs, spanNs), spanNs }
}

/** What a moment is chosen from; before the source began and where it is forgotten there is a gap. */
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
