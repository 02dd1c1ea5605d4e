/**
 * Serves the console on loopback: the window's files over HTTP and the contract over a WebSocket at /rpc. Checks, in order: Host
 * (DNS rebinding), method, session cookie; for /rpc also Origin and the page's key. The cookie, which browsers also send to other
 * ports, only gives access to the page's files. /metrics, if enabled, has its own token.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { extname } from 'node:path'
import type { Duplex } from 'node:stream'
import type { AnyRouter } from '@orpc/server'
import { FRESH_ADDRESS, keyFragment, keyOffered, SESSION_PATH } from '#core/api/browser-session.ts'
import { fail, invariant, ok, type Failure, type Result } from '#core/base/result.ts'
import { Access, cookieName, readCookies } from './access.ts'
import { findFile, pageHeaders } from './files.ts'
import type { UnknownVerb } from './messages.ts'
import { METRICS_PATH, type Metrics } from './metrics.ts'
import { MAX_WINDOWS, rpcSockets, type RpcSockets } from './rpc.ts'

/** Options of the server. */
export interface ServeOptions {
  /**
   * Implemented contract; every call has the context { peer }. It may still be pending: the page is served meanwhile, and the
   * connections of windows wait for it.
   */
  readonly router: AnyRouter | Promise<AnyRouter>
  /** Folder of the built window. */
  readonly webRoot: string
  /** 0 = any free port. */
  readonly port: number
  readonly host: '127.0.0.1'
  /** First one-time token; random by default. */
  readonly token?: string
  /** Content of `/metrics`; without it the address does not exist. */
  readonly metrics?: Metrics | undefined
  /** Called when a window requests an unknown verb. */
  readonly onUnknown?: UnknownVerb | undefined
}

/** A running server. */
export interface Served {
  /** Address to open, with a one-time token. */
  readonly url: string
  readonly port: number
  /** Resolves once a browser has fetched the page, its script and its style sheet. */
  readonly taken: Promise<void>
  /** Issues another address; an unused token of the previous one becomes invalid. */
  freshUrl(): string
  /** Closes every connection and frees the port. */
  close(): Promise<void>
}

/** Serves the console. Fails with PORT_TAKEN, PORT_REFUSED (no permission) or LISTEN_FAILED. */
export async function serveConsole({
  router,
  webRoot,
  port,
  host,
  token,
  metrics,
  onUnknown,
}: ServeOptions): Promise<Result<Served>> {
  const access = new Access()
  const server = createServer()
  const trouble = await listen(server, port, host)
  if (trouble) return fail(trouble)
  const at = server.address()
  invariant(typeof at === 'object' && at !== null, 'a server that listens on a port has an address')

  const origin = `http://${host}:${at.port}`
  const authority = `${host}:${at.port}`
  const taken = Promise.withResolvers<void>()
  const missing = new Set(['.js', '.css'])
  const onSent = (path: string): void => {
    if (missing.delete(extname(path)) && missing.size === 0) taken.resolve()
  }
  const site: Site = {
    access,
    webRoot,
    origin,
    authority,
    cookie: cookieName(at.port),
    metrics,
    onSent,
  }
  const sockets = new Sockets(router, onUnknown)
  const urlOf = (fresh: string): string => `${origin}/?token=${fresh}`
  server.on('request', (request, response) => void answer(site, request, response))
  server.on('upgrade', (request, socket, head) => void upgrade(site, sockets, request, socket, head))
  return ok({
    url: urlOf(access.issue(token)),
    port: at.port,
    taken: taken.promise,
    freshUrl: () => urlOf(access.issue()),
    close: () => close(server, sockets),
  })
}

/** WebSockets of a contract that may still be pending. */
class Sockets {
  readonly #ready: Promise<RpcSockets | undefined>
  readonly #waiting = new Set<Duplex>()
  #open: RpcSockets | undefined

  constructor(router: AnyRouter | Promise<AnyRouter>, onUnknown: UnknownVerb | undefined) {
    const begin = (now: AnyRouter): RpcSockets => (this.#open = rpcSockets(now, onUnknown))
    // A rejected contract is reported by its creator.
    this.#ready = router instanceof Promise ? router.then(begin, () => undefined) : Promise.resolve(begin(router))
  }

  /** Windows that are connected or waiting. */
  get size(): number {
    return this.#waiting.size + (this.#open?.server.clients.size ?? 0)
  }

  async accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const rpc = this.#open ?? (await this.#ready.finally(this.#holdBack(socket)))
    if (rpc === undefined || socket.destroyed) socket.destroy()
    else rpc.server.handleUpgrade(request, socket, head, (open) => rpc.serve(open))
  }

