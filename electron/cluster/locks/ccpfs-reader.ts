/**
 * Reads the servers of a running ccPFS: `sluice ccpfs observe` on each of its nodes once a second of the source's clock, never two
 * at once on a node. Their lock events become one trace.
 *
 * Each server has its own clock. Its offset is the least of recent ones between its clock in an answer and the arrival of that answer, so times are late
 * by the shortest transit, and never before their cause. Events of several servers are merged in order of time: the trace ends where
 * every server that answers is known.
 */
import { fail, formatReason, ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { LockEvent } from '#core/seqdlm/lock-events.ts'
import type { ClientId, Message, ResourceId } from '#core/seqdlm/messages.ts'
import {
  ccpfsObservation,
  lockEvent,
  ofResource,
  type CcpfsObservation,
  type ObservedServer,
} from '#core/seqdlm/observation.ts'
import { POLICIES, SEQDLM } from '#core/seqdlm/policy.ts'
import { lockRange } from '#core/seqdlm/ranges.ts'
import { LockTrace } from '#core/seqdlm/trace/lock-trace.ts'
import type { LockReading, LockWorld } from '#core/seqdlm/trace/trace.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import { within } from '../../base/deadline.ts'

/** Deadline of an answer, wall ms. */
const LATE_MS = 8_000
const DOCUMENT_MAX = 16_000_000
/** Answers of which the shortest transit is taken. */
const OFFSETS_MAX = 60
/** Unnamed resources in one command. */
const NAMES_MAX = 200
/** Names and clients in memory; the oldest are dropped. */
const KNOWN_MAX = 20_000
const GAPS_MAX = 100
/** Time for which lost events are reported, ns. */
const GAP_SHOWN_NS = 60 * NS_PER_S

interface Gap {
  readonly fromNs: number
  readonly toNs: number
  /** Number of lost events; 0: only their times are not known. */
  readonly lost: number
  readonly host: string
}

/** Step of a server on the clock of the source. */
type Step =
  | { readonly at: number; readonly event: LockEvent }
  /** State in which lost events have left it. */
  | { readonly at: number; readonly state: ObservedServer }

/** A lock and data server. */
class Server {
  readonly host: string
  readonly address: string
  /** Number in the trace. */
  readonly number: number
  /** Place among the servers of the file system, from 0; the same after a restart. */
  place = 0
  pid = 0
  startedMs = NaN
  /** Number of the last event read. */
  last = 0
  steps: Step[] = []
  /** End of its known events on the clock of the source, ns. */
  seenNs = -Infinity
  isSilent = false
  hasState = true
  /** Locks that it holds by this trace: client of each by resource and number. */
  readonly locks = new Map<ResourceId, Map<number, ClientId>>()
  /** Requests that wait by this trace, `client request`. */
  readonly requests = new Map<ResourceId, Map<string, { readonly client: ClientId; readonly reqId: number }>>()
  #offsets: number[] = []

  constructor(host: string, address: string, number: number) {
    this.host = host
    this.address = address
    this.number = number
  }

  restart(status: ObservedServer): void {
    this.pid = status.pid
    this.startedMs = status.startedMs
    this.last = 0
    this.#offsets = []
  }

  /** Adds the offset of an answer, and returns the one to use, ns. */
  offset(ns: number): number {
    this.#offsets.push(ns)
    if (this.#offsets.length > OFFSETS_MAX) this.#offsets.shift()
    return Math.min(...this.#offsets)
  }
}

const requestKey = (client: ClientId, reqId: number): string => `${client} ${reqId}`

function parsed(stdout: string): Result<CcpfsObservation, string> {
  if (stdout.length > DOCUMENT_MAX) return fail(`the answer has ${stdout.length} characters`)
  let plain: unknown
  try {
    plain = JSON.parse(stdout)
  } catch {
    return fail('the answer is not JSON')
  }
  const read = ccpfsObservation.safeParse(plain)
  if (read.success) return ok(read.data)
  const issue = read.error.issues[0]
  return fail(`${issue?.path.map(String).join('.').slice(0, 100) ?? ''}: ${issue?.message ?? 'not an observation'}`)
}

/** Sets a key, and drops the oldest ones. */
function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= KNOWN_MAX) return
    map.delete(oldest)
  }
}

