/**
 * Runs the commands of one connection: in the framed channel one after another, or each on a channel of its own if the
 * server has no suitable shell. A broken channel is replaced; one that breaks repeatedly is given up. One that was only
 * too slow to start is retried beside the commands, with more time: each command with a login of its own costs the
 * server a login.
 */
import type { Client } from 'ssh2'
import { fail } from '#core/base/result.ts'
import type { ExecResult } from '../base/connection.ts'
import { FramedChannel } from './channel.ts'
import { cancelled, execCommand, type CommandBounds } from './exec.ts'
import type { SshResult } from './failures.ts'
import type { SshLimits } from './limits.ts'
import type { Connected } from './state.ts'
import { ShellStream } from './shell-stream.ts'

/** Consecutive failed starts of the shell. */
const STARTS_MOST = 3
/** Pause between two attempts to open a channel that sshd refuses because it has not yet released a closed one. */
const REFUSED_MS = 25
/** Longest wait for a process that does not end. */
const FREE_MS = 2000

export interface CommandOptions {
  /** Counted from its start; time in the queue does not count. */
  readonly timeoutMs?: number | undefined
  readonly stdoutBytes?: number | undefined
  readonly stderrBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export class Commands {
  readonly #client: Client
  readonly #limits: SshLimits
  #channel: FramedChannel | undefined
  #why = 'the shell was not tried yet'
  #failedStarts = 0
  #slowStarts = 0
  #later: NodeJS.Timeout | undefined
  #isStopped = false
  #waiting = 0
  #tail: Promise<unknown> = Promise.resolve()
  #running = 0
  readonly #queue: (() => void)[] = []

  constructor(client: Client, limits: SshLimits) {
    this.#client = client
    this.#limits = limits
  }

  get mode(): Connected['commands'] {
    return this.#channel ? { mode: 'channel' } : { mode: 'exec', why: this.#why }
  }

  /** Starts the shell of the channel; without one, commands run all the same. */
  async start(): Promise<void> {
    this.#channel = undefined
    await this.#open(this.#limits.shellMs)
  }

  async #open(shellMs: number): Promise<void> {
    const opened = await FramedChannel.open(this.#client, shellMs)
    if (opened.ok) {
      if (this.#isStopped || this.#channel?.isOpen) return opened.value.close()
      this.#channel = opened.value
      this.#failedStarts = 0
      this.#slowStarts = 0
      return
    }
    this.#failedStarts++
    this.#why = opened.error.why ?? opened.error.what
    if (opened.error.code === 'SSH_COMMAND_TIMEOUT') this.#openLater()
  }

  /** Commands run one by one meanwhile. */
  #openLater(): void {
    if (this.#isStopped || this.#later) return
    const { baseMs, mostMs } = this.#limits.shellAgain
    const pauseMs = Math.min(mostMs, baseMs * 2 ** Math.min(this.#slowStarts++, 30))
    this.#later = setTimeout(() => {
      this.#later = undefined
      void this.#open(this.#limits.commandMs)
    }, pauseMs).unref()
  }

  #bounds(o: CommandOptions): CommandBounds {
    return {
      timeoutMs: o.timeoutMs ?? this.#limits.commandMs,
      stdoutBytes: o.stdoutBytes ?? this.#limits.stdoutBytes,
      stderrBytes: o.stderrBytes ?? this.#limits.stderrBytes,
      signal: o.signal,
    }
  }

  /** Runs a command in queue order, in the channel if there is one. */
  async run(command: string, options: CommandOptions = {}): Promise<SshResult<ExecResult>> {
    if (!this.#channel && this.#failedStarts > 0) return this.exec(command, options)
    if (this.#waiting >= this.#limits.waiting) return busy(this.#limits.waiting)
    this.#waiting++
    const result = this.#tail.then(async () => {
      this.#waiting--
      if (options.signal?.aborted) return fail(cancelled())
      if (!this.#channel?.isOpen && this.#failedStarts < STARTS_MOST) await this.start()
      return this.#channel ? this.#channel.run(command, this.#bounds(options)) : this.exec(command, options)
    })
    this.#tail = result.catch(() => undefined)
    return result
  }

  /** Runs a command on a channel of its own, concurrently. */
  async exec(command: string, options: CommandOptions = {}): Promise<SshResult<ExecResult>> {
    const most = this.#limits.channels - 1
    if (this.#running >= most) {
      if (this.#queue.length >= this.#limits.waiting) return busy(this.#limits.waiting)
      await new Promise<void>((resolve) => this.#queue.push(resolve))
    } else this.#running++
    const { result, isFree } = await this.#alone(command, this.#bounds(options))
    // sshd counts a channel until its process has ended, which the answer does not wait for.
    void Promise.race([isFree, new Promise((late) => setTimeout(late, FREE_MS).unref())]).then(() => this.#free())
    return result
  }

  /** Passes a channel to the next command that waits for one. */
  #free(): void {
    const next = this.#queue.shift()
    if (next) next()
    else this.#running--
  }

  /** Runs in a shell of its own if the server has one, so that it can be killed; else in the login shell. */
  async #alone(
    command: string,
    bounds: CommandBounds,
  ): Promise<{ result: SshResult<ExecResult>; isFree?: Promise<void> }> {
    if (!this.#channel) return { result: await execCommand(this.#client, command, bounds) }
    const began = performance.now()
    const mostMs = Math.min(this.#limits.shellMs, bounds.timeoutMs)
    const remainingMs = (): number => began + mostMs - performance.now()
    let shell = await FramedChannel.start(this.#client, mostMs)
    // Nothing was sent: sshd counts a closed channel until it has processed everything that arrived together with its
    // end.
    while (
      !shell.ok &&
      shell.error.code === 'SSH_COMMAND_LOST' &&
      this.#channel?.isOpen &&
      remainingMs() > REFUSED_MS
    ) {
      await new Promise((again) => setTimeout(again, REFUSED_MS))
      if (bounds.signal?.aborted) return { result: fail(cancelled()) }
      shell = await FramedChannel.start(this.#client, Math.max(1, remainingMs()))
    }
    if (!shell.ok) return { result: shell }
    const timeoutMs = Math.max(1, bounds.timeoutMs - (performance.now() - began))
    const result = await shell.value.run(command, { ...bounds, timeoutMs })
    shell.value.close()
    return { result, isFree: shell.value.closed }
  }

  /** Starts a program that stays, on a channel of its own; it counts among the channels until it ends. */
  async stream(text: string): Promise<SshResult<ShellStream>> {
    if (this.#running >= this.#limits.channels - 1) return busy(this.#queue.length)
    this.#running++
    const opened = await ShellStream.open(this.#client, text, this.#limits.shellMs)
    if (opened.ok) void opened.value.closed.then(() => this.#free())
    else this.#free()
    return opened
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#later)
    this.#channel?.close()
  }
}

const busy = (waiting: number): SshResult<never> =>
  fail({ code: 'SSH_BUSY', what: 'The command was not sent', why: `${waiting} others are queued` })
