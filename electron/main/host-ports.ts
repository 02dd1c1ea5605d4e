/** Serves the contract on message ports, of Electron or of node:worker_threads. */
import type { AnyRouter } from '@orpc/server'
import { RPCHandler } from '@orpc/server/message-port'
import { isMessage, verbsOf, verbWatch, type UnknownVerb } from '#electron/server/messages.ts'
import type { PeerContext } from '#electron/host/peer.ts'

/** Port as in Electron's main and utility processes: events carry the message in `data`. */
export interface PortLike {
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): unknown
  on(event: 'close', listener: () => void): unknown
  postMessage(message: unknown): void
  start(): void
  close(): void
}

/** Most ports served at once: a page has one, and drops it when it gets another. */
const MOST_PORTS = 8

/** Returns a function that serves `router` on a port until the port closes; each port is a peer of its own. */
export function portServer(router: AnyRouter, onUnknown: UnknownVerb = () => undefined): (port: PortLike) => void {
  const watch = verbWatch(verbsOf(router), onUnknown)
  const handler = new RPCHandler<PeerContext>(router)
  const open = new Set<ReturnType<typeof guarded>>()
  let opened = 0
  return (port) => {
    const peer = `window-${++opened}`
    const served = guarded(port, (data) => watch(peer, data))
    handler.upgrade(served, { context: { peer } })
    open.add(served)
    port.on('close', () => open.delete(served))
    const [oldest] = open
    if (open.size > MOST_PORTS && oldest) {
      open.delete(oldest)
      oldest.end()
    }
    port.start()
  }
}

/** Drops messages that oRPC cannot read: over ports they would be unhandled rejections, which end the process. */
function guarded(port: PortLike, heard: (data: string) => void) {
  const closing: (() => void)[] = []
  return {
    /** Ends the calls on the port: not every engine notifies the side that closes it. */
    end() {
      for (const close of closing) close()
      port.close()
    },
    on(event: string, listener: (event?: { data: unknown }) => void) {
      if (event === 'close') {
        closing.push(() => listener())
        port.on('close', () => listener())
      }
      if (event !== 'message') return
      port.on('message', ({ data }) => {
        if (!isMessage(data)) return
        heard(data)
        listener({ data })
      })
    },
    postMessage: (message: unknown) => port.postMessage(message),
  }
}
