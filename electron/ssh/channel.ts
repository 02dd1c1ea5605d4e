/**
 * One long-lived `sh` on a server that runs commands one after another: no fork of sshd, no login files and no round
 * trip for a new channel per command.
 *
 * A command that does not end in time, writes too much or breaks the frame takes the channel down with it, and nothing
 * else: the caller opens another one.
 */
import { randomBytes } from 'node:crypto'
import type { Client, ClientChannel } from 'ssh2'
import { formatTimeout } from '#core/base/figure-text.ts'
import { fail, ok } from '#core/base/result.ts'
import type { ExecResult } from '../base/connection.ts'
import { commandBytes } from './command-text.ts'
import {
  cancelled,
  execCommand,
  killChannel,
  lostMidway,
  openExec,
  timedOut,
  tooMuch,
  type CommandBounds,
} from './exec.ts'
import { plainLine, type SshFailure, type SshResult } from './failures.ts'
import { frameOf, FrameStream } from './frame.ts'

/** Limit of output of login files and left-over processes. */
const NOISE_BYTES = 256 << 10

/** `exec`, so that a signal to the session's group finds no shell in between, and a csh as login shell does no harm. */
const START = Buffer.from('exec sh')

/** Every shell that the frames can rely on answers exactly PROBE_ANSWER. */
const PROBE = "printf 'a b\\n'; printf err >&2; X=1; cd /; exit 7"
/** Longest life of the other channel that sends signals to the shell of a killed command. */
const KILL_MS = 5000
/** Longest wait for a begin mark in that case. */
const MARK_MS = 5000

const PROBE_ANSWER: ExecResult = { stdout: 'a b\n', stderr: 'err', code: 7 }

interface Running {
  readonly stdout: FrameStream
  readonly stderr: FrameStream
  readonly bounds: CommandBounds
  readonly end: (result: SshResult<ExecResult>) => void
}

export class FramedChannel {
  readonly #client: Client
  readonly #channel: ClientChannel
  #pid: number | undefined
  /** Stream of a command that was given up before its begin mark had arrived. */
  #dying: FrameStream | undefined
  #running: Running | undefined
  #isOpen = true
  /** Resolves when the server has released the channel: until then it counts among its channels. */
  readonly closed: Promise<void>
  /** Output of login files before the first command, bytes. */
  noise = 0

