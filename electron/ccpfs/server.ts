/**
 * Lock and data server of ccPFS as a daemon: the server of core/seqdlm over sockets, with files as its device.
 *
 * A client whose connection ends is evicted: its locks are released, its unflushed data are lost. After a restart of the server, clients
 * that held locks have some seconds to return and report them; new clients wait until then. docs/ccpfs-protocol.md has the details.
 */
import { mkdirSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { fail, formatFailure, ok, type Result } from '#core/base/result.ts'
import type { ToServer } from '#core/seqdlm/messages.ts'
import type { DlmPolicy } from '#core/seqdlm/policy.ts'
import { ServerNode } from '#core/seqdlm/server-node.ts'
import { lockFile, type FileLock } from '#electron/history/file-lock.ts'
import { printAddress, type Address } from '#electron/wire/address.ts'
import { listenAuthenticated, type Listening } from '#electron/wire/listen.ts'
import type { PeerSecret } from '#electron/wire/peer-auth.ts'
import { EventLog } from './events.ts'
import { ExtentLogFile } from './extent-log-file.ts'
import { FileDevice } from './file-device.ts'
import { PURPOSE } from './places.ts'
import { readServerState, writeServerState, type ServerState } from './server-state.ts'
import { answerQuery, serverStatus, type MessageCounts, type ServerParts, type Session } from './status.ts'
import type { Hello, WireMessage } from './wire/messages.ts'
import { Peer } from './wire/peer.ts'

export interface ServerOptions {
  readonly address: Address
  /** Folder of objects, extent log and state. */
  readonly data: string
  readonly policy: DlmPolicy
  /** Secret for mutual authentication; required beyond this machine. */
  readonly secret?: PeerSecret | undefined
  /** Time from a revocation until a client that has not released the lock is evicted. */
  readonly evictMs?: number | undefined
  /** Time that clients have to return after a restart. */
  readonly recoveryMs?: number | undefined
  /** Entries of the extent cache above which cleaning starts. */
  readonly threshold?: number | undefined
  /** True if a flush is answered only when its data are on stable storage. */
  readonly syncsWrites?: boolean | undefined
  readonly log?: ((text: string) => void) | undefined
  /** Called when the server stopped by itself. */
  readonly onLost?: ((why: string) => void) | undefined
}

export interface CcpfsServer {
  readonly address: Address
  /** Stops without evicting clients, which return to the next server on the same data. */
  close(): Promise<void>
}

const CLIENTS_MAX = 4096
const HELLO_MS = 5000
const EVICT_MS = 100_000
const RECOVERY_MS = 15_000
const WATCH_MS = 1000
const REFUSALS_MAX = 50

/** Server's clock, integer ns since the start of the process. */
const now = (): number => Math.round(performance.now() * 1e6)

/** Starts the server. @returns CCPFS_DATA, CCPFS_STATE, and failures of `listenAuthenticated`. */
export async function startServer(options: ServerOptions): Promise<Result<CcpfsServer>> {
  const { data, policy } = options
  let lock: FileLock | undefined
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 })
    lock = lockFile(join(data, 'server'), 0)
  } catch (e) {
    return dataFailure(data, e)
  }
  if (lock === undefined) {
    return fail({
      code: 'CCPFS_DATA',
      what: `The folder ${data} cannot be used`,
      why: 'another server uses it',
      unaffected: 'That server keeps running.',
      next: 'Stop it first, or name another folder.',
    })
  }
  const state = readServerState(join(data, 'state.json'), policy.name)
  if (!state.ok) {
    lock.release()
    return state
  }
  const daemon = new ServerDaemon(options, lock)
  const opened = await daemon.start(state.value)
  if (!opened.ok) lock.release()
  return opened
}

const dataFailure = (data: string, e: unknown): Result<never> =>
  fail({
    code: 'CCPFS_DATA',
    what: `The folder ${data} cannot be used`,
    why: e instanceof Error ? e.message : String(e),
    next: 'Check its permissions, or name another folder.',
  })