  terminate(): void {
    for (const socket of this.#waiting) socket.destroy()
    for (const socket of this.#open?.server.clients ?? []) socket.terminate()
  }

  /**
   * Counts a waiting socket until it closes; it is read meanwhile, because an unread socket would not report its end. Returns a
   * function that releases it.
   */
  #holdBack(socket: Duplex): () => void {
    // A window sends nothing before it is answered: a socket that does is not a window.
    const drop = (): void => void socket.destroy()
    const release = (): void => {
      this.#waiting.delete(socket)
      socket.off('data', drop).off('end', drop).off('close', release)
    }
    this.#waiting.add(socket)
    socket.on('data', drop).on('end', drop).on('close', release)
    return release
  }
}

interface Site {
  readonly access: Access
  readonly webRoot: string
  readonly origin: string
  readonly authority: string
  readonly cookie: string
  readonly metrics: Metrics | undefined
  readonly onSent: (path: string) => void
}

const admitted = (site: Site, request: IncomingMessage): boolean =>
  site.access.admits(readCookies(request.headers.cookie, site.cookie))

async function answer(site: Site, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // 'self' covers WebSockets in current browsers only; older ones need the explicit address.
  const headers = pageHeaders(`'self' ws://${site.authority}`)
  const reply = (status: number, text: string, more: Record<string, string> = {}): void => {
    response.writeHead(status, { ...headers, 'content-type': 'text/plain; charset=utf-8', ...more }).end(`${text}\n`)
  }

  if (request.headers.host !== site.authority) {
    return reply(403, `This console answers at ${site.origin} only. Through a tunnel, forward the same port number.`)
  }
  if (request.method !== 'GET') return reply(405, 'Only GET is answered here.', { allow: 'GET' })
  const url = URL.parse(request.url ?? '/', site.origin)
  if (!url) return reply(400, 'The address could not be read.')

  // A scraper has no session: it sends its own token in a header, and gets only the metrics.
  if (url.pathname === METRICS_PATH && site.metrics) {
    if (!site.metrics.admits(request.headers)) {
      return reply(401, 'The metrics need their token: Authorization: Bearer …', { 'www-authenticate': 'Bearer' })
    }
    response.writeHead(200, { ...headers, 'content-type': site.metrics.type }).end(site.metrics.text())
    return
  }

  const given = url.pathname === '/' ? url.searchParams.get('token') : null
  if (given !== null) {
    const session = site.access.trade(given)
    if (session !== undefined) {
      const cookie = `${site.cookie}=${session.cookie}; HttpOnly; SameSite=Strict; Path=/`
      return reply(303, 'Opening the console.', { location: `/${keyFragment(session.key)}`, 'set-cookie': cookie })
    }
    // Reload of the printed address in the browser that already exchanged its token: its tab has the key.
    if (admitted(site, request)) return reply(303, 'Opening the console.', { location: '/' })
    return reply(
      401,
      'This address was used already or is not valid: each one opens the console once. ' + FRESH_ADDRESS,
    )
  }
  if (!admitted(site, request)) return reply(401, 'This browser has no session with the console. ' + FRESH_ADDRESS)

  if (url.pathname === SESSION_PATH) {
    const key = /^Bearer ([\w-]+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (!site.access.opens(key)) return reply(401, 'This tab has no key to the console. ' + FRESH_ADDRESS)
    response.writeHead(204, headers).end()
    return
  }

  const found = await findFile(site.webRoot, url.pathname)
  if (found.status !== 200) return reply(found.status, found.status === 403 ? 'Not served.' : 'Not found.')
  response.once('finish', () => site.onSent(url.pathname))
  response.writeHead(200, { ...headers, 'content-type': found.type }).end(found.body)
}

async function upgrade(
  site: Site,
  sockets: Sockets,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const refuse = (status: string): void => void socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
  socket.on('error', () => undefined) // a peer that disconnects during the handshake is not an error
  if (request.headers.host !== site.authority || request.headers.origin !== site.origin) return refuse('403 Forbidden')
  const key = keyOffered(request.headers['sec-websocket-protocol'])
  if (!admitted(site, request) || !site.access.opens(key)) return refuse('401 Unauthorized')
  if (request.url !== '/rpc') return refuse('404 Not Found')
  if (sockets.size >= MAX_WINDOWS) return refuse('503 Service Unavailable')
  await sockets.accept(request, socket, head)
}

function listen(server: Server, port: number, host: string): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(listenFailure(error, port)))
    server.listen({ port, host, exclusive: true }, () => resolve(undefined))
  })
}

function listenFailure(error: NodeJS.ErrnoException, port: number): Failure {
  const what = `The console could not listen on port ${port}`
  const next = 'Choose another with --port, or 0 for any free one.'
  if (error.code === 'EADDRINUSE') return { code: 'PORT_TAKEN', what, why: 'another program uses it', next }
  if (error.code === 'EACCES') return { code: 'PORT_REFUSED', what, why: 'this user may not use it', next }
  return { code: 'LISTEN_FAILED', what, why: error.message, next }
}

async function close(server: Server, sockets: Sockets): Promise<void> {
  sockets.terminate()
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