export class CcpfsReader implements LockWorld, LockReading {
  readonly messageTimes = 'server'
  #trace = new LockTrace()
  #policy = SEQDLM
  #evictMs = NaN
  #fileSystem = 0
  readonly #nodes: readonly NodeConnection[]
  readonly #clock: Pick<ClusterSource, 'nowNs' | 'toUnixMs'>
  readonly #servers = new Map<string, Server>()
  readonly #pending = new Set<NodeConnection>()
  readonly #nextNs = new Map<NodeConnection, number>()
  readonly #failures = new Map<string, Failure>()
  readonly #names = new Map<ResourceId, string>()
  readonly #unnamed = new Set<ResourceId>()
  readonly #serverOf = new Map<ResourceId, Server>()
  readonly #clients = new Map<ClientId, string>()
  #gaps: Gap[] = []
  #seenNs = 0
  #costs: { readonly bytes: number; readonly tookMs: number }[] = []

  /** @param nodes  nodes of the ccPFS, at least one. */
  constructor(nodes: readonly NodeConnection[], clock: Pick<ClusterSource, 'nowNs' | 'toUnixMs'>) {
    this.#nodes = nodes
    this.#clock = clock
  }

  get trace(): LockTrace {
    return this.#trace
  }

  get reading(): LockReading {
    return this
  }

  get seenNs(): number {
    return this.#seenNs
  }

  get isSilent(): boolean {
    return this.#answering.length === 0
  }

  get manager(): string {
    const servers = this.#answering
    if (servers.length === 0) return `ccPFS on ${this.#nodes.map((n) => n.host).join(', ')}: no answer`
    const hosts = [...new Set(servers.map((s) => s.host))].join(', ')
    const count = `${servers.length} server${servers.length === 1 ? '' : 's'} on ${hosts}`
    return `${this.#policy.name}, ${count}, clients evicted after ${this.#evictMs / 1000} s`
  }

  get managerName(): string {
    return this.#policy.name
  }

