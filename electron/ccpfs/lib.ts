/**
 * libccPFS: files of a ccPFS from a TypeScript program. The client of core/seqdlm over sockets: lock cache, page cache and flusher.
 *
 * Data that were written are visible to every client at once, as POSIX demands; they are on stable storage after `fsync`. A client that a
 * server evicted loses its unflushed data: its next `fsync` or `close` of such a file fails with EIO, once, and it continues with empty
 * caches. docs/ccpfs.md has an example.
 */
import { getSystemErrorMessage } from 'node:util'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { CcpfsClient, type ClientLimits } from '#core/seqdlm/ccpfs-client.ts'
import type { FileLayout } from '#core/seqdlm/layout.ts'
import type { ResourceId, ToClient } from '#core/seqdlm/messages.ts'
import type { Done } from '#core/seqdlm/operation.ts'
import { POLICIES, type DlmPolicy } from '#core/seqdlm/policy.ts'
import type { Extent } from '#core/seqdlm/ranges.ts'
import { parseAddress, printAddress, type Address } from '#electron/wire/address.ts'
import type { PeerSecret } from '#electron/wire/peer-auth.ts'
import { Link } from './link.ts'
import {
  encoded,
  ERRNO,
  O_CREAT,
  O_EXCL,
  OP,
  openArguments,
  readAttributes,
  type Attributes,
  type NodeKind,
} from './meta-calls.ts'
import { MetaClient } from './meta-client.ts'
import type { Answer } from './meta-store.ts'
import { thisProcess } from './places.ts'
import { WireReader } from './wire/bytes.ts'
import { FILE_MAX, IO_MAX, type WireMessage } from './wire/messages.ts'

export interface CcpfsOptions {
  /** Address of the metadata server, which knows those of the others. */
  readonly meta: Address
  readonly secret?: PeerSecret | undefined
  readonly limits?: Partial<ClientLimits> | undefined
  /** Oldest age of dirty data before they are flushed, ms; 0 for no limit. */
  readonly flushMs?: number | undefined
  /** Longest wait for the servers in `connect`. */
  readonly connectMs?: number | undefined
  readonly log?: ((text: string) => void) | undefined
}

/** A failure with the number of the system error that a POSIX call returns for it. */
export interface CcpfsFailure extends Failure {
  readonly errno: number
}
export type CcpfsResult<T> = Result<T, CcpfsFailure>

export interface OpenOptions {
  readonly create?: boolean | undefined
  /** Fail if the file exists. */
  readonly exclusive?: boolean | undefined
  readonly truncate?: boolean | undefined
  /** Permission bits of a new file. */
  readonly mode?: number | undefined
  /** Layout of a new file; the metadata server's defaults otherwise. Stripe sizes are multiples of 4,096 bytes. */
  readonly stripes?: number | undefined
  readonly stripeSize?: number | undefined
}

export interface FileStat {
  readonly node: number
  readonly kind: NodeKind
  readonly mode: number
  readonly mtimeUs: number
  readonly size: number
}

/** A path as text or, since names are bytes, as these. */
export type Path = string | Buffer

const MIB = 1 << 20
const LIMITS: Partial<ClientLimits> = {
  minDirtyBytes: 64 * MIB,
  maxDirtyBytes: 512 * MIB,
  maxCleanBytes: 512 * MIB,
}
const FLUSH_MS = 5000
/** A server that recovers admits new clients after 15 s by default. */
const CONNECT_MS = 30_000
const ORPHANS_MS = 30_000
const CLOSED: Answer = { result: -ERRNO.EIO, body: Buffer.alloc(0) }

const bytesOf = (path: Path): Buffer => (typeof path === 'string' ? Buffer.from(path, 'utf8') : path)

function failed(errno: number, what: string, why?: string): { readonly ok: false; readonly error: CcpfsFailure } {
  const name = Object.entries(ERRNO).find(([, n]) => n === errno)?.[0] ?? 'EIO'
  return fail({ code: name, what, why: why ?? getSystemErrorMessage(-errno), errno })
}

