/**
 * Observation of all lock and metadata servers of this user on this machine, for the console: states, lock events after given
 * numbers, and names of resources. Format: core/seqdlm/observation.ts.
 */
import * as z from 'zod'
import { formatFailure, ok, type Result } from '#core/base/result.ts'
import { parseAddress } from '#electron/wire/address.ts'
import { readSecret } from '#electron/wire/peer-auth.ts'
import { listedDaemons, type ListedDaemon } from './daemons.ts'
import { eventsAnswer, type NumberedEvent } from './events.ts'
import { queryServer } from './query.ts'

/** Events of one server in an observation; a busier server falls behind, and events are lost in the end. */
const EVENTS_MAX = 8_000
/** Resources that are named in an observation. */
const NAMES_MAX = 1_000
const WHY_MAX = 300

const observed = z.looseObject({
  lastEvent: z.number(),
  resources: z.array(z.looseObject({ resource: z.number() })),
})
const named = z.object({ files: z.array(z.unknown()) })

export interface ObserveOptions {
  /** Number of the last known event, by process id of the server. */
  readonly after: ReadonlyMap<number, number>
  /** Resources to name besides those of the servers here. */
  readonly names: readonly number[]
}

type Silent = Pick<ListedDaemon, 'kind' | 'address'> & { readonly why: string }

async function query({ address, secret }: ListedDaemon, text: string): Promise<Result<unknown>> {
  const at = parseAddress(address)
  if (!at.ok) return at
  const read = readSecret(secret)
  return read.ok ? queryServer(at.value, read.value, text) : read
}

/** Observes one server. The state is read first: events after its `lastEvent` apply to it. */
async function observeServer(daemon: ListedDaemon, after: number) {
  const silent = (why: string): Silent => ({ kind: daemon.kind, address: daemon.address, why: why.slice(0, WHY_MAX) })
  const answer = await query(daemon, 'status')
  if (!answer.ok) return silent(formatFailure(answer.error))
  const status = observed.safeParse(answer.value)
  if (!status.success) return silent('its status is not valid')
  // A new process with the id of an old one counts from the beginning.
  let from = after > status.data.lastEvent ? 0 : after
  const events: NumberedEvent[] = []
  for (;;) {
    const part = await query(daemon, `events ${from}`)
    if (!part.ok) return silent(formatFailure(part.error))
    const read = eventsAnswer.safeParse(part.value)
    if (!read.success) return silent('its events are not valid')
    events.push(...read.data.events)
    from = read.data.events.at(-1)?.number ?? read.data.last
    // Events after the status was read are for the next observation, unless they come with the others.
    if (from >= status.data.lastEvent || events.length >= EVENTS_MAX) return { status: status.data, last: from, events }
  }
}

/** Observes all servers of this user. Failures: those of `listedDaemons`. */
export async function observe({ after, names }: ObserveOptions): Promise<Result<object>> {
  const listed = listedDaemons()
  if (!listed.ok) return listed
  const found = await Promise.all(
    listed.value.filter((d) => d.kind === 'server').map((d) => observeServer(d, after.get(d.pid) ?? 0)),
  )
  const servers = found.filter((s) => 'status' in s)
  const silent: Silent[] = found.filter((s) => 'why' in s)
  const resources = new Set(names)
  for (const { status, events } of servers) {
    for (const { event } of events) resources.add(event.resource)
    for (const { resource } of status.resources) resources.add(resource)
  }
  const wanted = [...resources].filter((r) => Number.isSafeInteger(r) && r >= 0).slice(0, NAMES_MAX)
  const files: unknown[] = []
  for (const meta of listed.value.filter((d) => d.kind === 'meta')) {
    const answer = await query(meta, `files ${wanted.join(',')}`)
    const read = answer.ok ? named.safeParse(answer.value) : undefined
    if (read?.success) files.push(...read.data.files)
    else {
      const why = answer.ok ? 'its answer is not valid' : formatFailure(answer.error)
      silent.push({ kind: 'meta', address: meta.address, why: why.slice(0, WHY_MAX) })
    }
  }
  return ok({ kind: 'ccpfs', version: 1, servers, silent, files })
}
