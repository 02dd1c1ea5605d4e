/**
 * Global controller as a daemon: local controllers at a UNIX socket or a port, commands at a separate UNIX socket. Decisions are
 * made in core/padll/control/global-controller.ts; persistent state is in its state file.
 */
import type { Socket } from 'node:net'
import { formatFailure, ok, type Result } from '#core/base/result.ts'
import { answerConsole, parseConsole, type ConsoleAnswer, type ConsoleController } from '#core/padll/console.ts'
import { GlobalController } from '#core/padll/control/global-controller.ts'
import type { GlobalToLocal, LocalToGlobal } from '#core/padll/control/messages.ts'
import { globalToLocal, localToGlobal } from '#core/padll/wire/hierarchy-wire.ts'
import type { Address } from '#electron/wire/address.ts'
import { listenAuthenticated, type Listening } from '#electron/wire/listen.ts'
import type { PeerSecret } from '#electron/wire/peer-auth.ts'
import { serveCommand } from '../wire/control-channel.ts'
import { clockFrom, Driver } from './driver.ts'
import type { GlobalConfig } from './global-config.ts'
import { Links } from './links.ts'
import { PURPOSE } from './places.ts'
import { NO_STATE, readState, writeState, type SavedState } from './state-file.ts'
import { WireSocket } from './wire-socket.ts'

export interface GlobalDaemonOptions {
  readonly name: string
  readonly address: Address
  /** Secret for mutual authentication with local controllers; required beyond this machine. */
  readonly secret?: PeerSecret | undefined
  readonly controlSocket: string
  readonly stateFile: string
  readonly config: Pick<GlobalConfig, 'settings' | 'housekeeping' | 'policies' | 'hash'>
  /** Lowest epoch to use. */
  readonly leastEpoch?: number
  readonly log?: (text: string) => void
  readonly onLost?: (why: string) => void
}

export interface GlobalDaemon {
  readonly address: Address
  readonly controller: GlobalController
  /** Answers a command as `sluice padll ARGS` does. */
  command(args: readonly string[], stdin: string): ConsoleAnswer
  close(): Promise<void>
}

const LOCALS_MAX = 10_000
const COMMANDS_MAX = 64
const HELLO_MS = 5000
const NS_PER_MS = 1e6

/**
 * Starts the daemon. The address is bound before the epoch is raised, so that a second controller at the same address is refused
 * and has changed nothing.
 */
