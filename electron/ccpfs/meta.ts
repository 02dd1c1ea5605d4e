/**
 * Metadata server of ccPFS as a daemon: names, layouts, open counts and client ids over sockets; its state is in SQLite (meta-store.ts).
 *
 * Open counts are by client, in memory: a returning client names the nodes that it has open. Objects of an unlinked file are removed by
 * a client, once no client has it open.
 */
import { mkdirSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'
import { lockFile } from '#electron/history/file-lock.ts'
import { printAddress, type Address } from '#electron/wire/address.ts'
import { listenAuthenticated } from '#electron/wire/listen.ts'
import type { PeerSecret } from '#electron/wire/peer-auth.ts'
import { CHANGING, encoded, ERRNO, OP, readOpenArguments, writeAttributes, type Attributes } from './meta-calls.ts'
import { MetaStore, type Answer, type Unlinked } from './meta-store.ts'
import { PURPOSE } from './places.ts'
import { answerQuery } from './status.ts'
import { WireReader } from './wire/bytes.ts'
import type { WireMessage } from './wire/messages.ts'
import { Peer } from './wire/peer.ts'

export interface MetaOptions {
  readonly address: Address
  /** Folder of the database. */
  readonly data: string
  /** Addresses of the lock and data servers, in order, which must not change. */
  readonly servers: readonly string[]
  /** Stripes and stripe size of new files (bytes, a multiple of 4,096). */
  readonly stripes: number
  readonly stripeSize: number
  readonly secret?: PeerSecret | undefined
  /** Time that clients have to return before their open files are dropped. */
  readonly returnMs?: number | undefined
  readonly log?: ((text: string) => void) | undefined
  readonly onLost?: ((why: string) => void) | undefined
}

export interface MetaServer {
  readonly address: Address
  close(): Promise<void>
}

interface Session {
  readonly client: number
  readonly name: string
  readonly peer: Peer
}

const CLIENTS_MAX = 4096
const HELLO_MS = 5000
const RETURN_MS = 15_000
const ORPHANS_LOOKED_AT = 1000
const NOTHING = Buffer.alloc(0)

const failed = (errno: number): Answer => ({ result: -errno, body: NOTHING })
const done = (result = 0, body: Buffer = NOTHING): Answer => ({ result, body })
const withAttributes = (result: number, a: Attributes): Answer =>
  done(
    result,
    encoded((to) => writeAttributes(to, a)),
  )

/** Starts the daemon. @returns CCPFS_DATA, and failures of `listenAuthenticated`. */
export async function startMeta(options: MetaOptions): Promise<Result<MetaServer>> {
  const { address, data, servers, stripes, stripeSize, secret, log = () => undefined } = options
  const refused = (why: string): Result<never> =>
    fail({
      code: 'CCPFS_DATA',
      what: `The folder ${data} cannot be used`,
      why,
      unaffected: 'It was not changed.',
      next: 'Check the folder and the list of servers.',
    })
  let store: MetaStore
  let release = (): void => undefined
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 })
    const lock = lockFile(join(data, 'meta'), 0)
    if (lock === undefined) return refused('another metadata server uses it')
    release = () => lock.release()
    store = new MetaStore(join(data, 'meta.sqlite'), {
      servers,
      stripes,
      stripeSize,
      nowUs: () => Date.now() * 1000,
    })
  } catch (e) {
    release()
    return refused(e instanceof Error ? e.message : String(e))
  }
  const daemon = new MetaDaemon(store, options)
  const listening = await listenAuthenticated(address, {
    what: 'a ccPFS metadata server',
    most: CLIENTS_MAX,
    peering: { purpose: PURPOSE, secret },
    onSocket: (socket) => daemon.accept(socket),
    onRefused: (why) => log(`a client was refused: ${why}`),
    onLost: (why) => {
      void close()
      options.onLost?.(why)
    },
  })
  let isClosed = false
  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    daemon.stop()
    if (listening.ok) await listening.value.close()
    store.close()
    release()
  }
  if (!listening.ok) {
    await close()
    return listening
  }
  daemon.address = printAddress(listening.value.address)
  return ok({ address: listening.value.address, close })
}

