/**
 * Listening for peers that are known: in a private folder, on this machine, or by a secret. A socket file left behind by a dead program
 * is taken over, a living one's never.
 */
import { chmodSync, lstatSync, rmSync, type Stats } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { fail, ok, type Result } from '#core/base/result.ts'
import { isLoopback, printAddress, type Address } from './address.ts'
import { handshakeFault, openAddressFault, serverTls, type Peering } from './peer-auth.ts'
import { privateFolderOf } from './private-socket.ts'

export interface Listening {
  readonly address: Address
  /** Ends all connections and takes the socket file away, if it is still this one's. */
  close(): Promise<void>
}

export interface ListenOptions {
  /** What it is, for messages: `a global controller`. */
  readonly what: string
  readonly most: number
  /** What secures a port; a UNIX socket is secured by its folder. */
  readonly peering: Peering
  /** A peer that has shown who it is. */
  readonly onSocket: (socket: Socket) => void
  /** A peer that has not, and why; at most one in ten seconds. */
  readonly onRefused?: (why: string) => void
  /** The socket file was taken away or replaced: nobody finds this program any more. */
  readonly onLost: (why: string) => void
}

const WATCH_MS = 1000
const PROBE_MS = 1000
const REFUSED_MS = 10_000

/** Whether somebody answers there. */
const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect(path)
    const done = (yes: boolean): void => {
      probe.destroy()
      resolve(yes)
    }
    probe.once('connect', () => done(true))
    // Refused: its program is dead. Anything else, a full queue for one, means that it is not.
    probe.once('error', (e: NodeJS.ErrnoException) => done(e.code !== 'ECONNREFUSED' && e.code !== 'ENOENT'))
    probe.setTimeout(PROBE_MS, () => done(true))
  })

const statOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false })

/** @returns ADDRESS_TAKEN, LISTEN_FAILED, PEER_UNAUTHENTICATED and those of `privateFolderOf`. */
export async function listenAuthenticated(address: Address, options: ListenOptions): Promise<Result<Listening>> {
  const open = openAddressFault(address, options.peering.secret)
  if (open) return fail(open)
  const isPath = 'path' in address
  if (isPath) {
    const folder = privateFolderOf(address.path)
    if (!folder.ok) return folder
    const found = statOf(address.path)
    if (found && (!found.isSocket() || (await answers(address.path)))) {
      return fail({
        code: 'ADDRESS_TAKEN',
        what: `There is ${options.what} at ${address.path} already`,
        why: found.isSocket() ? 'it answers' : 'a file of that name is there',
        unaffected: 'It goes on.',
        next: 'Stop it first, or give this one an address of its own.',
      })
    }
    rmSync(address.path, { force: true })
  }
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Unheard, it would end the program; what hears it besides may do as it likes.
    socket.on('error', () => undefined)
  }
  const server = serverOf(isPath ? undefined : options.peering, options)
  // Of TLS these are the connections underneath, which are there before anybody has shown who he is.
  server.on('connection', keep)
  server.maxConnections = options.most
  const why = await listen(server, address)
  if (why !== undefined) {
    const isTaken = why === 'EADDRINUSE'
    return fail({
      code: isTaken ? 'ADDRESS_TAKEN' : 'LISTEN_FAILED',
      what: `${printAddress(address)} cannot be listened at`,
      why: isTaken ? `there is ${options.what}, or another program, already` : why,
    })
  }
  const bound = server.address()
  if (!isPath && options.peering.secret === undefined && !isLoopback(hostOf(bound))) {
    server.close()
    return fail({
      code: 'PEER_UNAUTHENTICATED',
      what: `${printAddress(address)} is not used without authentication`,
      why: `the name is of ${hostOf(bound)}, which is not loopback`,
      next: 'Name an address.',
    })
  }
  const watch = isPath ? watchFile(address.path, options.onLost) : undefined
  const at: Address = isPath || typeof bound !== 'object' || bound === null ? address : { ...address, port: bound.port }
  return ok({
    address: at,
    close: async () => {
      const isOurs = watch?.stop() ?? false
      for (const socket of sockets) socket.destroy()
      // Node removes the file of a socket that it closes, whoever's it is by now.
      if (isPath && !isOurs) return void server.unref()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  })
}

const hostOf = (bound: AddressInfo | string | null): string =>
  typeof bound === 'object' && bound !== null ? bound.address : ''

/** A server of plain sockets, or of TLS where a secret secures the port. */
function serverOf(peering: Peering | undefined, { onSocket, onRefused }: ListenOptions): Server {
  if (peering?.secret === undefined) return createServer(onSocket)
  const server = createTlsServer(serverTls(peering.secret, peering.purpose), (socket) => {
    socket.on('error', () => undefined)
    onSocket(socket)
  })
  let saidMs = -Infinity
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    // After a handshake that took too long it is still open.
    socket.destroy()
    if (performance.now() - saidMs < REFUSED_MS) return
    saidMs = performance.now()
    onRefused?.(handshakeFault(error))
  })
  return server
}

/** The folder lets nobody in; so does the socket, for whoever moves it. */
function closedToOthers(path: string): string | undefined {
  try {
    chmodSync(path, 0o600)
    return undefined
  } catch (e) {
    return e instanceof Error ? e.message : String(e)
  }
}

function listen(server: Server, address: Address): Promise<string | undefined> {
  return new Promise((resolve) => {
    server.once('error', (e: NodeJS.ErrnoException) => resolve(e.code ?? e.message))
    const done = (): void => {
      resolve('path' in address ? closedToOthers(address.path) : undefined)
    }
    if ('path' in address) server.listen(address.path, done)
    else server.listen(address.port, address.host, done)
  })
}

/** Two programs may find a dead one's socket at the same time; whoever is replaced must not go on unseen. */
function watchFile(path: string, onLost: (why: string) => void): { stop: () => boolean } {
  const mine = statOf(path)?.ino
  const isMine = (): boolean => mine !== undefined && statOf(path)?.ino === mine
  const timer = setInterval(() => {
    if (isMine()) return
    clearInterval(timer)
    onLost(statOf(path) ? `another program listens at ${path} now` : `${path} was removed`)
  }, WATCH_MS)
  timer.unref()
  return {
    stop: () => {
      clearInterval(timer)
      return isMine()
    },
  }
}
