/** Host process as a plain function: receives messages, serves ports, sends messages. */
import type { AnyRouter } from '@orpc/server'
import { InvariantError, type Failure, type Result } from '#core/base/result.ts'
import { toHost, type FromHost, type ToHost } from './host-messages.ts'
import type { UnknownVerb } from '#electron/server/messages.ts'
import { portServer, type PortLike } from './host-ports.ts'

/** The part of a host that the loop uses. */
export interface HostLike {
  readonly router: AnyRouter
  /** Called when a window requests an unknown verb. */
  readonly unknownVerb?: UnknownVerb | undefined
  close(): Promise<void>
}

/** Source of main's messages, for example process.parentPort. */
export interface ParentLike {
  on(
    event: 'message',
    listener: (event: { readonly data: unknown; readonly ports: readonly PortLike[] }) => void,
  ): unknown
}

/**
 * Serves the host that `opening` yields on every port that arrives with `connect`; earlier ports wait. Sends `ready` or `failed`
 * to main, and `closed` after `close`; then calls `exit`. Messages of main that match no schema are ignored.
 *
 * @param hear  handles each message at once, before the ports: opening the host may wait for it.
 */
export function runHost(
  parent: ParentLike,
  opening: Promise<Result<HostLike>>,
  post: (message: FromHost) => void,
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
    if ('host' in result) return post({ type: 'ready' })
    post({ type: 'failed', failure: result })
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
        post({ type: 'closed' })
        exit(0)
      }
    })
  })
}

const bug = (error: unknown): Failure => ({
  code: error instanceof InvariantError ? 'INVARIANT' : 'HOST_BUG',
  what: 'The host could not be opened',
  why: error instanceof Error ? error.message : String(error),
  next: 'This is a bug in Sluice: report it with the text above.',
})
