/** Serves the contract over WebSocket: one oRPC peer per connection, one name per peer. */
import type { AnyRouter } from '@orpc/server'
import { RPCHandler } from '@orpc/server/ws'
import { WebSocketServer, type WebSocket } from 'ws'
import { RPC_PROTOCOL } from '#core/api/browser-session.ts'
import type { PeerContext } from '#electron/host/peer.ts'
import { isMessage, MAX_MESSAGE, verbsOf, verbWatch, type UnknownVerb } from './messages.ts'

/** Most concurrent windows. */
export const MAX_WINDOWS = 32
/** Close code of RFC 6455 for a message that violates the protocol. */
const POLICY_VIOLATION = 1008

/** Accepts WebSockets that the server has already authorized. */
export interface RpcSockets {
  readonly server: WebSocketServer
  /** Serves the router on an open socket until it closes. */
  serve(socket: WebSocket): void
}

/** Creates the WebSocket side of `router`. */
export function rpcSockets(router: AnyRouter, onUnknown: UnknownVerb = () => undefined): RpcSockets {
  const watch = verbWatch(verbsOf(router), onUnknown)
  const handler = new RPCHandler<PeerContext>(router)
  let opened = 0
  return {
    server: new WebSocketServer({
      noServer: true,
      maxPayload: MAX_MESSAGE,
      perMessageDeflate: false,
      // The page also offers its key as a protocol, which is not echoed.
      handleProtocols: (offered) => (offered.has(RPC_PROTOCOL) ? RPC_PROTOCOL : false),
    }),
    serve(socket) {
      // ws reports a broken or oversized message here and closes the socket itself; without a listener the error would end the
      // process.
      socket.on('error', () => undefined)
      const peer = `browser-${++opened}`
      void handler.upgrade(
        guarded(socket, (data) => watch(peer, data)),
        { context: { peer } },
      )
    },
  }
}

/** Filters the socket: one message that no window of Sluice would send ends the connection. */
function guarded(socket: WebSocket, heard: (data: string) => void): Pick<WebSocket, 'addEventListener' | 'send'> {
  const addEventListener = (type: string, listener: unknown): void => {
    const call = listener as (event?: unknown) => void
    if (type === 'close') socket.addEventListener('close', () => call())
    if (type === 'message') {
      socket.addEventListener('message', ({ data }) => {
        if (isMessage(data)) {
          heard(data)
          call({ data })
        } else socket.close(POLICY_VIOLATION, 'message not understood')
      })
    }
  }
  return { addEventListener, send: socket.send.bind(socket) }
}
