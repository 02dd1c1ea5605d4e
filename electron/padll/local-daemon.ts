/**
 * A local controller as a daemon: stages at a UNIX socket, one connection to the global controller, which it makes anew as
 * often as it takes. What it decides is core/padll/control/local-controller.ts.
 */
import type { Socket } from 'node:net'
import { fail, formatFailure, ok, type Result } from '#core/base/result.ts'
import { LocalController } from '#core/padll/control/local-controller.ts'
import type { GlobalToLocal, LocalToGlobal, LocalToStage, StageToLocal } from '#core/padll/control/messages.ts'
import { globalToLocal, localToGlobal } from '#core/padll/wire/hierarchy-wire.ts'
import { localToStage, stageToLocal } from '#core/padll/wire/stage-wire.ts'
import { printAddress, type Address } from '#electron/wire/address.ts'
import { connectAuthenticated } from '#electron/wire/connect.ts'
import { listenAuthenticated } from '#electron/wire/listen.ts'
import { openAddressFault, type Peering, type PeerSecret } from '#electron/wire/peer-auth.ts'
import { clockFrom, Driver } from './driver.ts'
import { Links } from './links.ts'
import { PURPOSE } from './places.ts'
import { WireSocket } from './wire-socket.ts'

export interface LocalDaemonOptions {
  /** Its name among the local controllers of one global one. */
  readonly name: string
  readonly hostname: string
  /** Where stages find it. */
  readonly socket: string
  /** Where the global controller is. */
  readonly core: Address
  /** What proves to it, and it to this one, that they belong together; needed beyond this machine. */
  readonly secret?: PeerSecret | undefined
  /** One line for people, now and then. */
  readonly say?: (text: string) => void
  /** It cannot be found any more; it has closed. */
  readonly onLost?: (why: string) => void
}

export interface LocalDaemon {
  close(): Promise<void>
}

/** Processes of one node that can be stages at once. */
const STAGES_MAX = 4096
/** A connection that has not said who it is by then is ended. */
const HELLO_MS = 5000
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5000

export async function startLocal(options: LocalDaemonOptions): Promise<Result<LocalDaemon>> {
  const { name, hostname, say = () => undefined } = options
  const peering: Peering = { purpose: PURPOSE, secret: options.secret }
  const open = openAddressFault(options.core, options.secret)
  if (open) return fail(open)
  const stages = new Links<WireSocket<StageToLocal, LocalToStage>>()
  const globals = new Links<WireSocket<GlobalToLocal, LocalToGlobal>>()
  const now = clockFrom(performance.now())
  const controller = new LocalController({
    local: name,
    hostname,
    io: {
      toStage: (link, message) => void stages.get(link)?.send(message),
      closeStage: (link) => stages.get(link)?.finish('it was sent away'),
      toGlobal: (link, message) => void globals.get(link)?.send(message),
      closeGlobal: (link) => globals.get(link)?.finish('another controller commands this node'),
    },
  })
  const driver = new Driver(controller, now)

  const onStage = (socket: Socket): void => {
    const link = stages.next()
    const silent = setTimeout(() => wire.end('it did not say who it is'), HELLO_MS)
    const wire = new WireSocket(socket, stageToLocal, localToStage, {
      onMessage: (message) => {
        clearTimeout(silent)
        driver.with((nowNs) => controller.onStageMessage(link, message, nowNs))
      },
      onEnd: () => {
        clearTimeout(silent)
        stages.delete(link)
        driver.with((nowNs) => controller.onStageGone(link, nowNs))
      },
    })
    stages.set(link, wire)
    driver.with((nowNs) => controller.onStageOpen(link, nowNs))
  }

  let isClosed = false
  let stop = (): void => driver.stop()
  const listening = await listenAuthenticated(
    { path: options.socket },
    {
      peering,
      what: 'a local controller',
      most: STAGES_MAX,
      onSocket: onStage,
      onLost: (why) => {
        if (isClosed) return
        isClosed = true
        stop()
        options.onLost?.(why)
      },
    },
  )
  if (!listening.ok) {
    stop()
    return listening
  }
  const core = keepConnected(options.core, peering, say, (socket, isUp) => {
    const link = globals.next()
    const wire = new WireSocket(socket, globalToLocal, localToGlobal, {
      onMessage: (message) => {
        isUp()
        driver.with((nowNs) => controller.onGlobalMessage(link, message, nowNs))
      },
      onEnd: (why) => {
        globals.delete(link)
        say(`the global controller is gone: ${why}`)
        driver.with((nowNs) => controller.onGlobalGone(link, nowNs))
      },
    })
    globals.set(link, wire)
    driver.with((nowNs) => controller.onGlobalOpen(link, nowNs))
  })
  stop = () => {
    driver.stop()
    core.stop()
    for (const wire of stages.values()) wire.end('the local controller ends')
  }
  return ok({
    close: async () => {
      isClosed = true
      stop()
      await listening.value.close()
    },
  })
}

/** Connects, and again after each end, at growing intervals until one of the connections was of use (`isUp`). */
function keepConnected(
  address: Address,
  peering: Peering,
  say: (text: string) => void,
  onSocket: (socket: Socket, isUp: () => void) => void,
): { stop: () => void } {
  let retryMs = FIRST_RETRY_MS
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let current: Socket | undefined
  let isSaid = false
  /** Once for a time without a connection. */
  const complain = (why: string): void => {
    if (!isSaid) say(`no global controller at ${printAddress(address)} (${why}); trying again`)
    isSaid = true
  }
  const again = (): void => {
    if (isStopped) return
    timer = setTimeout(attempt, retryMs * (0.75 + Math.random() / 2))
    retryMs = Math.min(LAST_RETRY_MS, retryMs * 2)
  }
  const attempt = (): void => {
    const made = connectAuthenticated(address, peering, {
      onOpen: (socket) => {
        isSaid = false
        say(`connected to the global controller at ${printAddress(address)}`)
        onSocket(socket, () => (retryMs = FIRST_RETRY_MS))
      },
      onTrouble: complain,
      onClose: again,
    })
    if (made.ok) current = made.value
    else {
      complain(formatFailure(made.error))
      again()
    }
  }
  attempt()
  return {
    stop: () => {
      isStopped = true
      clearTimeout(timer)
      current?.destroy()
    },
  }
}
