/**
 * Main's end of the host: starts its process, hands a port of it to each window, does what it asks for, closes it. A host that dies is
 * started again, with what it had written; windows ask for a new port by themselves.
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
import type { ShellTold } from '#electron/host/shell/shell.ts'
import hostProcess from '../../scripts/host-process.json' with { type: 'json' }
import { CrashLimit } from './crash-limit.ts'
import { fromHost, type HostArguments, type HostAsk, type ToHost } from './host-messages.ts'
import type { Native } from './native.ts'
import { isOurFrame } from './origin.ts'

/** A host that does not close by itself is ended after this time. */
const CLOSE_MS = 2000

/** The running host. */
export interface HostLink {
  /** Handler of the preload's request for a port; anybody but our own page's top frame gets none. */
  connect(event: Pick<IpcMainEvent, 'senderFrame'>): void
  /** Tells it what happened around it. */
  tell(told: ShellTold): void
  /** Resolves when the host's process is gone, at most two seconds later. */
  close(): Promise<void>
}

export interface HostLinkParts {
  readonly program: string
  readonly given: HostArguments
  readonly native: Native
  /** Reads files from elsewhere for it. */
  readonly runForeign: RunForeign
  /** It cannot be opened, which another start would not change; or a person gave it up. Called once. */
  readonly onFailure: (failure: Failure) => void
  /** It keeps ending: whether it is started again. */
  readonly askAgain: (failure: Failure) => Promise<boolean>
  readonly limit?: CrashLimit
}

/** Starts the host's process. */
export function startHost({
  program,
  given,
  native,
  runForeign,
  onFailure,
  askAgain,
  ...more
}: HostLinkParts): HostLink {
  const limit = more.limit ?? new CrashLimit()
  let child: UtilityProcess | undefined
  let again: NodeJS.Timeout | undefined
  let wasReady = false
  let isOver = false
  let gone: Promise<void> = Promise.resolve()
  /** Pages that have a port of the present host. */
  const pages = new Set<WebFrameMain>()
  const say = (message: ToHost, ports: Electron.MessagePortMain[] = []): void => child?.postMessage(message, ports)

  function start(): void {
    const running = utilityProcess.fork(program, [JSON.stringify(given)], {
      ...{ serviceName: 'sluice-host', stdio: 'inherit' },
      // Both keep its memory small, see docs/decisions.md.
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
        say({ type: 'told', told: { kind: 'focus', isFocused: BrowserWindow.getFocusedWindow() !== null } })
      } else if (message.type === 'failed') {
        failure = message.failure
        if (!wasReady) giveUp(failure)
      } else if (message.type === 'ask') void answer(running, message.number, message.ask)
      else if (message.type === 'notify') native.notify(message.notification)
      else if (message.type === 'menu') native.menu(message.menu)
    })
  }
  /** Pages hear at once that their port leads nowhere. */
  function leave(): void {
    for (const page of pages) {
      try {
        page.postMessage('sluice:lost', null)
      } catch {
        // It was closed meanwhile.
      }
    }
    pages.clear()
  }
  async function answer(asked: UtilityProcess, number: number, ask: HostAsk): Promise<void> {
    const done = await (ask.kind === 'foreign' ? read(ask.task) : native.answer(ask))
    // Answers are for the process that asked, not for the one after it.
    if (child !== asked) return
    say({ type: 'answer', number, ...(done.ok ? { failure: null, value: done.value } : { failure: done.error }) })
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
    void askAgain(failure).then((goesOn) => {
      if (isOver) return
      if (!goesOn) return giveUp(failure)
      limit.forgive()
      start()
    })
  }

  start()
  return {
    connect({ senderFrame }) {
      if (isOver || child === undefined || !isOurFrame(senderFrame)) return
      const { port1, port2 } = new MessageChannelMain()
      say({ type: 'connect' }, [port1])
      const page = senderFrame as WebFrameMain
      pages.add(page)
      page.postMessage('sluice:port', null, [port2])
    },
    tell: (told) => say({ type: 'told', told }),
    async close() {
      clearTimeout(again)
      if (!isOver) {
        isOver = true
        say({ type: 'close' })
      }
      const limited = setTimeout(() => child?.kill(), CLOSE_MS)
      await gone
      clearTimeout(limited)
    },
  }
}

const diedFailure = (code: number): Failure => ({
  code: 'HOST_DIED',
  what: 'The part of Sluice that measures keeps ending',
  why: `its process ended with code ${code}`,
  unaffected: 'What was recorded until then is kept; rules on the servers end by their own timers.',
  next: 'Start it again, or quit.',
})