/** State of one node that all its handles share. */
interface OpenNode {
  readonly attributes: Attributes
  readonly layout: FileLayout
  handles: number
  /** Set if there may be data to flush. */
  isDirty: boolean
  mtimeUs: number
  isTouched: boolean
  /** Set if unflushed data were lost. */
  isLost: boolean
  /** Set if an append went beyond the longest file. */
  isFull: boolean
}

interface ServerLink {
  readonly link: Link
  isKnown: boolean
  /** Errors of the server's storage by object. */
  readonly failing: Map<ResourceId, number>
  epoch: number
  /** Times of pending lock requests, by their number, ms. */
  readonly requested: Map<number, number>
  /** Flushes that wait, to be told of an error. */
  readonly onFault: Set<(resource: ResourceId, errno: number) => void>
  /** Syncs under way, repeated after a reconnection. */
  readonly syncs: Map<number, { readonly resources: readonly ResourceId[]; readonly done: (errno: number) => void }>
}

/** One life of the client: it ends with an eviction. */
interface Incarnation {
  readonly id: number
  readonly client: CcpfsClient
  readonly servers: ServerLink[]
  /** Ends every operation under way. */
  readonly running: Set<(failure: CcpfsFailure) => void>
}

export interface CcpfsCounters {
  reads: number
  bytesRead: number
  writes: number
  bytesWritten: number
  appends: number
  truncates: number
  fsyncs: number
  evictions: number
  lockRequests: number
  /** Sum of the times from a lock request to its answer. */
  lockWaitMs: number
}

export class Ccpfs {
  readonly counters: CcpfsCounters = {
    reads: 0,
    bytesRead: 0,
    writes: 0,
    bytesWritten: 0,
    appends: 0,
    truncates: 0,
    fsyncs: 0,
    evictions: 0,
    lockRequests: 0,
    lockWaitMs: 0,
  }
  readonly #options: CcpfsOptions
  readonly #meta: MetaClient
  #addresses: readonly Address[] = []
  #fileSystem = 0
  #policy: DlmPolicy | undefined
  #now: Incarnation | undefined
  /** Links of the present life, also before every server has admitted it. */
  #links: Link[] = []
  readonly #nodes = new Map<number, OpenNode>()
  /** Waiters for the first welcome of every server. */
  #onReady: ((failure: CcpfsFailure | undefined) => void)[] = []
  #timers: NodeJS.Timeout[] = []
  #lastSync = 0
  /** Calls of close so far. */
  #closes = 0
  #isClosed = false
  #isFlushing = false

