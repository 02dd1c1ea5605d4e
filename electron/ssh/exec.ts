/** Runs one command on its own channel; on a timeout, too much output or a cancel it is killed on the server. */
import { constants } from 'node:os'
import type { Client, ClientChannel } from 'ssh2'
import { formatTimeout } from '#core/base/figure-text.ts'
import { fail, ok } from '#core/base/result.ts'
import type { ExecResult } from '../base/connection.ts'
import { commandBytes } from './command-text.ts'
import type { SshFailure, SshResult } from './failures.ts'

/** Time between SIGTERM and SIGKILL. */
const KILL_MS = 250

export interface CommandBounds {
  readonly timeoutMs: number
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly signal?: AbortSignal | undefined
}

/** Chunks of one stream, up to a bound. */
export class Output {
  readonly #most: number
  readonly #chunks: Buffer[] = []
  #length = 0

  constructor(most: number) {
    this.#most = most
  }

  /** @returns false once the bound is exceeded. */
  push(chunk: Buffer): boolean {
    this.#length += chunk.length
    if (this.#length > this.#most) return false
    this.#chunks.push(chunk)
    return true
  }

  /** Output as byte text. */
  text(): string {
    return this.#chunks.length === 1
      ? (this.#chunks[0] as Buffer).toString('latin1')
      : Buffer.concat(this.#chunks).toString('latin1')
  }
}

export const timedOut = (ms: number): SshFailure => ({
  code: 'SSH_COMMAND_TIMEOUT',
  what: 'The command did not end in time',
  why: `it exceeded ${formatTimeout(ms)} and was killed`,
  next: 'Its effect is unknown: read the state again.',
})

export const tooMuch = (stream: string, bytes: number): SshFailure => ({
  code: 'SSH_OUTPUT',
  what: 'The command wrote too much and was killed',
  why: `more than ${bytes} bytes on ${stream}`,
})

export const cancelled = (): SshFailure => ({ code: 'SSH_CANCELLED', what: 'The command was canceled' })

export const lostMidway = (why: string): SshFailure => ({
  code: 'SSH_COMMAND_LOST',
  what: 'The outcome of the command is unknown',
  why,
  next: 'Read the state again.',
})

/**
 * Kills the processes of a channel, then closes it. Signals reach the process group of the session (OpenSSH 7.9 and
 * newer), but not that of root or of a forced command, which ends when it next writes.
 */
export function killChannel(channel: ClientChannel, closeMs = KILL_MS): void {
  try {
    channel.signal('TERM')
  } catch {
    // Already closed.
  }
  setTimeout(() => {
    try {
      channel.signal('KILL')
      channel.close()
    } catch {
      // Already closed.
    }
  }, closeMs).unref()
}

function signalCode(name: string): number {
  const numbers: Readonly<Record<string, number>> = constants.signals
  return 128 + (Object.hasOwn(numbers, name) ? (numbers[name] ?? 0) : 0)
}

/** Opens a channel that runs `bytes`; ssh2 passes a Buffer on unchanged, which its types do not declare. */
export function openExec(
  client: Client,
  bytes: Buffer,
  cb: (e: Error | undefined, channel?: ClientChannel) => void,
): void {
  try {
    client.exec(bytes as unknown as string, cb)
  } catch (e) {
    cb(e instanceof Error ? e : new Error(String(e)))
  }
}

export function execCommand(client: Client, command: string, bounds: CommandBounds): Promise<SshResult<ExecResult>> {
  const bytes = commandBytes(command)
  if (!bytes.ok) return Promise.resolve(bytes)
  if (bounds.signal?.aborted) return Promise.resolve(fail(cancelled()))
  return new Promise((resolve) => {
    let channel: ClientChannel | undefined
    let isOver = false
    const end = (result: SshResult<ExecResult>): void => {
      if (isOver) return
      isOver = true
      clearTimeout(late)
      bounds.signal?.removeEventListener('abort', abort)
      client.off('close', lost)
      resolve(result)
    }
    const giveUp = (why: SshFailure): void => {
      if (isOver) return
      end(fail(why))
      if (channel) killChannel(channel)
    }
    const abort = (): void => giveUp(cancelled())
    const lost = (): void => end(fail(lostMidway('the connection was lost')))
    const late = setTimeout(() => giveUp(timedOut(bounds.timeoutMs)), bounds.timeoutMs)
    bounds.signal?.addEventListener('abort', abort)
    client.once('close', lost)
    openExec(client, bytes.value, (err, opened) => {
      if (err || !opened) {
        return end(fail({ code: 'SSH_NOT_CONNECTED', what: 'The server did not start the command', why: err?.message }))
      }
      channel = opened
      opened.on('error', () => undefined)
      if (isOver) return killChannel(opened)
      collect(opened, bounds, giveUp, end)
      opened.end()
    })
  })
}

function collect(
  channel: ClientChannel,
  bounds: CommandBounds,
  giveUp: (why: SshFailure) => void,
  end: (result: SshResult<ExecResult>) => void,
): void {
  const stdout = new Output(bounds.stdoutBytes)
  const stderr = new Output(bounds.stderrBytes)
  let code: number | undefined
  channel.on('data', (chunk: Buffer) => {
    if (!stdout.push(chunk)) giveUp(tooMuch('stdout', bounds.stdoutBytes))
  })
  channel.stderr.on('data', (chunk: Buffer) => {
    if (!stderr.push(chunk)) giveUp(tooMuch('stderr', bounds.stderrBytes))
  })
  channel.on('exit', (status: number | null, signal?: string) => (code = status ?? signalCode(signal ?? '')))
  channel.on('close', () => {
    if (code === undefined) end(fail(lostMidway('the channel was closed without an exit code')))
    else end(ok({ stdout: stdout.text(), stderr: stderr.text(), code }))
  })
}
