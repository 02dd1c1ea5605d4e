/**
 * Local controller as a daemon: stages at a UNIX socket, and one connection to the global controller, which it reopens as often as
 * needed. Decisions are made in core/padll/control/local-controller.ts.
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
  /** Socket for stages. */
  readonly socket: string
  /** Address of the global controller. */
  readonly core: Address
  /** Secret for mutual authentication with the global controller; required beyond this machine. */
  readonly secret?: PeerSecret | undefined
  /** Prints an occasional log line. */
  readonly log?: (text: string) => void
  /** Called when its socket was removed or replaced; it has closed then. */
  readonly onLost?: (why: string) => void
}

export interface LocalDaemon {
  close(): Promise<void>
}

/** Most processes of one node that can be stages at the same time. */
const STAGES_MAX = 4096
/** Time after which a connection without a hello is closed. */
const HELLO_MS = 5000
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5000

export async function startLocal(options: LocalDaemonOptions): Promise<Result<LocalDaemon>> {
  const { name, hostname, log = () => undefined } = options
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
      closeStage: (link) => stages.get(link)?.finish('the controller closed it'),
      toGlobal: (link, message) => void globals.get(link)?.send(message),
      closeGlobal: (link) => globals.get(link)?.finish('another controller commands this node'),
    },
  })
  const driver = new Driver(controller, now)

  const onStage = (socket: Socket): void => {
    const link = stages.next()
    const silent = setTimeout(() => wire.end('it did not identify itself'), HELLO_MS)
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
  const core = keepConnected(options.core, peering, log, (socket, isUp) => {
    const link = globals.next()
    const wire = new WireSocket(socket, globalToLocal, localToGlobal, {
      onMessage: (message) => {
        isUp()
        driver.with((nowNs) => controller.onGlobalMessage(link, message, nowNs))
      },
      onEnd: (why) => {
        globals.delete(link)
        log(`the global controller disconnected: ${why}`)
        driver.with((nowNs) => controller.onGlobalGone(link, nowNs))
      },
    })
    globals.set(link, wire)
    driver.with((nowNs) => controller.onGlobalOpen(link, nowNs))
  })
  stop = () => {
    driver.stop()
    core.stop()
    for (const wire of stages.values()) wire.end('the local controller is shutting down')
  }
  return ok({
    close: async () => {
      isClosed = true
      stop()
      await listening.value.close()
    },
  })
}

/** Connects, and reconnects after each end at growing intervals, which are reset when a connection was useful (`isUp`). */
function keepConnected(
  address: Address,
  peering: Peering,
  log: (text: string) => void,
  onSocket: (socket: Socket, isUp: () => void) => void,
): { stop: () => void } {
  let retryMs = FIRST_RETRY_MS
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let current: Socket | undefined
  let isReported = false
  /** Reports the first failure of each disconnected period. */
  const complain = (why: string): void => {
    if (!isReported) log(`no global controller at ${printAddress(address)} (${why}); retrying`)
    isReported = true
  }
  const again = (): void => {
    if (isStopped) return
    timer = setTimeout(attempt, retryMs * (0.75 + Math.random() / 2))
    retryMs = Math.min(LAST_RETRY_MS, retryMs * 2)
  }
  const attempt = (): void => {
    const made = connectAuthenticated(address, peering, {
      onOpen: (socket) => {
        isReported = false
        log(`connected to the global controller at ${printAddress(address)}`)
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
