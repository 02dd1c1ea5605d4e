/** The host process as a plain function: messages in, ports served, messages out. */
import type { AnyRouter } from '@orpc/server'
import { InvariantError, type Failure, type Result } from '#core/base/result.ts'
import type { FromHost, ToHost } from './host-messages.ts'
import { portServer, type PortLike } from './host-ports.ts'

/** The part of a host that the loop needs. */
export interface HostLike {
  readonly router: AnyRouter
  close(): Promise<void>
}

/** Where main's messages arrive, for example process.parentPort. */
export interface ParentLike {
  on(
    event: 'message',
    listener: (event: { readonly data: unknown; readonly ports: readonly PortLike[] }) => void,
  ): unknown
}

/**
 * Serves the host that `opening` yields on every port that comes with `connect`; ports that come earlier wait.
 * Tells main `ready` or `failed`, and `closed` after `close`; then calls `exit`.
 */
export function runHost(
  parent: ParentLike,
  opening: Promise<Result<HostLike>>,
  tell: (message: FromHost) => void,
  exit: (code: number) => void,
): void {
  const serving = opening.then(
    (opened) => (opened.ok ? { host: opened.value, serve: portServer(opened.value.router) } : opened.error),
    (error: unknown): Failure => bug(error),
  )
  void serving.then((result) => {
    if ('host' in result) return tell({ type: 'ready' })
    tell({ type: 'failed', failure: result })
    exit(1)
  })
  parent.on('message', ({ data, ports }) => {
    void serving.then(async (result) => {
      if (!('host' in result)) return
      const message = data as ToHost
      if (message.type === 'connect') for (const port of ports) result.serve(port)
      if (message.type === 'close') {
        await result.host.close()
        tell({ type: 'closed' })
        exit(0)
      }
    })
  })
}

const bug = (error: unknown): Failure => ({
  code: error instanceof InvariantError ? 'INVARIANT' : 'HOST_BUG',
  what: 'The host could not be opened',
  why: error instanceof Error ? error.message : String(error),
  next: 'This is a fault in Sluice: report it with the text above.',
})
