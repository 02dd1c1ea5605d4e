/**
 * Listens for authenticated peers: in a private folder, on this machine, or by a secret. A socket file left behind by a
 * dead program is replaced, a live one's never.
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
  /** Ends all connections and removes the socket file, if it still belongs to this server. */
  close(): Promise<void>
}

export interface ListenOptions {
  /** Name of the server in messages: `a global controller`. */
  readonly what: string
  readonly most: number
  /** Secret of a port; a UNIX socket is secured by its folder. */
  readonly peering: Peering
  /** Called with an authenticated peer. */
  readonly onSocket: (socket: Socket) => void
  /** Called with the reason for a peer that failed to authenticate; at most once in ten seconds. */
  readonly onRefused?: (why: string) => void
  /** Called when the socket file was removed or replaced: peers can no longer find this program. */
  readonly onLost: (why: string) => void
}

const WATCH_MS = 1000
const PROBE_MS = 1000
const REFUSED_MS = 10_000

/** True if a program answers at the path. */
const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect(path)
    const done = (yes: boolean): void => {
      probe.destroy()
      resolve(yes)
    }
    probe.once('connect', () => done(true))
    // Refused: its program is dead. Any other error, for example a full queue, means that it is alive.
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
      const code = 'ADDRESS_TAKEN'
      const what = `Cannot listen at ${address.path}`
      return fail(
        found.isSocket()
          ? {
              code,
              what,
              why: `${options.what}, or another program, answers there`,
              unaffected: 'It keeps running.',
              next: 'Stop it first, or give this one another address.',
            }
          : {
              code,
              what,
              why: 'there is a file of that name that is not a socket',
              unaffected: 'It was not changed.',
              next: 'Remove it, or give this one another address.',
            },
      )
    }
    rmSync(address.path, { force: true })
  }
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Without a listener it would end the program; the caller may add its own.
    socket.on('error', () => undefined)
  }
  const server = serverOf(isPath ? undefined : options.peering, options)
  // With TLS these are the underlying connections, which exist before the peer is authenticated.
  server.on('connection', keep)
  server.maxConnections = options.most
  const why = await listen(server, address)
  if (why !== undefined) {
    const isTaken = why === 'EADDRINUSE'
    return fail({
      code: isTaken ? 'ADDRESS_TAKEN' : 'LISTEN_FAILED',
      what: `Cannot listen at ${printAddress(address)}`,
      why: isTaken ? `${options.what}, or another program, listens there already` : why,
      next: isTaken ? 'Stop it first, or give this one another address.' : 'Check the address, or give another one.',
    })
  }
  const bound = server.address()
  if (!isPath && options.peering.secret === undefined && !isLoopback(hostOf(bound))) {
    server.close()
    return fail({
      code: 'PEER_UNAUTHENTICATED',
      what: `${printAddress(address)} is not used without authentication`,
      why: `its name stands for ${hostOf(bound)}, which is not loopback`,
      next: 'Give a loopback address, or a key file or TLS certificates.',
    })
  }
  const watch = isPath ? watchFile(address.path, options.onLost) : undefined
  const at: Address = isPath || typeof bound !== 'object' || bound === null ? address : { ...address, port: bound.port }
  return ok({
    address: at,
    close: async () => {
      const isOwnSocket = watch?.stop() ?? false
      for (const socket of sockets) socket.destroy()
      // Node removes the file of a socket that it closes, even if another program has replaced it.
      if (isPath && !isOwnSocket) return void server.unref()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  })
}

const hostOf = (bound: AddressInfo | string | null): string =>
  typeof bound === 'object' && bound !== null ? bound.address : ''

/** Creates a server of plain sockets, or of TLS if a secret secures the port. */
function serverOf(peering: Peering | undefined, { onSocket, onRefused }: ListenOptions): Server {
  if (peering?.secret === undefined) return createServer(onSocket)
  const server = createTlsServer(serverTls(peering.secret, peering.purpose), (socket) => {
    socket.on('error', () => undefined)
    onSocket(socket)
  })
  let reportedMs = -Infinity
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    // After a handshake that took too long it is still open.
    socket.destroy()
    if (performance.now() - reportedMs < REFUSED_MS) return
    reportedMs = performance.now()
    onRefused?.(handshakeFault(error))
  })
  return server
}

/** Restricts the socket itself, like its folder, in case it is moved. */
function privateFolderFault(path: string): string | undefined {
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
      resolve('path' in address ? privateFolderFault(address.path) : undefined)
    }
    if ('path' in address) server.listen(address.path, done)
    else server.listen(address.port, address.host, done)
  })
}

/** Two programs may find a dead one's socket at the same time; the one whose socket is replaced must notice it. */
function watchFile(path: string, onLost: (why: string) => void): { stop: () => boolean } {
  const inode = statOf(path)?.ino
  const isSameInode = (): boolean => inode !== undefined && statOf(path)?.ino === inode
  const timer = setInterval(() => {
    if (isSameInode()) return
    clearInterval(timer)
    onLost(statOf(path) ? `another program listens at ${path} now` : `${path} was removed`)
  }, WATCH_MS)
  timer.unref()
  return {
    stop: () => {
      clearInterval(timer)
      return isSameInode()
    },
  }
}
