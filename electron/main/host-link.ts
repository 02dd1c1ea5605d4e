/**
 * Main's end of the host process: starts it, hands one of its ports to each window, serves its requests, closes it. A host that
 * crashes is restarted with the data it had written; windows request a new port themselves.
 */
import {
  BrowserWindow,
  MessageChannelMain,
  utilityProcess,
  type IpcMainEvent,
  type UtilityProcess,
  type WebFrameMain,
} from 'electron'
import { ok, type Failure, type Result } from '#core/base/result.ts'
import type { RunForeign } from '#electron/foreign/processes.ts'
import type { ForeignTask } from '#electron/foreign/task.ts'
import type { ShellMessage } from '#electron/host/shell/shell.ts'
import hostProcess from '../../scripts/host-process.json' with { type: 'json' }
import { CrashLimit } from './crash-limit.ts'
import { fromHost, type HostArguments, type HostRequest, type ToHost } from './host-messages.ts'
import type { Native } from './native.ts'
import { isAppFrame } from './origin.ts'

/** Time after which a host that does not close by itself is killed. */
const CLOSE_MS = 2000

/** Handle of the running host. */
export interface HostLink {
  /** Handles the preload's request for a port; only the top frame of Sluice's own page gets one. */
  connect(event: Pick<IpcMainEvent, 'senderFrame'>): void
  /** Forwards an event of the desktop to the host. */
  notify(message: ShellMessage): void
  /** Resolves when the host process has ended, at most two seconds later. */
  close(): Promise<void>
}

export interface HostLinkParts {
  readonly program: string
  readonly given: HostArguments
  readonly native: Native
  /** Reads an untrusted file for the host. */
  readonly runForeign: RunForeign
  /** Called once, if the host cannot be opened, which a restart would not change, or the user gave up. */
  readonly onFailure: (failure: Failure) => void
  /** Asks the user if a host that keeps crashing is restarted. */
  readonly confirmRestart: (failure: Failure) => Promise<boolean>
  readonly limit?: CrashLimit
}

/** Starts the host process. */
export function startHost({
  program,
  given,
  native,
  runForeign,
  onFailure,
  confirmRestart,
  ...more
}: HostLinkParts): HostLink {
  const limit = more.limit ?? new CrashLimit()
  let child: UtilityProcess | undefined
  let again: NodeJS.Timeout | undefined
  let wasReady = false
  let isOver = false
  let gone: Promise<void> = Promise.resolve()
  /** Pages with a port of the current host. */
  const pages = new Set<WebFrameMain>()
  const post = (message: ToHost, ports: Electron.MessagePortMain[] = []): void => child?.postMessage(message, ports)

  function start(): void {
    const running = utilityProcess.fork(program, [JSON.stringify(given)], {
      serviceName: 'sluice-host',
      stdio: 'inherit',
      // Both limit its memory, see docs/decisions.md.
      execArgv: hostProcess.flags,
      env: { ...hostProcess.env, ...process.env },
    })
    child = running
    let failure: Failure | undefined
    gone = new Promise((resolve) => {
      running.once('exit', (code) => {
        if (child === running) child = undefined
        leave()
        resolve()
        if (!isOver) died(failure ?? diedFailure(code))
      })
    })
    running.on('message', (raw: unknown) => {
      const read = fromHost.safeParse(raw)
      if (!read.success || isOver) return
      const message = read.data
      if (message.type === 'ready') {
        wasReady = true
        post({ type: 'told', told: { kind: 'focus', isFocused: BrowserWindow.getFocusedWindow() !== null } })
      } else if (message.type === 'failed') {
        failure = message.failure
        if (!wasReady) giveUp(failure)
      } else if (message.type === 'ask') void answer(running, message.number, message.ask)
      else if (message.type === 'notify') native.notify(message.notification)
      else if (message.type === 'menu') native.menu(message.menu)
    })
  }
  /** Notifies pages at once that their port is dead. */
  function leave(): void {
    for (const page of pages) {
      try {
        page.postMessage('sluice:lost', null)
      } catch {
        // Already closed.
      }
    }
    pages.clear()
  }
  async function answer(target: UtilityProcess, number: number, request: HostRequest): Promise<void> {
    const done = await (request.kind === 'foreign' ? read(request.task) : native.answer(request))
    // Answers only go to the process that asked, not to its successor.
    if (child !== target) return
    post({ type: 'answer', number, ...(done.ok ? { failure: null, value: done.value } : { failure: done.error }) })
  }
  async function read(task: ForeignTask): Promise<Result<unknown>> {
    const done = await runForeign(task)
    return done.ok ? ok({ text: done.value }) : done
  }
  function giveUp(failure: Failure): void {
    isOver = true
    onFailure(failure)
  }
  function died(failure: Failure): void {
    const pause = limit.note()
    if (pause !== null) {
      again = setTimeout(start, pause)
      return
    }
    void confirmRestart(failure).then((goesOn) => {
      if (isOver) return
      if (!goesOn) return giveUp(failure)
      limit.forgive()
      start()
    })
  }

  start()
  return {
    connect({ senderFrame }) {
      if (isOver || child === undefined || !isAppFrame(senderFrame)) return
      const { port1, port2 } = new MessageChannelMain()
      post({ type: 'connect' }, [port1])
      const page = senderFrame as WebFrameMain
      pages.add(page)
      page.postMessage('sluice:port', null, [port2])
    },
    notify: (message) => post({ type: 'told', told: message }),
    async close() {
      clearTimeout(again)
      if (!isOver) {
        isOver = true
        post({ type: 'close' })
      }
      const limited = setTimeout(() => child?.kill(), CLOSE_MS)
      await gone
      clearTimeout(limited)
    },
  }
}

const diedFailure = (code: number): Failure => ({
  code: 'HOST_DIED',
  what: 'The Sluice host keeps crashing',
  why: `its process ended with code ${code}`,
  unaffected: 'What was recorded until then is kept; rules on the servers end by their own timers.',
  next: 'Restart it, or quit.',
})