class MetaDaemon {
  readonly #store: MetaStore
  readonly #options: MetaOptions
  readonly #sessions = new Map<number, Session>()
  /** Nodes that each client has open, also of clients that may return. */
  readonly #opens = new Map<number, Set<number>>()
  readonly #timers = new Map<number, NodeJS.Timeout>()
  readonly #startedMs = Date.now()
  readonly #calls: Record<string, number> = {}
  #isStopped = false
  address = ''

  constructor(store: MetaStore, options: MetaOptions) {
    this.#store = store
    this.#options = options
  }

  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }

  accept(socket: Socket): void {
    socket.setNoDelay(true).setKeepAlive(true, 5000)
    let session: Session | undefined
    let isObserver = false
    const silent = setTimeout(() => peer.end('it did not identify itself'), HELLO_MS)
    const peer: Peer = new Peer(socket, {
      onMessage: (message) => {
        clearTimeout(silent)
        if (session !== undefined) this.#receive(session, message)
        else if (message.kind === 'query' && isObserver) this.#query(peer, message.reqId, message.text)
        else if (message.kind !== 'hello') peer.end(`a ${message.kind} message is not expected`)
        else if (message.role === 'observer') {
          isObserver = true
          this.#welcome(peer, 0)
        } else if (message.fileSystem !== 0 && message.fileSystem !== this.#store.fileSystem) {
          peer.end('this is another file system', 'E_PLACE')
        } else {
          const client = message.client === 0 ? this.#store.newClient() : message.client
          this.#sessions.get(client)?.peer.end('the client has connected again', 'E_REPLACED')
          session = { client, name: message.name, peer }
          this.#sessions.set(client, session)
          clearTimeout(this.#timers.get(client))
          this.#timers.delete(client)
          this.#welcome(peer, client)
        }
      },
      onEnd: () => {
        clearTimeout(silent)
        if (session !== undefined) this.#left(session)
      },
    })
  }

  #welcome(peer: Peer, client: number): void {
    const { fileSystem, epoch } = this.#store
    peer.send({ kind: 'welcome', client, fileSystem, epoch, policy: '', servers: this.#options.servers })
  }

  #left(session: Session): void {
    const { client } = session
    if (this.#isStopped || this.#sessions.get(client) !== session) return
    this.#sessions.delete(client)
    const { returnMs = RETURN_MS } = this.#options
    this.#timers.set(
      client,
      setTimeout(() => {
        this.#timers.delete(client)
        this.#opens.delete(client)
        this.#store.forget(client)
      }, returnMs),
    )
  }

  #receive({ client, peer }: Session, message: WireMessage): void {
    if (message.kind === 'query') {
      this.#query(peer, message.reqId, message.text)
      return
    }
    if (message.kind !== 'call') {
      peer.end(`a ${message.kind} message is not expected`)
      return
    }
    const { reqId, answeredBelow, op, body } = message
    const name = Object.entries(OP).find(([, number]) => number === op)?.[0] ?? 'unknown'
    this.#calls[name] = (this.#calls[name] ?? 0) + 1
    const from = new WireReader(Buffer.from(body))
    let answer: Answer
    try {
      const act = (): Answer => this.#act(op, from)
      answer = CHANGING.has(op) ? this.#store.once(client, reqId, answeredBelow, act) : act()
      answer = this.#counted(client, op, from, answer)
    } catch (e) {
      this.#options.log?.(`${name} failed: ${e instanceof Error ? e.message : String(e)}`)
      answer = failed(ERRNO.EIO)
    }
    peer.send({ kind: 'result', reqId, result: answer.result, body: answer.body })
  }

  #act(op: number, from: WireReader): Answer {
    const store = this.#store
    switch (op) {
      case OP.open: {
        const opened = store.open(readOpenArguments(from))
        if (from.fault !== undefined) return failed(ERRNO.EINVAL)
        return typeof opened === 'number' ? failed(opened) : withAttributes(opened.isNew ? 1 : 0, opened.attributes)
      }
      case OP.stat: {
        const found = store.stat(from.rest())
        return typeof found === 'number' ? failed(found) : withAttributes(0, found)
      }
      case OP.attributes: {
        const found = store.byId(from.u64())
        return found === undefined ? failed(ERRNO.ESTALE) : withAttributes(0, found)
      }
      case OP.unlink:
        return this.#removable(store.unlink(from.rest()))
      case OP.rename: {
        const paths = from.rest()
        const at = paths.indexOf(0)
        if (at < 0) return failed(ERRNO.EINVAL)
        return this.#removable(store.rename(paths.subarray(0, at), paths.subarray(at + 1)))
      }
      case OP.mkdir: {
        const mode = from.u32()
        return done(-store.mkdir(from.rest(), mode))
      }
      case OP.rmdir:
        return done(-store.rmdir(from.rest()))
      case OP.readdir: {
        const names = store.readdir(from.rest())
        if (typeof names === 'number') return failed(names)
        return done(names.length, Buffer.concat(names.flatMap((name) => [name, Buffer.alloc(1)])))
      }
      case OP.touch:
        store.touch(from.u64(), from.u64())
        return done()
      case OP.sync:
        store.sync()
        return done()
      case OP.purged:
        store.purged(from.u64())
        return done()
      case OP.orphan: {
        const free = store.orphans(ORPHANS_LOOKED_AT).find(({ node }) => !this.#isOpen(node))
        // After a start, clients first name the files that they have open.
        const isEarly = Date.now() - this.#startedMs < (this.#options.returnMs ?? RETURN_MS)
        return free === undefined || isEarly ? done() : withAttributes(1, free)
      }
      case OP.identity: {
        const id = store.newClient()
        return done(
          0,
          encoded((to) => to.u64(id)),
        )
      }
      case OP.close:
      case OP.reopen:
        return done()
      default:
        return failed(ERRNO.ENOSYS)
    }
  }

  /** Updates the open counts after a call; they are not stored, so this is done for repeated calls, too. */
  #counted(client: number, op: number, from: WireReader, answer: Answer): Answer {
    let opens = this.#opens.get(client)
    if (opens === undefined) this.#opens.set(client, (opens = new Set()))
    if (op === OP.open && answer.result >= 0) {
      opens.add(new WireReader(answer.body).u64())
    } else if (op === OP.reopen) {
      while (from.remaining > 0) opens.add(from.u64())
    } else if (op === OP.close) {
      const node = from.u64()
      opens.delete(node)
      const found = this.#store.unlinked(node)
      if (found !== undefined && !this.#isOpen(node)) return withAttributes(1, found)
    }
    return answer
  }

  #removable(unlinked: Unlinked): Answer {
    if (typeof unlinked === 'number') return failed(unlinked)
    return unlinked === undefined || this.#isOpen(unlinked.node) ? done() : withAttributes(1, unlinked)
  }

  #isOpen(node: number): boolean {
    for (const opens of this.#opens.values()) if (opens.has(node)) return true
    return false
  }

  #query(peer: Peer, reqId: number, text: string): void {
    const status = () => ({
      kind: 'meta',
      version: 1,
      address: this.address,
      pid: process.pid,
      startedMs: this.#startedMs,
      epoch: this.#store.epoch,
      fileSystem: this.#store.fileSystem,
      servers: this.#options.servers,
      nodes: this.#store.nodes,
      unlinked: this.#store.orphans(ORPHANS_LOOKED_AT).length,
      clients: [...this.#sessions.values()].map(({ client, name }) => ({
        client,
        name,
        open: this.#opens.get(client)?.size ?? 0,
      })),
      calls: this.#calls,
    })
    const list = /^files ((?:\d{1,15}(?:,\d{1,15}){0,999})?)$/.exec(text)?.[1]
    const resources = list === '' ? [] : list?.split(',').map(Number)
    const answer = resources
      ? Buffer.from(JSON.stringify({ files: this.#store.filesOf(resources) }))
      : answerQuery(text, status)
    peer.send({ kind: 'answer', reqId, text: answer })
  }
}
