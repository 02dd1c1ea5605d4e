/** Main's end of the host: starts its process, hands a port of it to each window, closes it. */
import { MessageChannelMain, utilityProcess, type IpcMainEvent, type WebFrameMain } from 'electron'
import type { Failure } from '#core/base/result.ts'
import type { FromHost, HostArguments, ToHost } from './host-messages.ts'
import { isOurFrame } from './origin.ts'

/** A host that does not close by itself is ended after this time. */
const CLOSE_MS = 2000

/** The running host. */
export interface HostLink {
  /** Handler of the preload's request for a port; anybody but our own page's top frame gets none. */
  connect(event: Pick<IpcMainEvent, 'senderFrame'>): void
  /** Resolves when the host's process is gone, at most two seconds later. */
  close(): Promise<void>
}

/**
 * Starts the host's process.
 * @param onFailure called once when the host cannot be opened or ends without having been asked to
 */
export function startHost(program: string, given: HostArguments, onFailure: (failure: Failure) => void): HostLink {
  const child = utilityProcess.fork(program, [JSON.stringify(given)], { serviceName: 'sluice-host', stdio: 'inherit' })
  let over = false
  const gone = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      if (!over) onFailure(diedFailure(code))
      over = true
      resolve()
    })
  })
  child.on('message', (message: FromHost) => {
    if (message.type !== 'failed' || over) return
    over = true
    onFailure(message.failure)
  })
  const tell = (message: ToHost, ports: Electron.MessagePortMain[] = []): void => child.postMessage(message, ports)

  return {
    connect({ senderFrame }) {
      if (over || !isOurFrame(senderFrame)) return
      const { port1, port2 } = new MessageChannelMain()
      tell({ type: 'connect' }, [port1])
      ;(senderFrame as WebFrameMain).postMessage('sluice:port', null, [port2])
    },
    async close() {
      if (!over) {
        over = true
        tell({ type: 'close' })
      }
      const limit = setTimeout(() => child.kill(), CLOSE_MS)
      await gone
      clearTimeout(limit)
    },
  }
}

const diedFailure = (code: number): Failure => ({
  code: 'HOST_DIED',
  what: 'The part of Sluice that measures stopped',
  why: `its process ended with code ${code}`,
  unaffected: 'What was recorded until then is kept.',
  next: 'Start Sluice again.',
})
