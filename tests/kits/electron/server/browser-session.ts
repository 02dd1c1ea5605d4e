/** Opens the printed address like a browser: with the cookie of the host and the key of the page. */
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/websocket'
import type { NestedClient } from '@orpc/client'
import { WebSocket } from 'ws'
import { keyInFragment, offeredProtocols } from '#core/api/browser-session.ts'

/** Secrets of a browser that has opened the address. */
export interface BrowserSession {
  readonly origin: string
  /** Cookie header; browsers send it to every port of the host. */
  readonly cookie: string
  /** Stored by the page, per origin. */
  readonly key: string
}

/** @throws Error if the address was not accepted. */
export async function openAddress(address: string | URL): Promise<BrowserSession> {
  const url = new URL(address)
  const answer = await fetch(url, { redirect: 'manual' })
  await answer.body?.cancel()
  const cookie = answer.headers.get('set-cookie')?.split(';')[0]
  if (answer.status !== 303 || cookie === undefined) throw new Error(`the address was answered ${answer.status}`)
  const { hash } = new URL(answer.headers.get('location') ?? '/', url)
  return { origin: url.origin, cookie, key: keyInFragment(hash) ?? '' }
}

/** Opens the page's socket. */
export function pageSocket({ origin, cookie, key }: BrowserSession, path = '/rpc'): WebSocket {
  return new WebSocket(`${origin.replace('http', 'ws')}${path}`, offeredProtocols(key), { headers: { cookie, origin } })
}

/** Outcome of a handshake: `open`, the status of the refusal, or the error. */
export function handshakeOf(socket: WebSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.on('open', () => resolve('open'))
    socket.on('unexpected-response', (_request, response) => {
      resolve(String(response.statusCode))
      socket.terminate()
    })
    socket.on('error', (error) => resolve(error.message))
  })
}

/** Client over a socket; ws has the browser's interface except for the types of its events. */
export function clientOf<C extends NestedClient<object>>(socket: WebSocket): C {
  return createORPCClient(new RPCLink({ websocket: socket as unknown as globalThis.WebSocket }))
}