  /** Present failures of reading. */
  get failures(): readonly Failure[] {
    return [...this.#failures.values()]
  }

  /** Costs of the readings since the last call. */
  takeCosts(): readonly { readonly bytes: number; readonly tookMs: number }[] {
    const costs = this.#costs
    this.#costs = []
    return costs
  }

  describe(resource: ResourceId): ReturnType<LockWorld['describe']> {
    const server = this.#serverOf.get(resource)
    if (!server) return undefined
    const name = this.#names.get(resource)
    return {
      name: name ?? `object ${resource}`,
      server: this.#nameOf(server),
      about: '',
      isProvisional: name === undefined,
    }
  }

  find(name: string): ResourceId | undefined {
    for (const [resource, known] of this.#names) if (known === name) return resource
    const number = /^object (\d{1,15})$/.exec(name)?.[1]
    return number !== undefined && this.#serverOf.has(Number(number)) ? Number(number) : undefined
  }

  client(client: ClientId): { readonly name: string; readonly jobId: string } {
    return { name: this.#clients.get(client) ?? `client ${client}`, jobId: '' }
  }

  isComplete(fromNs: number, toNs: number): boolean {
    return !this.#gaps.some((g) => g.fromNs < toNs && g.toNs > fromNs)
  }

  notices(atNs: number): readonly Failure[] {
    const lost = this.#gaps.filter((g) => g.lost > 0 && g.toNs <= atNs && g.toNs > atNs - GAP_SHOWN_NS)
    const last = lost.at(-1)
    if (!last) return this.failures
    const count = lost.reduce((sum, g) => sum + g.lost, 0)
    const gap: Failure = {
      code: 'CCPFS_EVENTS_LOST',
      what: `${count} lock events of ${last.host} were not read`,
      why: 'the server keeps its latest 16,384 events, and had more between two readings',
      unaffected: 'Locks held and requests that wait are correct again; history has a gap.',
    }
    return [...this.failures, gap]
  }

  /** Reads each node once a second has passed and no earlier reading is pending. Never rejects for failures of nodes. */
  async refresh(atNs: number): Promise<void> {
    const due = this.#nodes.filter((n) => !this.#pending.has(n) && atNs >= (this.#nextNs.get(n) ?? 0))
    await Promise.all(
      due.map((node) => {
        this.#nextNs.set(node, atNs + NS_PER_S)
        return this.#read(node)
      }),
    )
  }

  get #answering(): Server[] {
    return [...this.#servers.values()].filter((s) => !s.isSilent)
  }

  #nameOf(server: Server): string {
    const isOnly = [...this.#servers.values()].every((s) => s === server || s.host !== server.host)
    return isOnly ? server.host : `${server.host} / ${server.place}`
  }

  async #read(node: NodeConnection): Promise<void> {
    const began = performance.now()
    const answer = node.exec(this.#command(node))
    this.#pending.add(node)
    const over = (): void => void this.#pending.delete(node)
    answer.then(over, over)
    const ran = await within(answer, LATE_MS)
    const atNs = this.#clock.nowNs()
    const { stdout, stderr, code } = ran.ok ? ran.value : { stdout: '', stderr: '', code: 0 }
    this.#costs.push({ bytes: stdout.length + stderr.length, tookMs: performance.now() - began })
    if (this.#costs.length > 100) this.#costs.shift()
    if (!ran.ok) return this.#miss(node, formatReason(ran.error))
    if (code !== 0) return this.#miss(node, stderr.trim().split('\n')[0]?.slice(0, 300) || `it exited with ${code}`)
    const read = parsed(stdout)
    if (!read.ok) return this.#miss(node, read.error)
    this.#take(node, read.value, atNs)
  }

  #command(node: NodeConnection): string {
    const after = [...this.#servers.values()].filter((s) => s.host === node.host && s.pid > 0)
    const names = [...this.#unnamed].slice(-NAMES_MAX)
    return [
      'sluice ccpfs observe',
      ...(after.length > 0 ? [`--after ${after.map((s) => `${s.pid}:${s.last}`).join(',')}`] : []),
      ...(names.length > 0 ? [`--names ${names.join(',')}`] : []),
    ].join(' ')
  }

  #miss(node: NodeConnection, why: string): void {
    for (const server of this.#servers.values()) if (server.host === node.host) server.isSilent = true
    this.#failures.set(node.host, this.#silent(`The ccPFS servers on ${node.host} do not answer`, why, node.host))
    this.#advance()
  }

  #silent(what: string, why: string, host: string): Failure {
    return {
      code: 'CCPFS_SILENT',
      what,
      why,
      unaffected: 'File data are not affected by the console; other servers are read as usual.',
      next: `Check it on ${host}: sluice ccpfs observe, as the user of the servers.`,
    }
  }

  #take(node: NodeConnection, { servers, silent, files }: CcpfsObservation, atNs: number): void {
    this.#failures.delete(node.host)
    const answered = new Set(servers.map(({ status }) => status.address))
    for (const server of this.#servers.values()) {
      if (server.host === node.host && !answered.has(server.address)) server.isSilent = true
    }
    const first = silent.find(({ kind }) => kind === 'server') ?? silent[0]
    if (first) {
      const what = `${first.kind === 'meta' ? 'The metadata server' : 'A ccPFS server'} on ${node.host} does not answer`
      this.#failures.set(node.host, this.#silent(what, first.why, node.host))
    } else if (servers.length === 0 && files.length === 0) {
      const why = 'no server is listed there for this login'
      this.#failures.set(node.host, this.#silent(`No ccPFS server was found on ${node.host}`, why, node.host))
    }
    for (const one of servers) this.#takeServer(node.host, one, atNs)
    const mentioned = new Set(this.#unnamed)
    for (const { status, events } of servers) {
      for (const { resource } of status.resources) mentioned.add(resource)
      for (const { event } of events) {
        const read = ofResource.safeParse(event)
        if (read.success) mentioned.add(read.data.resource)
      }
    }
    for (const { base, stripes, path } of files) {
      for (let resource = base; resource < base + stripes; resource++) {
        if (!mentioned.has(resource)) continue
        remember(this.#names, resource, `${path} / ${resource - base}`)
        this.#unnamed.delete(resource)
      }
    }
    this.#advance()
  }

  #takeServer(host: string, { status, last, events }: CcpfsObservation['servers'][number], atNs: number): void {
    if (status.fileSystem !== 0 && this.#fileSystem === 0) this.#fileSystem = status.fileSystem
    if (status.fileSystem !== 0 && status.fileSystem !== this.#fileSystem) {
      const failure: Failure = {
        code: 'CCPFS_OTHER_FILE_SYSTEM',
        what: `The ccPFS server at ${status.address} on ${host} is not shown`,
        why: 'it belongs to another file system than the first server',
        next: 'Add its nodes as a cluster of their own.',
      }
      this.#failures.set(host, failure)
      return
    }
    const key = `${host} ${status.address}`
    let server = this.#servers.get(key)
    const isNew = server === undefined
    server ??= new Server(host, status.address, this.#servers.size)
    this.#servers.set(key, server)
    server.place = status.server
    this.#setManager(status)
    const isRestarted = server.pid !== status.pid || server.startedMs !== status.startedMs
    if (isRestarted) server.restart(status)
    const offsetNs = server.offset(atNs - status.nowNs)
    const seenNs = Math.max(server.seenNs, offsetNs + status.nowNs)
    for (const { client, name } of status.clients) remember(this.#clients, client, name)
    // Steps before the end of the trace have lost their times.
    const isLate = server.isSilent && server.seenNs < this.#seenNs
    if (isNew || isRestarted || isLate) this.#gap({ fromNs: server.seenNs, toNs: seenNs, lost: 0, host })
    let missing = Math.max(0, (events[0]?.number ?? last + 1) - server.last - 1)
    let atLast = server.steps.at(-1)?.at ?? server.seenNs
    let isPlaced = missing === 0 && !(isRestarted && !isNew)
    const place = (): void => {
      isPlaced = true
      server.steps.push({ at: Math.max(atLast, 0), state: status })
    }
    for (const { number, event } of events) {
      if (!isPlaced && number > status.lastEvent) place()
      const read = lockEvent.safeParse(event)
      if (!read.success) {
        missing++
        isPlaced = false
        continue
      }
      atLast = Math.max(atLast, Math.round(offsetNs + read.data.at), 0)
      server.steps.push({ at: atLast, event: read.data })
    }
    if (!isPlaced) place()
    if (missing > 0) this.#gap({ fromNs: server.seenNs, toNs: seenNs, lost: missing, host })
    server.last = last
    // With events left to read, it is known up to the last of those read.
    server.seenNs = last < status.lastEvent ? Math.max(server.seenNs, atLast) : seenNs
    server.isSilent = false
  }

  #gap(gap: Gap): void {
    this.#gaps.push(gap)
    if (this.#gaps.length > GAPS_MAX) this.#gaps.shift()
  }

  /** The lock manager is known with the first answer; another one means another file system on the same nodes. */
  #setManager({ policy: name, evictMs }: ObservedServer): void {
    const policy = POLICIES.find((p) => p.name === name) ?? SEQDLM
    if (policy === this.#policy && evictMs === this.#evictMs) return
    const isFirst = Number.isNaN(this.#evictMs)
    this.#policy = policy
    this.#evictMs = evictMs
    if (isFirst) this.#trace = new LockTrace({ policy, evictionNs: evictMs * 1e6 })
  }

  /** Moves the end of the trace to where every server that answers is known. */
  #advance(): void {
    const servers = this.#answering
    const seenNs = Math.min(...servers.map((s) => s.seenNs))
    if (servers.length === 0 || !(seenNs > this.#seenNs)) return
    const due = servers.flatMap((server) => {
      const next = server.steps.findIndex((s) => s.at > seenNs)
      return server.steps.splice(0, next < 0 ? server.steps.length : next).map((step) => ({ server, step }))
    })
    // Stable: steps of one server stay in order.
    due.sort((a, b) => a.step.at - b.step.at)
    for (const { server, step } of due) {
      if ('event' in step) this.#observe(server, { ...step.event, at: step.at })
      else this.#reconcile(server, step.state, step.at)
    }
    this.#seenNs = seenNs
  }

  #observe(server: Server, event: LockEvent): void {
    const { resource, client, at } = event
    if (!this.#serverOf.has(resource)) {
      remember(this.#serverOf, resource, server)
      if (!this.#names.has(resource)) this.#unnamed.add(resource)
      for (const oldest of this.#unnamed) {
        if (this.#unnamed.size <= KNOWN_MAX) break
        this.#unnamed.delete(oldest)
      }
    }
    const { feed } = this.#trace
    const message = messageOf(event)
    const isUp = message !== undefined && message.isUp
    // The server knows when it received or sent a message, not the other end of its way.
    const carry = (): void => {
      if (message) feed.arrived(feed.sent(at, server.number, client, message.isUp, message.message), at)
    }
    if (isUp) carry()
    feed.observe(server.number, event)
    if (!isUp) carry()
    this.#follow(server, event)
  }

  /** Keeps the open locks and requests, for the comparison with a later state. */
  #follow({ locks, requests }: Server, event: LockEvent): void {
    const { resource, client } = event
    const waiting = requests.get(resource) ?? new Map<string, { client: ClientId; reqId: number }>()
    const held = locks.get(resource) ?? new Map<number, ClientId>()
    switch (event.kind) {
      case 'asked':
        waiting.set(requestKey(client, event.reqId), { client, reqId: event.reqId })
        break
      case 'withdrawn':
        waiting.delete(requestKey(client, event.reqId))
        break
      case 'granted':
        waiting.delete(requestKey(client, event.reqId))
        for (const lockId of event.absorbed) held.delete(lockId)
        held.set(event.lockId, client)
        break
      case 'released':
      case 'evicted':
        held.delete(event.lockId)
        break
      default:
    }
    if (waiting.size > 0) requests.set(resource, waiting)
    else requests.delete(resource)
    if (held.size > 0) locks.set(resource, held)
    else locks.delete(resource)
  }

  /**
   * Ends locks and requests that are gone, and adds those that are new, after lost events. Of resources with more locks than the state
   * lists, only listed ones are compared.
   */
  #reconcile(server: Server, state: ObservedServer, at: number): void {
    const isWhole = state.resources.length >= state.locks.resources
    const byResource = new Map(state.resources.map((r) => [r.resource, r]))
    for (const resource of new Set([...server.locks.keys(), ...server.requests.keys()])) {
      const now = byResource.get(resource)
      if (!now && !isWhole) continue
      const listed = new Set(now?.locks.map((l) => l.lockId))
      const waiting = new Set(now?.requests.map((r) => requestKey(r.client, r.reqId)))
      if (!now || now.unreleased <= now.locks.length) {
        for (const [lockId, client] of server.locks.get(resource) ?? []) {
          if (!listed.has(lockId)) this.#settle(server, { kind: 'released', resource, at, client, lockId })
        }
      }
      if (!now || now.waiting <= now.requests.length) {
        for (const [key, { client, reqId }] of server.requests.get(resource) ?? []) {
          if (!waiting.has(key)) this.#settle(server, { kind: 'withdrawn', resource, at, client, reqId })
        }
      }
    }
    for (const { resource, locks, requests } of state.resources) {
      const held = server.locks.get(resource)
      for (const l of locks) if (!held?.has(l.lockId)) this.#addLock(server, resource, l, at)
      const waiting = server.requests.get(resource)
      for (const { client, reqId, mode, start, end } of requests) {
        if (waiting?.has(requestKey(client, reqId))) continue
        this.#settle(server, { kind: 'asked', resource, at, client, reqId, mode, range: lockRange(start, end) })
        this.#settle(server, { kind: 'waiting', resource, at, client, reqId, behindClient: client })
      }
    }
  }

  #addLock(
    server: Server,
    resource: ResourceId,
    { lockId, client, mode, state, sn, minSn, start, end }: ObservedServer['resources'][number]['locks'][number],
    at: number,
  ): void {
    const range = lockRange(start, end)
    // Its request is not known: the lock itself identifies it.
    const reqId = lockId
    this.#settle(server, { kind: 'asked', resource, at, client, reqId, mode, range })
    this.#settle(server, {
      kind: 'granted',
      resource,
      at,
      client,
      lockId,
      reqId,
      asked: mode,
      mode,
      range,
      required: range,
      state,
      sn,
      minSn,
      absorbed: [],
      waitedNs: 0,
      rule: 'free',
    })
  }

  /** A step that was not observed: without a message. */
  #settle(server: Server, event: LockEvent): void {
    if (!this.#serverOf.has(event.resource)) {
      remember(this.#serverOf, event.resource, server)
      this.#unnamed.add(event.resource)
    }
    this.#trace.feed.observe(server.number, event)
    this.#follow(server, event)
  }
}

/** Message that a server received or sent at an event; undefined if there is none. */
function messageOf(event: LockEvent): { readonly isUp: boolean; readonly message: Message } | undefined {
  const { resource } = event
  switch (event.kind) {
    case 'asked': {
      const { reqId, mode, range } = event
      return { isUp: true, message: { kind: 'lock-request', resource, reqId, mode, range } }
    }
    case 'granted': {
      const { reqId, lockId, range, mode, state, sn, absorbed } = event
      return { isUp: false, message: { kind: 'lock-grant', resource, reqId, lockId, range, mode, state, sn, absorbed } }
    }
    case 'revoked':
      return { isUp: false, message: { kind: 'revoke', resource, lockId: event.lockId } }
    case 'canceling':
      return { isUp: true, message: { kind: 'revoke-reply', resource, lockId: event.lockId } }
    case 'downgraded':
      return { isUp: true, message: { kind: 'downgrade', resource, lockId: event.lockId, mode: event.mode } }
    case 'released':
      return { isUp: true, message: { kind: 'release', resource, lockId: event.lockId } }
    default:
      return undefined
  }
}
