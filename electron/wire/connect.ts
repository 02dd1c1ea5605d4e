/** Connects to an authenticated peer: in a private folder, on this machine, or by a secret. */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { fail, ok, type Result } from '#core/base/result.ts'
import { isLoopback, type Address } from './address.ts'
import { clientTls, handshakeFault, HANDSHAKE_MS, openAddressFault, type Peering } from './peer-auth.ts'
import { privateSocket } from './private-socket.ts'

export interface ConnectHandlers {
  /** Called once the peer is authenticated; nothing was sent before. */
  readonly onOpen: (socket: Socket) => void
  /** Called with the reason of a failure, before the connection was open or after. */
  readonly onTrouble: (why: string) => void
  readonly onClose: () => void
}

/**
 * Connects to a peer.
 *
 * @returns socket, to cancel; PEER_UNAUTHENTICATED, and failures of `privateSocket`, if no connection was attempted.
 */
export function connectAuthenticated(
  address: Address,
  { purpose, secret }: Peering,
  handlers: ConnectHandlers,
): Result<Socket> {
  const open = openAddressFault(address, secret)
  if (open) return fail(open)
  if ('path' in address) {
    const found = privateSocket(address.path)
    if (!found.ok) return found
    return ok(watched(connect(address.path), 'connect', handlers))
  }
  if (secret) {
    const socket = connectTls(clientTls(secret, purpose, address))
    socket.setNoDelay(true).setKeepAlive(true)
    return ok(watched(socket, 'secureConnect', handlers))
  }
  const socket = connect({ host: address.host, port: address.port, noDelay: true, keepAlive: true })
  return ok(watched(socket, 'connect', handlers, () => isLoopback(socket.remoteAddress ?? '')))
}

function watched(
  socket: Socket,
  opens: 'connect' | 'secureConnect',
  { onOpen, onTrouble, onClose }: ConnectHandlers,
  isAllowed = (): boolean => true,
): Socket {
  const late = setTimeout(() => socket.destroy(new Error('it did not answer in time')), HANDSHAKE_MS)
  socket.once(opens, () => {
    clearTimeout(late)
    if (isAllowed()) onOpen(socket)
    else socket.destroy(new Error('the name is of another machine'))
  })
  socket.on('error', (e) => onTrouble(opens === 'secureConnect' ? handshakeFault(e) : e.message))
  socket.once('close', () => {
    clearTimeout(late)
    onClose()
  })
  return socket
}
