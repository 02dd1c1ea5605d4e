/**
 * The line to the host. In a browser a WebSocket on the page's own origin, reopened with a growing, jittered pause; in the
 * desktop shell one MessagePort that the preload hands over, and another one when the host was started again. Both carry the same
 * contract.
 */
import { createORPCClient } from '@orpc/client'
import { RPCLink as PortLink } from '@orpc/client/message-port'
import { RPCLink as SocketLink } from '@orpc/client/websocket'
import type { Host } from '../stores/client.ts'

/** Who is told about the line: stores/connection.ts. */
export interface Line {
  opened(host: Host): void
  lost(retryInMs: number | null): void
  retryNow: () => void
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
/** The program around hands over a port at once, or has none now. */
const ANSWER_MS = 3_000

/** Pause before attempt `n` (from 0): doubles up to 10 s, half of it jittered so that windows do not return in step. */
export function retryPause(n: number, random: () => number = Math.random): number {
  const base = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** n)
  return Math.round(base / 2 + (base / 2) * random())
}

function connectSocket(line: Line): void {
  const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/rpc`
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const open = (): void => {
    clearTimeout(timer)
    timer = undefined
    const socket = new WebSocket(url)
    socket.addEventListener('open', () => {
      failures = 0
      line.opened({ api: createORPCClient(new SocketLink({ websocket: socket })) })
    })
    // A refused connection and a broken one both end in `close`.
    socket.addEventListener('close', () => {
      const pause = retryPause(failures++)
      line.lost(pause)
      timer = setTimeout(open, pause)
    })
  }

  line.retryNow = () => {
    if (timer !== undefined) open()
  }
  open()
}

function connectPort(line: Line): void {
  let open: MessagePort | undefined
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  addEventListener('message', (event: MessageEvent<unknown>) => {
    const { data } = event
    const type = typeof data === 'object' && data !== null && 'type' in data ? data.type : undefined
    if (event.source !== window) return
    // Not every engine tells a port that its other end is gone; whoever waits on it hears it this way.
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
  /** While there is no host nobody answers: it is asked for again after a pause. */
  function wait(): void {
    open = undefined
    const pause = retryPause(failures++)
    line.lost(pause)
    timer = setTimeout(ask, pause)
  }
  function ask(): void {
    clearTimeout(timer)
    timer = setTimeout(wait, ANSWER_MS)
    postMessage({ type: 'sluice:connect' }, location.origin)
  }
  line.retryNow = () => {
    if (open === undefined) ask()
  }
  ask()
}

/** Opens the line and keeps it open for the life of the page. */
export function connect(line: Line): void {
  if (location.protocol === 'app:') connectPort(line)
  else connectSocket(line)
}