  private constructor(client: Client, channel: ClientChannel) {
    this.#client = client
    this.#channel = channel
    channel.on('error', () => undefined)
    channel.on('data', (chunk: Buffer) => this.#push('stdout', chunk))
    channel.stderr.on('data', (chunk: Buffer) => this.#push('stderr', chunk))
    this.closed = new Promise((resolve) => channel.on('close', () => resolve()))
    channel.on('close', () => this.#closed('the shell ended'))
    channel.on('exit', () => (this.#isOpen = false))
  }

  /** Starts the shell without checking it. */
  static async start(client: Client, shellMs: number): Promise<SshResult<FramedChannel>> {
    const opened = await openShell(client, shellMs)
    return opened.ok ? ok(new FramedChannel(client, opened.value)) : opened
  }

  /**
   * Starts the shell and verifies it with a command of known output.
   *
   * @returns failure if it cannot be used and commands have to go one by one: no shell, or another kind of shell;
   *          SSH_COMMAND_TIMEOUT if it did not answer in time, which may succeed later.
   */
  static async open(client: Client, shellMs: number): Promise<SshResult<FramedChannel>> {
    const began = performance.now()
    const started = await FramedChannel.start(client, shellMs)
    if (!started.ok) return started
    const channel = started.value
    const timeoutMs = Math.max(1, shellMs - (performance.now() - began))
    const answer = await channel.run(PROBE, { timeoutMs, stdoutBytes: 1024, stderrBytes: 1024 })
    const isRight =
      answer.ok && (['stdout', 'stderr', 'code'] as const).every((k) => answer.value[k] === PROBE_ANSWER[k])
    if (isRight && channel.isOpen) return started
    channel.close()
    if (answer.ok) return unfit('sh does not answer as a POSIX shell does')
    const { code, why, what } = answer.error
    return code === 'SSH_COMMAND_TIMEOUT'
      ? slow(`its shell did not answer within ${formatTimeout(shellMs)}`)
      : unfit(why ?? what)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get isBusy(): boolean {
    return this.#running !== undefined
  }

  /** Runs one command; the previous one must have ended. */
  run(command: string, bounds: CommandBounds): Promise<SshResult<ExecResult>> {
    const bytes = commandBytes(command)
    if (!bytes.ok) return Promise.resolve(bytes)
    if (bounds.signal?.aborted) return Promise.resolve(fail(cancelled()))
    if (!this.#isOpen || this.#running) return Promise.resolve(fail(lostMidway('the shell is not free')))
    const frame = frameOf(command, randomBytes(16).toString('hex'))
    return new Promise((resolve) => {
      const late = setTimeout(() => this.#fail(timedOut(bounds.timeoutMs)), bounds.timeoutMs)
      const abort = (): void => this.#fail(cancelled())
      bounds.signal?.addEventListener('abort', abort)
      this.#running = {
        stdout: new FrameStream(frame, bounds.stdoutBytes, NOISE_BYTES),
        stderr: new FrameStream(frame, bounds.stderrBytes, NOISE_BYTES),
        bounds,
        end: (result) => {
          clearTimeout(late)
          bounds.signal?.removeEventListener('abort', abort)
          this.#running = undefined
          resolve(result)
        },
      }
      this.#channel.write(frame.line)
    })
  }

  /** Closes the channel. An idle shell ends with its input; a busy one is killed with its command. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    if (this.#running) this.#kill()
    else this.#channel.end()
  }

  /** The group is known from the begin mark; if that has not arrived yet, it is awaited. */
  #kill(): void {
    const running = this.#running
    const pid = running?.stdout.pid ?? this.#pid
    killChannel(this.#channel, pid === undefined ? MARK_MS : undefined)
    if (pid === undefined) this.#dying = running?.stdout
    else this.#killGroup(pid)
  }

  #killGroup(pid: number): void {
    const group = `-- -${pid}`
    const command = `kill -s TERM ${group}; sleep 0.2 || sleep 1; kill -s KILL ${group}`
    void execCommand(this.#client, command, { timeoutMs: KILL_MS, stdoutBytes: 1024, stderrBytes: 1024 })
  }

  #push(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    const running = this.#running
    if (!running) {
      const dying = stream === 'stdout' ? this.#dying : undefined
      dying?.push(chunk)
      if (dying?.pid !== undefined) {
        this.#dying = undefined
        this.#killGroup(dying.pid)
      }
      // Left-over processes: the next begin mark shows where to continue.
      return
    }
    const state = running[stream].push(chunk)
    if (state === 'much') {
      const most = stream === 'stdout' ? running.bounds.stdoutBytes : running.bounds.stderrBytes
      return this.#fail(tooMuch(stream, most))
    }
    if (state === 'noise') return this.#fail(lostMidway(`${plainLine(stream)} has endless unexpected output`))
    if (state === 'broken') return this.#fail(lostMidway('the end of its output was not recognized'))
    const { stdout, stderr } = running
    this.#pid = stdout.pid ?? this.#pid
    if (!stdout.isDone || !stderr.isDone) return
    this.noise += stdout.noise + stderr.noise
    running.end(ok({ stdout: stdout.text(), stderr: stderr.text(), code: stdout.code ?? 255 }))
  }

  #fail(why: SshFailure): void {
    const running = this.#running
    this.close()
    running?.end(fail(why))
  }

  #closed(why: string): void {
    this.#isOpen = false
    this.#running?.end(fail(lostMidway(why)))
  }
}

function openShell(client: Client, shellMs: number): Promise<SshResult<ClientChannel>> {
  return new Promise((resolve) => {
    let isLate = false
    const late = setTimeout(() => {
      isLate = true
      resolve(slow(`no channel was opened within ${formatTimeout(shellMs)}`))
    }, shellMs)
    openExec(client, START, (err, channel) => {
      clearTimeout(late)
      if (isLate) {
        if (channel) killChannel(channel)
      } else resolve(channel ? ok(channel) : unfit(plainLine(err?.message ?? 'no channel')))
    })
  })
}

const WHAT = 'There is no shell for a command channel'
const unfit = (why: string): SshResult<never> => fail({ code: 'SSH_COMMAND_LOST', what: WHAT, why })
const slow = (why: string): SshResult<never> => fail({ code: 'SSH_COMMAND_TIMEOUT', what: WHAT, why })
