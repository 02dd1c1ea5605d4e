/** Byte stream to a server: TCP from here, or a channel through a server that is already connected. */
import { formatTimeout } from '#core/base/figure-text.ts'
import { connect, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Client } from 'ssh2'
import { fail, ok } from '#core/base/result.ts'
import { plainLine, type SshCode, type SshResult } from './failures.ts'
import type { Step } from './state.ts'

const failed = (code: SshCode, what: string, why: string): SshResult<never> => fail({ code, what, why })

const late = (ms: number): string => `no answer for ${formatTimeout(ms)}`

/** @param signal  aborts immediately. */
export function reachByTcp(
  host: string,
  port: number,
  timeoutMs: number,
  onStep: (step: Step) => void,
  signal: AbortSignal,
): Promise<SshResult<Socket>> {
  onStep(isIP(host) === 0 ? 'dns' : 'tcp')
  return new Promise((resolve) => {
    let isFound = isIP(host) !== 0
    const socket = connect({ host, port, noDelay: true })
    const end = (result: SshResult<Socket>): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      socket.off('error', refuse)
      if (!result.ok) {
        // No listener is left for later errors.
        socket.on('error', () => undefined)
        socket.destroy()
      }
      resolve(result)
    }
    const refuse = (e: Error): void =>
      end(
        isFound
          ? failed('SSH_TCP', `${host}:${port} cannot be reached`, plainLine(e.message))
          : failed('SSH_DNS', `The name ${host} cannot be resolved`, plainLine(e.message)),
      )
    const abort = (): void => end(failed('SSH_CANCELLED', `Connecting to ${host} was canceled`, 'it was stopped'))
    const timer = setTimeout(
      () => end(failed('SSH_TIMEOUT', `${host}:${port} cannot be reached`, late(timeoutMs))),
      timeoutMs,
    )
    signal.addEventListener('abort', abort)
    socket.on('lookup', (err: Error | null) => {
      if (err || isFound) return
      isFound = true
      onStep('tcp')
    })
    socket.once('error', refuse)
    socket.once('connect', () => end(ok(socket)))
    if (signal.aborted) abort()
  })
}

/** Opens a direct-tcpip channel, the only kind of forwarding used here. */
export function reachThrough(
  jump: Client,
  jumpName: string,
  host: string,
  port: number,
  timeoutMs: number,
): Promise<SshResult<Duplex>> {
  return new Promise((resolve) => {
    let isLate = false
    const what = `${host}:${port} cannot be reached through ${jumpName}`
    const timer = setTimeout(() => {
      isLate = true
      resolve(failed('SSH_TIMEOUT', what, late(timeoutMs)))
    }, timeoutMs)
    const end = (result: SshResult<Duplex>): void => {
      clearTimeout(timer)
      resolve(result)
    }
    try {
      jump.forwardOut('127.0.0.1', 0, host, port, (err, channel) => {
        if (isLate) channel?.destroy()
        else end(channel && !err ? ok(channel) : failed('SSH_JUMP', what, plainLine(err?.message ?? '')))
      })
    } catch (e) {
      end(failed('SSH_JUMP', what, e instanceof Error ? plainLine(e.message) : ''))
    }
  })
}
