/** Serves the contract on message ports, of Electron or of node:worker_threads. */
import type { AnyRouter } from '@orpc/server'
import { RPCHandler } from '@orpc/server/message-port'
import { isMessage } from '#electron/server/messages.ts'
import type { PeerContext } from '#electron/host/peer.ts'

/** A port as Electron's main and utility processes have it: events carry the message in `data`. */
export interface PortLike {
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): unknown
  on(event: 'close', listener: () => void): unknown
  postMessage(message: unknown): void
  start(): void
}

/** Returns a function that serves `router` on a port until the port closes; each port is a peer of its own. */
export function portServer(router: AnyRouter): (port: PortLike) => void {
  const handler = new RPCHandler<PeerContext>(router)
  let opened = 0
  return (port) => {
    handler.upgrade(guarded(port), { context: { peer: `window-${++opened}` } })
    port.start()
  }
}

/** Over ports, a message that oRPC cannot read is an unhandled rejection, which ends the process: it is dropped here. */
function guarded(port: PortLike) {
  return {
    on(event: string, listener: (event?: { data: unknown }) => void) {
      if (event === 'close') port.on('close', () => listener())
      if (event === 'message') port.on('message', ({ data }) => void (isMessage(data) && listener({ data })))
    },
    postMessage: (message: unknown) => port.postMessage(message),
  }
}
