/**
 * Connection to the host. In a browser, a WebSocket on the page's own origin, opened with the key of the tab and
 * reopened after a growing, jittered pause; in the desktop shell, a MessagePort handed over by the preload, and a new
 * one after the host was restarted. Both carry the same contract.
 */
import { createORPCClient } from '@orpc/client'
import { RPCLink as PortLink } from '@orpc/client/message-port'
import { RPCLink as SocketLink } from '@orpc/client/websocket'
import { offeredProtocols, SESSION_PATH } from '#core/api/browser-session.ts'
import type { Host } from '../stores/client.ts'
import { givenKey, TabKey } from './tab-key.ts'

/** Listener for the state of the connection: stores/connection.ts. */
export interface Line {
  opened(host: Host): void
  lost(retryInMs: number | null): void
  /** The console does not accept the key of this tab: open a new address. */
  refused(): void
  retryNow: () => void
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
/** Timeout for a port from the desktop shell, ms. */
const ANSWER_MS = 3_000

/** Pause before attempt `n` (from 0): doubles up to 10 s, half of it jittered so that windows do not return in step. */
export function retryPause(n: number, random: () => number = Math.random): number {
  const base = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** n)
  return Math.round(base / 2 + (base / 2) * random())
}

/** True if the console responds and rejects the key; a console that does not respond may still accept it. */
async function isRefused(key: string): Promise<boolean> {
  try {
    const { status } = await fetch(SESSION_PATH, { headers: { authorization: `Bearer ${key}` }, cache: 'no-store' })
    return status === 401
  } catch {
    return false
  }
}

function connectSocket(line: Line): void {
  const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/rpc`
  const tab = new TabKey(givenKey)
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  async function open(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const key = await tab.request()
    if (key === undefined) {
      line.refused()
      void tab.arrival().then(open)
      return
    }
    const socket = new WebSocket(url, offeredProtocols(key))
    let wasOpen = false
    socket.addEventListener('open', () => {
      failures = 0
      wasOpen = true
      tab.share()
      line.opened({ api: createORPCClient(new SocketLink({ websocket: socket })) })
    })
    // A refused connection and a broken one both end in `close`.
    socket.addEventListener('close', () => {
      const pause = retryPause(failures++)
      line.lost(pause)
      timer = setTimeout(() => void open(), pause)
      if (!wasOpen) void forgetIfRefused(key)
    })
  }
  /** A tab without a valid key asks other tabs at once: one of them may have opened a new address. */
  async function forgetIfRefused(key: string): Promise<void> {
    if (!(await isRefused(key)) || tab.current !== key) return
    tab.forget()
    if (timer !== undefined) await open()
  }

  line.retryNow = () => {
    if (timer !== undefined) void open()
  }
  void open()
}

function connectPort(line: Line): void {
  let open: MessagePort | undefined
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  addEventListener('message', (event: MessageEvent<unknown>) => {
    const { data } = event
    const type = typeof data === 'object' && data !== null && 'type' in data ? data.type : undefined
    if (event.source !== window) return
    // Not every engine reports the closed end of a port; the preload then posts this message.
    if (type === 'sluice:lost') open?.dispatchEvent(new Event('close'))
    const port = event.ports[0]
    if (type !== 'sluice:port' || port === undefined) return
    clearTimeout(timer)
    timer = undefined
    failures = 0
    const before = open
    open = port
    before?.close()
    port.addEventListener('close', () => {
      if (open === port) wait()
    })
    port.start()
    line.opened({ api: createORPCClient(new PortLink({ port })) })
  })
  /** No port while there is no host: requests one again after a pause. */
  function wait(): void {
    open = undefined
    const pause = retryPause(failures++)
    line.lost(pause)
    timer = setTimeout(requestPort, pause)
  }
  function requestPort(): void {
    clearTimeout(timer)
    timer = setTimeout(wait, ANSWER_MS)
    postMessage({ type: 'sluice:connect' }, location.origin)
  }
  line.retryNow = () => {
    if (open === undefined) requestPort()
  }
  requestPort()
}

/** Opens the connection and keeps it open for the life of the page. */
export function connect(line: Line): void {
  if (location.protocol === 'app:') connectPort(line)
  else connectSocket(line)
}
