/**
 * Program on a channel of its own that stays for a session and exchanges lines with the console.
 *
 * Its text goes to the standard input of a POSIX sh, which is replaced by the program (`exec`). What follows the text must wait
 * until the program has printed something: a shell may read ahead.
 */
import type { Client, ClientChannel } from 'ssh2'
import { formatTimeout } from '#core/base/figure-text.ts'
import { fail, ok } from '#core/base/result.ts'
import { commandBytes } from './command-text.ts'
import { killChannel, openExec } from './exec.ts'
import { plainLine, type SshResult } from './failures.ts'

/** `exec`, so that no login shell stays in between, and a csh as login shell does no harm. */
const START = Buffer.from('exec sh')
/** Kept part of stderr, characters: the reason of an end. */
const STDERR_MOST = 2000
/** Longest wait for the end after the input was closed. */
const END_MS = 2000

export class ShellStream {
  readonly #channel: ClientChannel
  #stderr = ''
  #code: number | undefined
  #isOpen = true
  #onData: (chunk: string) => void = () => undefined
  /** Resolves with the reason when the program has ended. */
  readonly closed: Promise<string>

  private constructor(channel: ClientChannel) {
    this.#channel = channel
    channel.on('error', () => undefined)
    channel.on('data', (chunk: Buffer) => this.#onData(chunk.toString('latin1')))
    channel.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('latin1')).slice(-STDERR_MOST)
    })
    channel.on('exit', (code: number | null) => (this.#code = code ?? undefined))
    this.closed = new Promise((resolve) =>
      channel.on('close', () => {
        this.#isOpen = false
        resolve(this.#why())
      }),
    )
  }

  /** @param text  program for sh, which ends with the `exec` of what stays. */
  static open(client: Client, text: string, openMs: number): Promise<SshResult<ShellStream>> {
    const bytes = commandBytes(text)
    if (!bytes.ok) return Promise.resolve(bytes)
    return new Promise((resolve) => {
      let isLate = false
      const late = setTimeout(() => {
        isLate = true
        resolve(notStarted(`no channel was opened within ${formatTimeout(openMs)}`))
      }, openMs)
      openExec(client, START, (err, channel) => {
        clearTimeout(late)
        if (isLate) {
          if (channel) killChannel(channel)
        } else if (!channel) resolve(notStarted(plainLine(err?.message ?? 'no channel')))
        else {
          const stream = new ShellStream(channel)
          channel.write(bytes.value)
          resolve(ok(stream))
        }
      })
    })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Receives the output, as byte text. */
  onData(listener: (chunk: string) => void): void {
    this.#onData = listener
  }

  write(line: string): void {
    if (this.#isOpen) this.#channel.write(Buffer.from(line, 'latin1'))
  }

  /** Closes its input, with which the program ends; kills it if it does not. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#onData = () => undefined
    this.#channel.end()
    const late = setTimeout(() => killChannel(this.#channel), END_MS)
    late.unref()
    void this.closed.then(() => clearTimeout(late))
  }

  #why(): string {
    const message = plainLine(this.#stderr.trim().split('\n').at(-1) ?? '')
    if (message !== '') return message
    return this.#code === undefined ? 'the channel was closed' : `it exited with ${this.#code}`
  }
}

const notStarted = (why: string): SshResult<never> =>
  fail({ code: 'SSH_NOT_CONNECTED', what: 'The server did not start the program', why })
