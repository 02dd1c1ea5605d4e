/** The host process as a plain function: messages in, ports served, messages out. */
import type { AnyRouter } from '@orpc/server'
import { InvariantError, type Failure, type Result } from '#core/base/result.ts'
import { toHost, type FromHost, type ToHost } from './host-messages.ts'
import type { UnknownVerb } from '#electron/server/messages.ts'
import { portServer, type PortLike } from './host-ports.ts'

/** The part of a host that the loop needs. */
export interface HostLike {
  readonly router: AnyRouter
  /** A window asked for a verb that there is not. */
  readonly unknownVerb?: UnknownVerb | undefined
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
 * Tells main `ready` or `failed`, and `closed` after `close`; then calls `exit`. What main says and is no message of ours is not heard.
 *
 * @param hear  takes what is not about ports, at once: opening the host may wait for it.
 */
export function runHost(
  parent: ParentLike,
  opening: Promise<Result<HostLike>>,
  tell: (message: FromHost) => void,
  exit: (code: number) => void,
  hear: (message: ToHost) => void = () => undefined,
): void {
  const serving = opening.then(
    (opened) =>
      opened.ok
        ? { host: opened.value, serve: portServer(opened.value.router, opened.value.unknownVerb) }
        : opened.error,
    (error: unknown): Failure => bug(error),
  )
  void serving.then((result) => {
    if ('host' in result) return tell({ type: 'ready' })
    tell({ type: 'failed', failure: result })
    exit(1)
  })
  parent.on('message', ({ data, ports }) => {
    const read = toHost.safeParse(data)
    if (!read.success) return
    const message = read.data
    hear(message)
    void serving.then(async (result) => {
      if (!('host' in result)) return
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