  private constructor(options: CcpfsOptions) {
    this.#options = options
    this.#meta = new MetaClient({
      address: options.meta,
      secret: options.secret,
      name: thisProcess(),
      openNodes: () => [...this.#nodes.values()].filter((n) => n.handles > 0).map((n) => n.attributes.node),
      onRefused: (why) => this.#end(`the metadata server refused this client: ${why}`),
    })
  }

  /** Connects to the metadata server and all lock and data servers. */
  static async connect(options: CcpfsOptions): Promise<CcpfsResult<Ccpfs>> {
    const fs = new Ccpfs(options)
    const connected = await fs.#connect()
    if (connected !== undefined) {
      await fs.#shut()
      return fail(connected)
    }
    return ok(fs)
  }

  /** Id of this client at the servers. */
  get client(): number {
    return this.#now?.id ?? 0
  }

  get policy(): string {
    return this.#policy?.name ?? ''
  }

  get dirtyBytes(): number {
    return this.#now?.client.dirtyBytes ?? 0
  }

  async open(path: Path, options: OpenOptions = {}): Promise<CcpfsResult<CcpfsFile>> {
    const { create = false, exclusive = false, truncate = false, mode = 0o644, stripes = 0, stripeSize = 0 } = options
    const closesBefore = this.#closes
    const flags = (create ? O_CREAT : 0) | (exclusive ? O_EXCL : 0)
    const answer = await this.#call(OP.open, openArguments({ flags, mode, stripes, stripeSize, path: bytesOf(path) }))
    if (answer.result < 0) return failed(-answer.result, `Cannot open ${String(path)}`)
    const attributes = readAttributes(new WireReader(answer.body))
    const { layout } = attributes
    if (layout === undefined) {
      await this.#call(
        OP.close,
        encoded((to) => to.u64(attributes.node)),
      )
      return failed(ERRNO.EISDIR, `Cannot open ${String(path)}`)
    }
    let node = this.#nodes.get(attributes.node)
    if (node === undefined) {
      const { mtimeUs } = attributes
      node = { attributes, layout, handles: 0, isDirty: false, mtimeUs, isTouched: false, isLost: false, isFull: false }
      this.#nodes.set(attributes.node, node)
    }
    node.handles++
    // A close of the last handle may have followed the open at the server.
    if (this.#closes !== closesBefore) {
      await this.#call(
        OP.reopen,
        encoded((to) => to.u64(attributes.node)),
      )
    }
    const file = new CcpfsFile(this, node)
    if (!truncate || answer.result === 1) return ok(file)
    const cut = await file.truncate(0)
    if (cut.ok) return ok(file)
    await file.close()
    return cut
  }

  async stat(path: Path): Promise<CcpfsResult<FileStat>> {
    const answer = await this.#call(OP.stat, bytesOf(path))
    if (answer.result < 0) return failed(-answer.result, `Cannot read the attributes of ${String(path)}`)
    return this.statOf(readAttributes(new WireReader(answer.body)))
  }

  async unlink(path: Path): Promise<CcpfsResult<void>> {
    return this.#removed(await this.#call(OP.unlink, bytesOf(path)), `Cannot remove ${String(path)}`)
  }

  async rename(from: Path, to: Path): Promise<CcpfsResult<void>> {
    const paths = Buffer.concat([bytesOf(from), Buffer.alloc(1), bytesOf(to)])
    return this.#removed(await this.#call(OP.rename, paths), `Cannot rename ${String(from)}`)
  }

  async mkdir(path: Path, mode = 0o755): Promise<CcpfsResult<void>> {
    const body = encoded((to) => {
      to.u32(mode)
      to.bytes(bytesOf(path))
    })
    return plain(await this.#call(OP.mkdir, body), `Cannot create ${String(path)}`)
  }

  async rmdir(path: Path): Promise<CcpfsResult<void>> {
    return plain(await this.#call(OP.rmdir, bytesOf(path)), `Cannot remove ${String(path)}`)
  }

  async readdir(path: Path): Promise<CcpfsResult<Buffer[]>> {
    const answer = await this.#call(OP.readdir, bytesOf(path))
    if (answer.result < 0) return failed(-answer.result, `Cannot read ${String(path)}`)
    const names: Buffer[] = []
    for (let at = 0; at < answer.body.length;) {
      const end = answer.body.indexOf(0, at)
      if (end < 0) break
      names.push(answer.body.subarray(at, end))
      at = end + 1
    }
    return ok(names)
  }

  /** Flushes all dirty data to the servers; they are on stable storage after `fsync` of their files. */
  async flush(): Promise<void> {
    for (const node of [...this.#nodes.values()]) if (node.isDirty) await this.flushNode(node)
  }

  /** Flushes and syncs every file with dirty data, and leaves the servers. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    for (const node of [...this.#nodes.values()]) if (node.isDirty) await this.syncNode(node)
    await this.#shut()
  }

  /** Leaves at once; unflushed data are lost. */
  async abandon(): Promise<void> {
    if (!this.#isClosed) await this.#shut()
  }

  /** State for `sluice ccpfs status`. */
  status() {
    const now = this.#now
    return {
      client: this.client,
      fileSystem: this.#fileSystem,
      policy: this.policy,
      meta: { address: this.#meta.link.address, isUp: this.#meta.link.isUp, trouble: this.#meta.link.trouble },
      servers: (now?.servers ?? []).map(({ link, epoch, failing }) => ({
        address: link.address,
        isUp: link.isUp,
        trouble: link.trouble,
        epoch,
        failing: [...failing].map(([resource, errno]) => ({ resource, errno })),
      })),
      dirtyBytes: this.dirtyBytes,
      cleanBytes: now?.client.pages.cleanBytes ?? 0,
      blockedWriters: now?.client.blockedWriters ?? 0,
      locks: { idle: now?.client.locks.idle ?? 0, waiting: now?.client.locks.waiting ?? 0 },
      files: [...this.#nodes.values()].slice(0, 1000).map(({ attributes, layout, handles, isDirty }) => ({
        node: attributes.node,
        ...layout,
        handles,
        isDirty,
        locks: now === undefined ? [] : locksOf(now.client, layout),
      })),
      counters: this.counters,
    }
  }

  /** @internal Size and times of a node. */
  async statOf(attributes: Attributes): Promise<CcpfsResult<FileStat>> {
    const { node, kind, mode, mtimeUs, layout } = attributes
    if (layout === undefined) return ok({ node, kind, mode, mtimeUs, size: 4096 })
    const size = await this.run<number>((client, done) => client.size(layout, done))
    if (!size.ok) return size
    return ok({ node, kind, mode, mtimeUs: Math.max(mtimeUs, this.#nodes.get(node)?.mtimeUs ?? 0), size: size.value })
  }

  /** @internal Runs an operation of the client; it fails with EIO if the client is evicted meanwhile. */
  async run<T>(start: (client: CcpfsClient, done: Done<T>) => void): Promise<CcpfsResult<T>> {
    // After an eviction, until every server has admitted it again.
    if (this.#now === undefined && !this.#isClosed) await new Promise((resolve) => this.#onReady.push(resolve))
    const now = this.#now
    if (now === undefined || this.#isClosed) return failed(ERRNO.EIO, 'The file system is closed')
    return new Promise((resolve) => {
      const end = (failure: CcpfsFailure): void => resolve(fail(failure))
      now.running.add(end)
      start(now.client, (result) => {
        now.running.delete(end)
        resolve(result.ok ? result : fail({ ...result.error, errno: ERRNO.EINVAL }))
      })
    })
  }

  /** @internal Flushes a node; fails if the storage of one of its servers fails. */
  async flushNode(node: OpenNode): Promise<CcpfsResult<void>> {
    node.isDirty = false
    const flushed = await this.#flushed(node.layout)
    if (!flushed.ok) node.isDirty = true
    if (flushed.ok && node.isTouched) {
      node.isTouched = false
      await this.#call(
        OP.touch,
        encoded((to) => {
          to.u64(node.attributes.node)
          to.u64(node.mtimeUs)
        }),
      )
    }
    if (node.handles === 0 && !node.isDirty) this.#nodes.delete(node.attributes.node)
    return flushed
  }

  /** @internal Puts a node on stable storage. */
  async syncNode(node: OpenNode): Promise<CcpfsResult<void>> {
    this.counters.fsyncs++
    if (node.isLost) {
      node.isLost = false
      return failed(ERRNO.EIO, 'Written data were lost', 'a server evicted this client before they were flushed')
    }
    const flushed = await this.flushNode(node)
    if (!flushed.ok) return flushed
    const now = this.#now
    if (now === undefined) return failed(ERRNO.EIO, 'The file system is closed')
    const { base, stripes } = node.layout
    const byServer = now.servers.map((): ResourceId[] => [])
    for (let k = 0; k < stripes; k++) byServer[(base + k) % now.servers.length]?.push(base + k)
    const errnos = await Promise.all(
      now.servers.map((server, s) => {
        const resources = byServer[s] ?? []
        return resources.length === 0 ? Promise.resolve(0) : this.#sync(now, server, resources)
      }),
    )
    const errno = errnos.find((e) => e !== 0)
    if (errno !== undefined) return failed(errno, 'Cannot sync the file')
    return plain(await this.#call(OP.sync, Buffer.alloc(0)), 'Cannot sync the name of the file')
  }

  /** @internal Records a write. */
  wrote(node: OpenNode): void {
    node.isDirty = true
    node.isTouched = true
    node.mtimeUs = Date.now() * 1000
  }

  /** @internal Drops a handle. */
  async release(node: OpenNode): Promise<CcpfsResult<void>> {
    if (--node.handles > 0) return ok(undefined)
    const { isLost } = node
    node.isLost = false
    if (!node.isDirty) this.#nodes.delete(node.attributes.node)
    this.#closes++
    const answer = await this.#call(
      OP.close,
      encoded((to) => to.u64(node.attributes.node)),
    )
    if (isLost) return failed(ERRNO.EIO, 'Written data were lost', 'a server evicted this client')
    return this.#removed(answer, 'Cannot close the file')
  }

  async #connect(): Promise<CcpfsFailure | undefined> {
    const { connectMs = CONNECT_MS, flushMs = FLUSH_MS } = this.#options
    const welcome = await this.#meta.welcome(connectMs)
    if (welcome === undefined) {
      return failed(ERRNO.ENOTCONN, 'The metadata server was not reached', this.#meta.link.trouble).error
    }
    const addresses: Address[] = []
    for (const text of welcome.servers) {
      const address = parseAddress(text)
      if (!address.ok) return failed(ERRNO.EINVAL, `The metadata server names ${text}`, 'it is not an address').error
      addresses.push(address.value)
    }
    this.#addresses = addresses
    this.#fileSystem = welcome.fileSystem
    const ready = new Promise<CcpfsFailure | undefined>((resolve) => this.#onReady.push(resolve))
    this.#begin(welcome.client)
    const late = setTimeout(() => this.#ready(this.#unreached()), connectMs)
    const failure = await ready
    clearTimeout(late)
    if (failure !== undefined) return failure
    if (flushMs > 0) this.#timers.push(setInterval(() => void this.#flushOld(), flushMs))
    this.#timers.push(setInterval(() => void this.#removeOrphans(), ORPHANS_MS))
    return undefined
  }

  #unreached(): CcpfsFailure {
    const away = this.#now?.servers.find(({ link }) => !link.isUp)?.link
    return failed(ERRNO.ENOTCONN, `The server ${away?.address ?? ''} was not reached`, away?.trouble).error
  }

  #ready(failure: CcpfsFailure | undefined): void {
    for (const resolve of this.#onReady.splice(0)) resolve(failure)
  }

  /** Begins a life with empty caches. */
  #begin(id: number): void {
    const servers: ServerLink[] = []
    const running = new Set<(failure: CcpfsFailure) => void>()
    let client: CcpfsClient | undefined
    const begun = (): void => {
      if (client !== undefined || this.#policy === undefined || servers.some((s) => !s.isKnown)) return
      client = new CcpfsClient({
        policy: this.#policy,
        content: true,
        limits: { ...LIMITS, ...this.#options.limits },
        serverOf: (resource) => resource % servers.length,
        send: (s, message) => {
          if (message.kind === 'lock-request') servers[s]?.requested.set(message.reqId, performance.now())
          servers[s]?.link.send(message)
        },
      })
      this.#now = { id, client, servers, running }
      this.#ready(undefined)
    }
    this.#addresses.forEach((address, s) => {
      const server: ServerLink = { link: this.#linkOf(id, s, address, servers, begun, () => client), ...freshLink() }
      servers.push(server)
    })
    this.#links = servers.map(({ link }) => link)
  }

  #linkOf(
    id: number,
    s: number,
    address: Address,
    servers: ServerLink[],
    begun: () => void,
    client: () => CcpfsClient | undefined,
  ): Link {
    return new Link({
      address,
      secret: this.#options.secret,
      hello: () => ({
        kind: 'hello',
        role: 'client',
        client: id,
        fileSystem: this.#fileSystem,
        server: s,
        servers: this.#addresses.length,
        isReturning: servers[s]?.isKnown ?? false,
        name: thisProcess(),
      }),
      onWelcome: ({ epoch, policy }) => {
        const server = servers[s] as ServerLink
        const found = POLICIES.find((p) => p.name === policy)
        if (found === undefined || (this.#policy !== undefined && this.#policy !== found)) {
          this.#end(`server ${printAddress(address)} has lock manager ${policy}, others have ${this.policy}`)
          return
        }
        this.#policy = found
        server.isKnown = true
        server.epoch = epoch
        server.failing.clear()
        for (const [reqId, { resources }] of server.syncs) server.link.send({ kind: 'sync-request', reqId, resources })
        begun()
      },
      onMessage: (message) => this.#receive(servers, s, client(), message),
      onDown: (why) => this.#options.log?.(`server ${s}: ${why}`),
      onRefused: (code, why) => {
        if (code === 'E_EVICTED' && servers[s]?.isKnown) void this.#evicted(id, `server ${s}: ${why}`)
        else this.#end(`server ${s} refused this client: ${why}`)
      },
    })
  }

  #receive(servers: ServerLink[], s: number, client: CcpfsClient | undefined, message: WireMessage): void {
    const server = servers[s] as ServerLink
    switch (message.kind) {
      case 'sync-reply': {
        const sync = server.syncs.get(message.reqId)
        server.syncs.delete(message.reqId)
        sync?.done(message.errno)
        return
      }
      case 'storage-fault':
        if (message.errno === 0) server.failing.delete(message.resource)
        else {
          server.failing.set(message.resource, message.errno)
          for (const failed of server.onFault) failed(message.resource, message.errno)
        }
        return
      case 'read-reply': {
        // The page cache keeps it; a part of a larger buffer would keep all of that.
        const { data } = message
        const isSmall = data !== null && data.length * 2 < data.buffer.byteLength
        client?.receive(s, isSmall ? { ...message, data: data.slice() } : message)
        return
      }
      case 'lock-grant':
      case 'lock-refusal': {
        // A request that was repeated after a reconnection counts once.
        const sinceMs = server.requested.get(message.reqId)
        if (sinceMs !== undefined && server.requested.delete(message.reqId)) {
          this.counters.lockRequests++
          this.counters.lockWaitMs += performance.now() - sinceMs
        }
        client?.receive(s, message satisfies ToClient)
        return
      }
      case 'revoke':
      case 'recover-query':
      case 'recover-open':
      case 'flush-reply':
      case 'size-reply':
        client?.receive(s, message satisfies ToClient)
        return
      default:
        this.#options.log?.(`server ${s} sent an unexpected ${message.kind}`)
    }
  }

  /** Continues with a new id and empty caches. */
  async #evicted(id: number, why: string): Promise<void> {
    const old = this.#now
    if (old === undefined || old.id !== id || this.#isClosed) return
    this.#now = undefined
    this.counters.evictions++
    this.#options.log?.(`evicted; unflushed data are lost: ${why}`)
    for (const { link } of old.servers) void link.close()
    for (const node of this.#nodes.values()) {
      for (let k = 0; k < node.layout.stripes; k++) {
        for (const bucket of old.client.pages.buckets(node.layout.base + k)) if (!bucket.isDrained) node.isLost = true
      }
      node.isDirty = false
      if (node.handles === 0) this.#nodes.delete(node.attributes.node)
    }
    const { error } = failed(ERRNO.EIO, 'The operation was interrupted', 'a server evicted this client')
    for (const end of old.running) end(error)
    for (const { syncs } of old.servers) for (const { done } of syncs.values()) done(ERRNO.EIO)
    const answer = await this.#call(OP.identity, Buffer.alloc(0))
    if (answer.result === 0 && !this.#isClosed) this.#begin(new WireReader(answer.body).u64())
  }

  /** Flushes a file; fails while the storage of one of its objects fails. The flush continues then. */
  #flushed(layout: FileLayout): Promise<CcpfsResult<void>> {
    const { base, stripes } = layout
    const servers = this.#now?.servers ?? []
    return new Promise((resolve) => {
      const end = (result: CcpfsResult<void>): void => {
        for (const { onFault } of servers) onFault.delete(fault)
        resolve(result)
      }
      const fault = (resource: ResourceId, errno: number): void => {
        if (resource >= base && resource < base + stripes) end(failed(errno, 'Cannot flush the file'))
      }
      for (const { onFault } of servers) onFault.add(fault)
      void this.run<void>((client, done) => client.fsync(layout, done)).then(end)
      for (const { failing } of servers) for (const [resource, errno] of failing) fault(resource, errno)
    })
  }

  #sync(now: Incarnation, server: ServerLink, resources: readonly ResourceId[]): Promise<number> {
    return new Promise((resolve) => {
      const reqId = ++this.#lastSync
      const end = (): void => resolve(ERRNO.EIO)
      now.running.add(end)
      server.syncs.set(reqId, {
        resources,
        done: (errno) => {
          now.running.delete(end)
          resolve(errno)
        },
      })
      server.link.send({ kind: 'sync-request', reqId, resources })
    })
  }

  #call(op: number, body: Buffer): Promise<Answer> {
    return this.#meta.call(op, body, CLOSED)
  }

  /** Result of a call that may have left objects to be removed, which is done later. */
  #removed(answer: Answer, what: string): CcpfsResult<void> {
    if (answer.result < 0) return failed(-answer.result, what)
    if (answer.result === 1) void this.#purge(readAttributes(new WireReader(answer.body)))
    return ok(undefined)
  }

  /** Removes the objects of an unlinked file: truncated objects have no file. */
  async #purge({ node, layout }: Attributes): Promise<boolean> {
    if (layout === undefined) return false
    const cut = await this.run<unknown>((client, done) => client.truncate(layout, 0, done))
    if (!cut.ok) return false
    const flushed = await this.run<void>((client, done) => client.fsync(layout, done))
    if (!flushed.ok) return false
    const answer = await this.#call(
      OP.purged,
      encoded((to) => to.u64(node)),
    )
    return answer.result === 0
  }

  async #removeOrphans(): Promise<void> {
    for (;;) {
      const answer = await this.#call(OP.orphan, Buffer.alloc(0))
      if (answer.result !== 1 || this.#isClosed) return
      if (!(await this.#purge(readAttributes(new WireReader(answer.body))))) return
    }
  }

  async #flushOld(): Promise<void> {
    if (this.#isFlushing) return
    this.#isFlushing = true
    await this.flush()
    this.#isFlushing = false
  }

  #end(why: string): void {
    this.#options.log?.(why)
    const { error } = failed(ERRNO.EIO, 'The file system is closed', why)
    this.#ready(error)
    void this.#shut()
  }

  async #shut(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    const { error } = failed(ERRNO.EIO, 'The file system is closed')
    for (const end of this.#now?.running ?? []) end(error)
    this.#ready(error)
    await Promise.all(this.#links.map((link) => link.close()))
    await this.#meta.close()
  }
}

const freshLink = (): Omit<ServerLink, 'link'> => ({
  isKnown: false,
  failing: new Map(),
  epoch: 0,
  requested: new Map(),
  syncs: new Map(),
  onFault: new Set(),
})

const plain = (answer: Answer, what: string): CcpfsResult<void> =>
  answer.result < 0 ? failed(-answer.result, what) : ok(undefined)

const LOCKS_SHOWN = 100

function locksOf(client: CcpfsClient, { base, stripes }: FileLayout) {
  const found = []
  for (let k = 0; k < stripes; k++) {
    for (const { resource, lockId, mode, state, sn, range, readers, writers } of client.locks.locks(base + k)) {
      if (found.length === LOCKS_SHOWN) return found
      found.push({ resource, lockId, mode, state, sn, start: range.start, end: range.end, readers, writers })
    }
  }
  return found
}

const tooLong = (bytes: number) =>
  failed(ERRNO.EINVAL, `An operation of ${bytes} bytes is not possible`, `the most are ${IO_MAX}`)

const tooFar = () => failed(ERRNO.EFBIG, `A file ends at ${FILE_MAX} bytes`)

/** An open file. Operations may run concurrently; each is atomic towards those of all clients. */
export class CcpfsFile {
  readonly #fs: Ccpfs
  readonly #node: OpenNode
  #isClosed = false

  /** @internal */
  constructor(fs: Ccpfs, node: OpenNode) {
    this.#fs = fs
    this.#node = node
  }

  get node(): number {
    return this.#node.attributes.node
  }

  get layout(): FileLayout {
    return this.#node.layout
  }

  /** Reads at most `length` bytes, fewer at the end of the file. */
  async read(offset: number, length: number): Promise<CcpfsResult<Uint8Array>> {
    if (length > IO_MAX) return tooLong(length)
    if (length === 0) return ok(new Uint8Array(0))
    const first = await this.#read(offset, length)
    if (!first.ok || first.value[length - 1] !== 0) return first
    // The last byte may be beyond the end. The size comes first: bytes below it exist when they are read again.
    const size = await this.size()
    if (!size.ok) return size
    const there = Math.max(0, Math.min(length, size.value - offset))
    return there === 0 ? ok(new Uint8Array(0)) : this.#read(offset, there)
  }

  /** Writes bytes, which must not change afterwards: the page cache keeps them. */
  async write(offset: number, data: Uint8Array): Promise<CcpfsResult<number>> {
    if (data.length > IO_MAX) return tooLong(data.length)
    if (data.length === 0) return ok(0)
    if (offset + data.length > FILE_MAX) return tooFar()
    const done = await this.#fs.run((client, done) => client.write(this.layout, offset, data, {}, done))
    if (!done.ok) return done
    this.#wrote(data.length)
    return ok(data.length)
  }

  /** Writes ascending, disjoint extents; `data` holds them one after the other. Readers see all of them or none. */
  async writeAtomic(extents: readonly Extent[], data: Uint8Array): Promise<CcpfsResult<number>> {
    if (data.length > IO_MAX) return tooLong(data.length)
    if (extents.some(({ end }) => end > FILE_MAX)) return tooFar()
    const done = await this.#fs.run((client, done) => client.writeAtomic(this.layout, extents, data, {}, done))
    if (!done.ok) return done
    this.#wrote(data.length)
    return ok(data.length)
  }

  /** Writes at the end of the file. @returns the offset of the first byte. */
  async append(data: Uint8Array): Promise<CcpfsResult<number>> {
    if (data.length > IO_MAX) return tooLong(data.length)
    if (data.length === 0) return this.size()
    if (this.#node.isFull) return tooFar()
    const done = await this.#fs.run<{ readonly offset: number }>((client, done) =>
      client.append(this.layout, data, done),
    )
    if (!done.ok) return done
    this.#fs.counters.appends++
    if (done.value.offset + data.length > FILE_MAX) this.#node.isFull = true
    this.#wrote(data.length)
    return ok(done.value.offset)
  }

  /** Cuts or extends the file to a size. */
  async truncate(size: number): Promise<CcpfsResult<void>> {
    if (size > FILE_MAX) return tooFar()
    this.#node.isFull = false
    const before = size === 0 ? undefined : await this.size()
    if (before?.ok === false) return before
    this.#fs.counters.truncates++
    if (before?.value === size) return ok(undefined)
    if (before === undefined || before.value > size) {
      const cut = await this.#fs.run<unknown>((client, done) => client.truncate(this.layout, size, done))
      if (!cut.ok) return cut
      this.#fs.wrote(this.#node)
    }
    // A cut within bytes that were never written leaves a shorter file.
    const after = size === 0 ? undefined : await this.size()
    if (after === undefined || (after.ok && after.value >= size)) return ok(undefined)
    const extended = await this.#fs.run<unknown>((client, done) => client.extend(this.layout, size, done))
    if (!extended.ok) return extended
    this.#fs.wrote(this.#node)
    return ok(undefined)
  }

  size(): Promise<CcpfsResult<number>> {
    return this.#fs.run<number>((client, done) => client.size(this.layout, done))
  }

  stat(): Promise<CcpfsResult<FileStat>> {
    return this.#fs.statOf(this.#node.attributes)
  }

  /** Puts all that was written to the file, and its name, on stable storage. */
  fsync(): Promise<CcpfsResult<void>> {
    return this.#fs.syncNode(this.#node)
  }

  /** Closes the handle; data may be flushed later. Fails with EIO if written data were lost. */
  async close(): Promise<CcpfsResult<void>> {
    if (this.#isClosed) return failed(ERRNO.EBADF, 'The file is closed')
    this.#isClosed = true
    return this.#fs.release(this.#node)
  }

  async #read(offset: number, length: number): Promise<CcpfsResult<Uint8Array>> {
    const done = await this.#fs.run<Uint8Array | null>((client, done) =>
      client.read(this.layout, offset, length, {}, done),
    )
    if (!done.ok) return done
    this.#fs.counters.reads++
    this.#fs.counters.bytesRead += length
    return ok(done.value ?? new Uint8Array(0))
  }

  #wrote(bytes: number): void {
    this.#fs.counters.writes++
    this.#fs.counters.bytesWritten += bytes
    this.#fs.wrote(this.#node)
  }
}
