/** Client daemon of a node: libccPFS behind a private Unix socket, so that its programs share one lock cache and one page cache. */
import type { Socket } from 'node:net'
import { ok, type Result } from '#core/base/result.ts'
import { listenAuthenticated } from '#electron/wire/listen.ts'
import { DoorConnection } from './door.ts'
import { Ccpfs, type CcpfsOptions } from './lib.ts'
import { PURPOSE } from './places.ts'

export interface ClientDaemonOptions extends CcpfsOptions {
  /** Socket for local programs, in a folder that only this user can enter. */
  readonly socket: string
  /** Called when programs can no longer reach the daemon. */
  readonly onLost?: ((why: string) => void) | undefined
}

export interface ClientDaemon {
  readonly fs: Ccpfs
  /** Flushes and syncs everything, and stops. */
  close(): Promise<void>
}

const PROGRAMS_MAX = 4096

/** Starts the daemon. @returns failures of `Ccpfs.connect` and `listenAuthenticated`. */
export async function startClient(options: ClientDaemonOptions): Promise<Result<ClientDaemon>> {
  const startedMs = Date.now()
  const connections = new Set<DoorConnection>()
  // The socket first: a second daemon must not join the file system.
  let accept: (socket: Socket) => void = (socket) => socket.destroy()
  const listening = await listenAuthenticated(
    { path: options.socket },
    {
      what: 'a ccPFS client daemon',
      most: PROGRAMS_MAX,
      peering: { purpose: PURPOSE, secret: undefined },
      onSocket: (socket) => accept(socket),
      onLost: (why) => options.onLost?.(why),
    },
  )
  if (!listening.ok) return listening
  const connected = await Ccpfs.connect(options)
  if (!connected.ok) {
    await listening.value.close()
    return connected
  }
  const fs = connected.value
  const status = () => ({
    kind: 'client',
    version: 1,
    pid: process.pid,
    startedMs,
    socket: options.socket,
    ...fs.status(),
    programs: [...connections].map(({ pid, handles, requests }) => ({ pid, handles, requests })),
  })
  accept = (socket) => {
    connections.add(new DoorConnection(socket, { fs, status, onClose: (one) => connections.delete(one) }))
  }
  return ok({
    fs,
    close: async () => {
      await listening.value.close()
      await fs.close()
    },
  })
}
