/** Scripted local controller on a real socket, and programs to run under a stage. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChannelCounts, Lease, LocalToStage, StageIdentity } from '#core/padll/control/messages.ts'
import type { HousekeepingRule } from '#core/padll/rules/housekeeping.ts'
import { localToStage, stageToLocal } from '#core/padll/wire/stage-wire.ts'
import type { OperationContext, OperationType } from '#core/padll/vocabulary.ts'
import { stageEnvironment, type StageSettings } from '#electron/padll/stage-environment.ts'
import { stageLibrary } from '#electron/padll/stage-library.ts'
import { WireSocket } from '#electron/padll/wire-socket.ts'

/** The library, or the reason why it is missing; a missing compiler is a failure where all parts are required. */
export const library = await stageLibrary()
export const noStage = library.ok ? '' : library.error.what
if (noStage !== '' && process.env.CI === 'true') throw new Error(noStage)
if (noStage !== '') process.stderr.write(`skipped, no stage: ${noStage}\n`)

const folders: string[] = []
process.on('exit', () => folders.forEach((f) => rmSync(f, { recursive: true, force: true })))

/** Folder with a short name: socket paths are short, and the linker accepts no spaces. */
export function shortFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-stage-'))
  folders.push(folder)
  return folder
}

/** The program of trial.c, compiled once. */
export function trialProgram(): string {
  const file = join(shortFolder(), 'trial')
  const source = join(import.meta.dirname, 'trial.c')
  if (library.ok) execFileSync('cc', ['-O1', '-pthread', '-o', file, source])
  return file
}

/** One channel of one scope with one bucket, refilled every 10 ms. */
export function limit(
  type: OperationType,
  context: OperationContext,
  rate: number,
  channel = 1000,
): HousekeepingRule[] {
  const contextType = type === 'no_op' ? 'posix_meta' : 'posix'
  return [
    { kind: 'create_channel', rule: 1, channel, contextType, workflow: 0, type, context },
    {
      kind: 'create_object',
      rule: 2,
      channel,
      object: 1,
      contextType,
      type: 'no_op',
      context: 'no_op',
      bucket: { refillUs: 10_000, rate },
    },
  ]
}

export interface Script {
  readonly rules: readonly HousekeepingRule[]
  readonly lease?: Lease
  /** Overrides the handling of a connection. */
  readonly instead?: (socket: Socket) => void
}

const HOLD: Lease = { ns: 60e9, onExpiry: 'hold' }

export interface Seen {
  readonly identity: StageIdentity
  readonly counts: ChannelCounts[][]
  readonly failed: string[]
  readonly send: (message: LocalToStage) => void
  ended: boolean
}

export class ScriptedController {
  readonly path: string
  readonly stages: Seen[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #request = 1

  constructor(script: Script, path = join(shortFolder(), 'c.sock')) {
    this.path = path
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined)
      if (script.instead) script.instead(socket)
      else this.#welcome(socket, script)
    })
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(this.path, resolve))
    return this
  }

  /** Closes all connections, as if it had died. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #welcome(socket: Socket, { rules, lease = HOLD }: Script): void {
    let seen: Seen | undefined
    const wire = new WireSocket(socket, stageToLocal, localToStage, {
      onMessage: (m) => {
        if (m.kind === 'hello') {
          const send = (message: LocalToStage): void => void wire.send(message)
          this.stages.push((seen = { identity: m.identity, counts: [], failed: [], send, ended: false }))
          for (const rule of rules) wire.send({ kind: 'housekeeping', request: this.#request++, rule })
          wire.send({ kind: 'ready', request: this.#request++, lease })
        }
        if (m.kind === 'ack' && m.failed !== undefined) seen?.failed.push(m.failed)
        if (m.kind === 'counts') seen?.counts.push([...m.channels])
      },
      onEnd: () => {
        if (seen) seen.ended = true
      },
    })
  }

  get nextRequest(): number {
    return this.#request++
  }
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface CallTally {
  readonly calls: number
  readonly unmanaged: number
  readonly bypassed: number
  readonly waited: number
  readonly bytes: number
  readonly errors: number
}

/** Report of one process. */
interface StageReport {
  readonly calls: Record<string, CallTally>
  readonly ioUring: { readonly refused: boolean; readonly rings: number }
}

/** Program under the stage. `report`: counters of its processes, added up. */
export class Staged {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  readonly #report: string

  constructor(command: string, args: readonly string[], settings: Omit<StageSettings, 'library'>) {
    this.#report = shortFolder()
    const env = stageEnvironment({ ...settings, library: library.ok ? library.value : '', report: this.#report }, '')
    if (!env.ok) throw new Error(env.error.what)
    this.child = spawn(command, args, { env: { ...process.env, ...env.value }, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    this.child.stdout?.setEncoding('utf8').on('data', (t: string) => (stdout += t))
    this.child.stderr?.setEncoding('utf8').on('data', (t: string) => (stderr += t))
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
    })
  }

  #reports(): StageReport[] {
    const files = readdirSync(this.#report).map((name) => join(this.#report, name))
    return files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as StageReport)
  }

  /** Use of io_uring, by process. */
  ioUring(): StageReport['ioUring'][] {
    return this.#reports().map(({ ioUring }) => ioUring)
  }

  report(): Record<string, CallTally> {
    const sum: Record<string, CallTally> = {}
    for (const { calls } of this.#reports()) {
      for (const [call, t] of Object.entries(calls)) {
        const s = sum[call]
        sum[call] = {
          calls: t.calls + (s?.calls ?? 0),
          unmanaged: t.unmanaged + (s?.unmanaged ?? 0),
          bypassed: t.bypassed + (s?.bypassed ?? 0),
          waited: t.waited + (s?.waited ?? 0),
          bytes: t.bytes + (s?.bytes ?? 0),
          errors: t.errors + (s?.errors ?? 0),
        }
      }
    }
    return sum
  }
}

/**
 * Parses the output of the trial program: operations, seconds, and the highest rate of half a second. A thread that waits for a
 * CPU longer than a refill loses that refill: a limit is never exceeded (`rate`), and is reached if the machine allows it
 * (`best`).
 */
export function rateOf({ stdout }: Ended): { count: number; seconds: number; rate: number; best: number } {
  const [count = NaN, seconds = NaN, best = NaN] = stdout.trim().split(' ').map(Number)
  return { count, seconds, rate: count / seconds, best }
}
