/** Run of real clients and servers in random order, with its trace events recorded for replay. */
import { randomStream } from '#core/base/random.ts'
import type { LockEvent } from '#core/seqdlm/lock-events.ts'
import type { Message, ServerId } from '#core/seqdlm/messages.ts'
import type { LockMode } from '#core/seqdlm/modes.ts'
import type { DlmPolicy } from '#core/seqdlm/policy.ts'
import { EOF, lockRange } from '#core/seqdlm/ranges.ts'
import { LockClient, type Pin } from '#core/seqdlm/lock-client.ts'
import { LockServer } from '#core/seqdlm/lock-server.ts'
import type { FromLockServer, ToLockServer } from '#core/seqdlm/messages.ts'
import type { TraceFeed } from '#core/seqdlm/trace/trace.ts'

export type TraceRecord =
  | { readonly at: number; readonly what: 'event'; readonly server: ServerId; readonly event: LockEvent }
  | {
      readonly at: number
      readonly what: 'sent'
      readonly n: number
      readonly client: number
      readonly isUp: boolean
      readonly message: Message
    }
  | { readonly at: number; readonly what: 'arrived'; readonly n: number }
  | {
      readonly at: number
      readonly what: 'wrote'
      readonly resource: number
      readonly sn: number
      readonly bytes: number
    }

export interface RunOptions {
  readonly policy: DlmPolicy
  readonly seed: number
  readonly clients: number
  readonly resources: number
  readonly operations: number
  /** Bytes at the start of each resource that operations access. */
  readonly reach: number
  /** Probability of a client eviction, per step. */
  readonly evictions?: number
}

const EVICTED = 0

/** Lock clients and one lock server on channels that deliver in random order; a flush is a message and its answer. */
export function tracedRun({
  policy,
  seed,
  clients,
  resources,
  operations,
  reach,
  evictions = 0,
}: RunOptions): TraceRecord[] {
  const random = randomStream(seed, 'run')
  const records: TraceRecord[] = []
  const channels = new Map<string, (() => void)[]>()
  const evicted = new Set<number>()
  let at = 0
  let messages = 0
  let rpcSeq = 0
  const post = (channel: string, client: number, isUp: boolean, message: Message, deliver: () => void): void => {
    const n = messages++
    records.push({ at, what: 'sent', n, client, isUp, message })
    const queue = channels.get(channel) ?? []
    channels.set(channel, queue)
    queue.push(() => {
      if (evicted.has(client)) return
      records.push({ at, what: 'arrived', n })
      deliver()
    })
  }
  const server = new LockServer({
    policy,
    now: () => at,
    observe: (event) => records.push({ at, what: 'event', server: 0, event }),
    send: (client, message) =>
      post(`down ${client}`, client, false, message, () => nodes[client]?.receive(message as never)),
  })
  const dirty = new Map<string, number>()
  const nodes = Array.from({ length: clients }, (_, client) => {
    const node: LockClient = new LockClient({
      policy,
      maxIdleLocks: 1000,
      dropClean: () => undefined,
      hasData: () => true,
      send: (_resource: number, message: ToLockServer) =>
        post(`up ${client}`, client, true, message, () => void server.receive(client, message)),
      flush: (lock, done) => {
        const { resource } = lock
        const blocks = lock.sns.flatMap((sn) => {
          const bytes = dirty.get(`${resource}/${sn}`) ?? 0
          dirty.delete(`${resource}/${sn}`)
          return bytes > 0 ? [{ start: 0, end: bytes, sn, data: null, hole: false }] : []
        })
        if (blocks.length === 0) return done()
        const seq = ++rpcSeq
        const flush = { kind: 'flush-request', resource, rpcSeq: seq, answeredBelow: 0, blocks } as const
        post(`flush ${seq}`, client, true, flush, () =>
          post(`flush ${seq}`, client, false, { kind: 'flush-reply', resource, rpcSeq: seq }, done),
        )
      },
    })
    return node
  })
  const modes: readonly LockMode[] = policy.modes === 'four' ? ['PR', 'NBW', 'NBW', 'BW', 'PW'] : ['PR', 'PW', 'PW']
  const held: { client: number; pin: Pin }[] = []
  const begin = (): void => {
    const client = random.below(clients)
    if (evicted.has(client)) return
    const resource = random.below(resources)
    const start = random.below(reach)
    const end = random.below(6) === 0 ? EOF : start + random.below(reach)
    const mode = modes[random.below(modes.length)] as LockMode
    nodes[client]?.acquire(resource, mode, lockRange(start, end), mode === 'PR' ? 'reader' : 'writer', (pin) => {
      if (!pin.ok) return
      held.push({ client, pin: pin.value })
      if (mode === 'PR') return
      const { sn } = pin.value.lock.current
      const bytes = 1 + random.below(100)
      dirty.set(`${resource}/${sn}`, (dirty.get(`${resource}/${sn}`) ?? 0) + bytes)
      records.push({ at, what: 'wrote', resource, sn, bytes })
    })
  }
  let remaining = operations
  for (;;) {
    // Several events often share one instant.
    at += random.below(3)
    const busy = [...channels.values()].filter((q) => q.length > 0)
    const choices = busy.length + held.length + (remaining > 0 ? 2 : 0)
    if (choices === 0) break
    const choice = random.below(choices)
    if (evictions > 0 && random.uniform() < evictions) {
      evicted.add(EVICTED)
      server.evict(EVICTED)
    }
    if (choice < busy.length) busy[choice]?.shift()?.()
    else if (choice < busy.length + held.length) {
      const [done] = held.splice(choice - busy.length, 1)
      if (done && !evicted.has(done.client)) nodes[done.client]?.unlock(done.pin)
    } else {
      remaining--
      begin()
    }
  }
  return records
}

/** Replays the recorded events up to `to`, inclusive, into a feed. */
export function replay(feed: TraceFeed, records: readonly TraceRecord[], to = Infinity): void {
  const numbers = new Map<number, number>()
  for (const t of records) {
    if (t.at > to) return
    if (t.what === 'event') feed.observe(t.server, t.event)
    else if (t.what === 'sent') numbers.set(t.n, feed.sent(t.at, 0, t.client, t.isUp, t.message))
    else if (t.what === 'arrived') feed.arrived(numbers.get(t.n) as number, t.at)
    else feed.wrote(t.resource, t.sn, t.bytes, t.at)
  }
}

export type { FromLockServer }