export async function startGlobal(options: GlobalDaemonOptions): Promise<Result<GlobalDaemon>> {
  const { name, config, log = () => undefined } = options
  const locals = new Links<WireSocket<LocalToGlobal, GlobalToLocal>>()
  let isClosed = false
  let stop = (): void => undefined
  let accept: (socket: Socket) => void = (socket) => socket.destroy()
  let serve: (socket: Socket) => void = (socket) => socket.destroy()
  const opened: Listening[] = []
  const closeAll = async (): Promise<void> => {
    isClosed = true
    await Promise.all(opened.map((one) => one.close()))
  }
  const onLost = (why: string): void => {
    if (isClosed) return
    stop()
    void closeAll()
    options.onLost?.(why)
  }
  const places = [
    { address: options.address, most: LOCALS_MAX, onSocket: (s: Socket) => accept(s) },
    { address: { path: options.controlSocket }, most: COMMANDS_MAX, onSocket: (s: Socket) => serve(s) },
  ] as const
  for (const { address, most, onSocket } of places) {
    const one = await listenAuthenticated(address, {
      what: 'a global controller',
      most,
      peering: { purpose: PURPOSE, secret: options.secret },
      onSocket,
      onRefused: (why) => log(`a local controller was refused: ${why}`),
      onLost,
    })
    if (!one.ok) {
      await closeAll()
      return one
    }
    opened.push(one.value)
  }

  const restored = readState(options.stateFile)
  const epoch = Math.max((restored.ok ? restored.value.epoch : 0) + 1, options.leastEpoch ?? 1)
  if (!restored.ok && options.leastEpoch === undefined) {
    await closeAll()
    return restored
  }
  const isSame = restored.ok && restored.value.config === config.hash
  let state: SavedState = { ...(isSame ? restored.value : NO_STATE), config: config.hash, epoch }
  const written = writeState(options.stateFile, state)
  if (!written.ok) {
    await closeAll()
    return written
  }

  const now = clockFrom(performance.now())
  const startedMs = Date.now()
  const controller = new GlobalController({
    controller: name,
    startedMs,
    startedNs: 0,
    epoch,
    housekeeping: config.housekeeping,
    settings: config.settings,
    io: {
      send: (link, message) => void locals.get(link)?.send(message),
      close: (link) => locals.get(link)?.finish('the controller closed it'),
    },
  })
  const act = consoleOf(controller, now)
  const policies = state.policies?.text ?? config.policies
  if (policies !== '') {
    // Policies resume where they were.
    const elapsedMs = Math.max(0, startedMs - (state.policies?.startedMs ?? startedMs))
    const done = controller.setPolicies(policies, 0, -elapsedMs * NS_PER_MS)
    if (!done.ok) {
      await closeAll()
      return done
    }
  }
  if (state.changes.length > 0) answerConsole(['set', ...state.changes], '', act)
  const driver = new Driver(controller, now)
  let isObeyed = true
  /** Runs an action on the controller, and stores a changed epoch. */
  const perform = (act: (nowNs: number) => void): void => {
    driver.with(act)
    if (controller.epoch !== state.epoch) keep({ ...state, epoch: controller.epoch })
    if (isObeyed === controller.isCommanding) return
    isObeyed = controller.isCommanding
    if (!isObeyed) log('another global controller has taken over; this one is inactive')
  }
  const keep = (next: SavedState): Result<undefined> => {
    state = next
    const saved = writeState(options.stateFile, state)
    if (!saved.ok) log(formatFailure(saved.error))
    return saved
  }
  stop = () => driver.stop()

  accept = (socket) => {
    socket.setNoDelay(true).setKeepAlive(true, 5000)
    const link = locals.next()
    const silent = setTimeout(() => wire.end('it did not identify itself'), HELLO_MS)
    const wire = new WireSocket(socket, localToGlobal, globalToLocal, {
      onMessage: (message) => {
        clearTimeout(silent)
        perform((nowNs) => controller.onMessage(link, message, nowNs))
      },
      onEnd: (why) => {
        clearTimeout(silent)
        locals.delete(link)
        log(`a local controller disconnected: ${why}`)
        perform((nowNs) => controller.onGone(link, nowNs))
      },
    })
    locals.set(link, wire)
    perform((nowNs) => controller.onOpen(link, nowNs))
  }

  const command = (args: readonly string[], stdin: string): ConsoleAnswer => {
    let answer: ConsoleAnswer = { stdout: '', stderr: '', code: 1 }
    perform(() => (answer = answerConsole(args, stdin, act)))
    const next = answer.code === 0 ? changed(state, args, stdin) : undefined
    if (next === undefined) return answer
    const saved = keep(next)
    if (saved.ok) return answer
    return {
      ...answer,
      stderr: `${answer.stderr}sluice padll: in force, but not saved: ${formatFailure(saved.error)}\n`,
    }
  }
  serve = (socket) => void serveCommand(socket, command)

  return ok({
    address: opened[0]?.address ?? options.address,
    controller,
    command,
    close: async () => {
      driver.stop()
      await closeAll()
    },
  })
}

/** Adapter for console commands, at the current time. */
const consoleOf = (controller: GlobalController, now: () => number): ConsoleController => ({
  get epoch() {
    return controller.epoch
  },
  get policiesText() {
    return controller.policiesText
  },
  status: () => controller.status(Date.now()),
  checkPolicies: (text) => controller.checkPolicies(text),
  setPolicies: (text) => controller.setPolicies(text, now()),
  change: (change) => controller.change(change, now()),
})

/** State to store after a successful command; undefined if it changed nothing. */
function changed(state: SavedState, args: readonly string[], stdin: string): SavedState | undefined {
  const parsed = parseConsole(args)
  if (!parsed.ok) return undefined
  if (parsed.value.kind === 'policies-set') return { ...state, policies: { text: stdin, startedMs: Date.now() } }
  if (parsed.value.kind !== 'set') return undefined
  const byName = new Map(state.changes.map((change) => [change.split('=')[0], change]))
  for (const change of args) if (change.includes('=')) byName.set(change.split('=')[0], change)
  return { ...state, changes: [...byName.values()] }
}