class ServerDaemon implements ServerParts {
  readonly options: ServerOptions
  readonly events = new EventLog()
  readonly sessions = new Map<number, Session>()
  readonly counts: MessageCounts = { received: {}, sent: {}, refused: {} }
  /** Latest messages without effect. */
  readonly refusals: string[] = []
  /** Unix ms at 0 of the server's clock. */
  readonly startedMs = performance.timeOrigin
  evictions = 0
  #node: ServerNode | undefined
  #log: ExtentLogFile | undefined
  #device: FileDevice | undefined
  #state: ServerState | undefined
  #listening: Listening | undefined
  readonly #lock: FileLock
  /** Clients that have yet to return after a restart. */
  readonly #expected = new Set<number>()
  /** New clients that wait until the server is open. */
  readonly #parked = new Map<Peer, Hello>()
  readonly #timers: NodeJS.Timeout[] = []
  #isClosed = false

  constructor(options: ServerOptions, lock: FileLock) {
    this.options = options
    this.#lock = lock
  }

  get node(): ServerNode {
    return this.#node as ServerNode
  }

  get log(): ExtentLogFile {
    return this.#log as ExtentLogFile
  }

  get device(): FileDevice {
    return this.#device as FileDevice
  }

  get state(): ServerState {
    return this.#state as ServerState
  }

  get policy(): string {
    return this.options.policy.name
  }

  get evictMs(): number {
    return this.options.evictMs ?? EVICT_MS
  }

  get awaited(): number {
    return this.#expected.size
  }

  async start(found: ServerState): Promise<Result<CcpfsServer>> {
    const { address, data, policy, secret, threshold, syncsWrites } = this.options
    // Listening comes first, so that a refused server has changed nothing.
    const listening = await listenAuthenticated(address, {
      what: 'a ccPFS server',
      most: CLIENTS_MAX,
      peering: { purpose: PURPOSE, secret },
      onSocket: (socket) => this.#accept(socket),
      onRefused: (why) => this.#say(`a client was refused: ${why}`),
      onLost: (why) => this.#stop(why),
    })
    if (!listening.ok) return listening
    this.#listening = listening.value
    try {
      this.#state = { ...found, epoch: found.epoch + 1 }
      this.#store()
      this.#log = new ExtentLogFile(join(data, 'extents.log'))
      this.#device = new FileDevice(join(data, 'objects'), {
        syncsWrites,
        onFault: (resource, errno) => this.#storageFault(resource, errno),
      })
    } catch (e) {
      await listening.value.close()
      return dataFailure(data, e)
    }
    if (this.log.tornBytes > 0)
      this.#say(`${this.log.tornBytes} bytes of an incomplete record were dropped from the log`)
    this.#node = new ServerNode({
      policy,
      threshold,
      now,
      epoch: this.state.epoch,
      device: this.device,
      log: this.log,
      observe: (event) => this.events.add(event),
      defer: (task) => setImmediate(task),
      send: (client, message) => {
        const session = this.sessions.get(client)
        if (session === undefined) return
        count(this.counts.sent, message.kind)
        session.peer.send(message)
      },
    })
    for (const client of found.clients) this.#expected.add(client)
    this.node.recover(found.clients)
    const { recoveryMs = RECOVERY_MS } = this.options
    if (this.#expected.size > 0) this.#timers.push(setTimeout(() => this.#endRecovery(), recoveryMs))
    this.#timers.push(setInterval(() => this.#evictOverdue(), WATCH_MS))
    return ok({ address: listening.value.address, close: () => this.close() })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const timer of this.#timers) clearTimeout(timer)
    await this.#listening?.close()
    await this.#device?.close()
    try {
      this.#log?.close()
    } catch (e) {
      this.#say(`the log could not be closed: ${String(e)}`)
    }
    this.#lock.release()
  }

  #say(text: string): void {
    this.options.log?.(text)
  }

  #stop(why: string): void {
    if (this.#isClosed) return
    void this.close()
    this.options.onLost?.(why)
  }

  #store(): void {
    writeServerState(join(this.options.data, 'state.json'), this.state)
  }

  /** Changes the stored state; stops the server if that fails. */
  #change(state: ServerState): boolean {
    try {
      this.#state = state
      this.#store()
      return true
    } catch (e) {
      this.#stop(`its state could not be stored: ${e instanceof Error ? e.message : String(e)}`)
      return false
    }
  }

  #accept(socket: Socket): void {
    if (this.#isClosed || this.#node === undefined) {
      socket.destroy()
      return
    }
    socket.setNoDelay(true).setKeepAlive(true, 5000)
    let session: Session | undefined
    let isObserver = false
    const silent = setTimeout(() => peer.end('it did not identify itself'), HELLO_MS)
    const peer: Peer = new Peer(socket, {
      onMessage: (message) => {
        if (session !== undefined) this.#receive(session, message)
        else if (message.kind === 'query' && isObserver) this.#query(peer, message.reqId, message.text)
        else if (message.kind === 'hello' && message.role === 'observer') {
          clearTimeout(silent)
          isObserver = true
          peer.send(this.#welcome(0))
        } else if (message.kind === 'hello' && !this.#parked.has(peer)) {
          clearTimeout(silent)
          this.#hello(peer, message, (made) => (session = made))
        } else peer.end(`a ${message.kind} message is not expected`)
      },
      onEnd: (why) => {
        clearTimeout(silent)
        this.#parked.delete(peer)
        if (session !== undefined) this.#left(session, why)
      },
      beforeSend: () => this.#storeLog(),
    })
  }

  #storeLog(): boolean {
    try {
      this.log.flush()
      return true
    } catch (e) {
      this.#stop(`its log could not be written: ${e instanceof Error ? e.message : String(e)}`)
      return false
    }
  }

  #welcome(client: number) {
    const { epoch, fileSystem } = this.state
    return { kind: 'welcome', client, fileSystem, epoch, policy: this.policy, servers: [] } as const
  }

  #hello(peer: Peer, hello: Hello, admitted: (session: Session) => void): void {
    const { fileSystem, server, servers } = this.state
    const { client } = hello
    const why =
      client < 1 || hello.fileSystem < 1 || hello.server >= hello.servers
        ? 'it has no id, no file system or no server number'
        : fileSystem !== 0 && fileSystem !== hello.fileSystem
          ? 'the data of this server belong to another file system'
          : fileSystem !== 0 && (server !== hello.server || servers !== hello.servers)
            ? `this is server ${server} of ${servers}, not ${hello.server} of ${hello.servers}`
            : undefined
    if (why !== undefined) {
      peer.end(why, 'E_PLACE')
      return
    }
    const before = this.sessions.get(client)
    before?.peer.end('the client has connected again', 'E_REPLACED')
    if (hello.isReturning && !this.#expected.delete(client)) {
      peer.end('it was evicted: its connection had ended, or it did not return in time', 'E_EVICTED')
      return
    }
    if (!hello.isReturning && this.#expected.delete(client)) this.node.evict(client)
    const admit = (): void => {
      const isKnown = this.state.clients.includes(client)
      const clients = isKnown ? this.state.clients : [...this.state.clients, client]
      const place = { fileSystem: hello.fileSystem, server: hello.server, servers: hello.servers }
      if ((!isKnown || fileSystem === 0) && !this.#change({ ...this.state, ...place, clients })) return
      const session = { client, name: hello.name, peer, since: now() }
      this.sessions.set(client, session)
      admitted(session)
      peer.send(this.#welcome(client))
      for (const [resource, errno] of this.device.failing) peer.send({ kind: 'storage-fault', resource, errno })
      if (hello.isReturning) peer.send({ kind: 'recover-query' })
    }
    if (hello.isReturning || this.node.locks.isOpen) admit()
    else {
      this.#parked.set(peer, hello)
      this.#whenOpen.push(() => {
        if (this.#parked.delete(peer)) admit()
      })
    }
  }

  readonly #whenOpen: (() => void)[] = []

  #admitParked(): void {
    if (this.node.locks.isOpen) for (const admit of this.#whenOpen.splice(0)) admit()
  }

  #receive(session: Session, message: WireMessage): void {
    switch (message.kind) {
      case 'lock-request':
      case 'revoke-reply':
      case 'downgrade':
      case 'release':
      case 'recover-report':
      case 'flush-request':
      case 'read-request':
      case 'size-request':
        this.#toNode(session, message)
        return
      case 'sync-request':
        this.#sync(session, message.reqId, message.resources)
        return
      case 'query':
        this.#query(session.peer, message.reqId, message.text)
        return
      default:
        session.peer.end(`a ${message.kind} message is not expected`)
    }
  }

  #toNode({ client }: Session, message: ToServer): void {
    count(this.counts.received, message.kind)
    const done = this.node.receive(client, message)
    if (message.kind === 'recover-report') this.#admitParked()
    if (done.ok) return
    count(this.counts.refused, done.error.code)
    this.refusals.push(formatFailure(done.error))
    if (this.refusals.length > REFUSALS_MAX) this.refusals.shift()
  }

  /** Answers once all acknowledged writes of these objects, and the log, are on stable storage. */
  #sync({ peer }: Session, reqId: number, resources: readonly number[]): void {
    let worst = 0
    let remaining = resources.length + 2
    const one = (errno: number): void => {
      worst ||= errno
      if (--remaining === 0) peer.send({ kind: 'sync-reply', reqId, errno: worst })
    }
    if (this.#storeLog()) this.log.sync((e) => one(e === null ? 0 : 5))
    for (const resource of resources) this.device.sync(resource, one)
    this.device.syncFolders(resources, one)
  }

  #query(peer: Peer, reqId: number, text: string): void {
    peer.send({ kind: 'answer', reqId, text: answerQuery(text, () => serverStatus(this, now()), this.events) })
  }

  #storageFault(resource: number, errno: number): void {
    const what = errno === 0 ? 'works again' : `fails with error ${errno} and is tried again every second`
    this.#say(`the storage of object ${resource} ${what}`)
    for (const { peer } of this.sessions.values()) peer.send({ kind: 'storage-fault', resource, errno })
  }

  #left(session: Session, why: string): void {
    const { client, name } = session
    if (this.#isClosed || this.sessions.get(client) !== session) return
    this.sessions.delete(client)
    this.#say(`client ${client} (${name}) left: ${why}`)
    this.#evict(client)
  }

  #evict(client: number): void {
    this.node.evict(client)
    this.#change({ ...this.state, clients: this.state.clients.filter((c) => c !== client) })
    this.#admitParked()
  }

  #evictOverdue(): void {
    const { evictMs } = this
    for (const client of this.node.locks.overdue(now() - evictMs * 1e6)) {
      this.evictions++
      this.sessions.get(client)?.peer.end(`it did not release a lock within ${evictMs / 1000} s`, 'E_EVICTED')
    }
  }

  #endRecovery(): void {
    for (const client of this.#expected) {
      this.#say(`client ${client} did not return in time and was evicted`)
      this.evictions++
      this.#evict(client)
    }
    this.#expected.clear()
    // Clients that returned and never reported would keep it closed.
    if (!this.node.locks.isOpen) {
      for (const { peer } of this.sessions.values()) peer.end('it did not report its locks in time', 'E_EVICTED')
    }
  }

  get printedAddress(): string {
    return printAddress(this.#listening?.address ?? this.options.address)
  }
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1
}
