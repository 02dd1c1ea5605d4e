/**
 * Runs the `sluice` command inside the test's process: starting a process takes most of a second, and few tests need one.
 *
 *     const ended = await runSluice(['audit', 'verify'], { SLUICE_DATA: folder })
 *     const run = startSluice(['control', 'demo'])
 *     … run.said() … run.signal('SIGTERM') … await run.ended
 *
 * Every run has its own standard streams, environment, exit code and signal handlers, so that several can run in parallel and none
 * affects the next one. They share what threads share: the process id and the working folder.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { runProgram } from '#electron/cli/program.ts'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunningHere {
  readonly ended: Promise<Ended>
  /** Standard output so far. */
  said(): string
  /** Writes to standard input, if the run was started with `input: 'open'`. */
  type(text: string): void
  /** Closes standard input. */
  close(): void
  /** Sends a signal like `kill -SIGNAL`, if the command handles it. */
  signal(name: NodeJS.Signals): void
}

export interface HereOptions {
  /** Added to the environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Standard input; 'open': written by `type`. Empty by default. */
  readonly input?: { readonly text: string } | 'open'
  /** Set if standard output is a terminal. */
  readonly isTerminal?: boolean
  /** Called with every write to standard output. */
  readonly onSaid?: (text: string) => void
}

class Exit extends Error {
  readonly code: number
  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

/** Stream that accepts and stores everything at once. */
class Kept extends Writable {
  readonly isTTY: boolean
  readonly #chunks: Buffer[] = []
  readonly #onSaid: ((text: string) => void) | undefined

  constructor(isTTY = false, onSaid?: (text: string) => void) {
    super()
    this.isTTY = isTTY
    this.#onSaid = onSaid
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    // The writer may reuse its buffer.
    this.#chunks.push(Buffer.from(chunk))
    done()
    this.#onSaid?.(chunk.toString())
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}

/** Replacement of the process's state for one run. */
class Run {
  readonly stdout: Kept
  readonly stderr = new Kept()
  readonly stdin = new PassThrough()
  readonly env: NodeJS.ProcessEnv
  readonly events = new EventEmitter()
  exitCode: number | string | null | undefined
  /** Rejects on process.exit: the command does not continue. */
  readonly exited: Promise<never>
  #exit: (e: Exit) => void = () => undefined

  constructor({ env, isTerminal, onSaid }: HereOptions) {
    this.stdout = new Kept(isTerminal, onSaid)
    this.env = { ...real.env }
    for (const [name, value] of Object.entries(env ?? {})) {
      if (value === undefined) delete this.env[name]
      else this.env[name] = value
    }
    this.exited = new Promise((_, reject) => (this.#exit = reject))
    this.exited.catch(() => undefined)
  }

  readonly exit = (code?: number | string | null): never => {
    const e = new Exit(Number(code ?? this.exitCode ?? 0))
    this.#exit(e)
    throw e
  }

  get code(): number {
    return Number(this.exitCode ?? 0)
  }
}

const real = process
const runs = new AsyncLocalStorage<Run>()
const environment = real.env
const ofRun = (): NodeJS.ProcessEnv => runs.getStore()?.env ?? environment

// Node passes the environment of the real process to child processes.
real.env = new Proxy(environment, {
  get: (_, name) => Reflect.get(ofRun(), name) as unknown,
  set: (_, name, value: unknown) => Reflect.set(ofRun(), name, value),
  has: (_, name) => Reflect.has(ofRun(), name),
  deleteProperty: (_, name) => Reflect.deleteProperty(ofRun(), name),
  ownKeys: () => Reflect.ownKeys(ofRun()),
  getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(ofRun(), name),
})

/** Properties of `process` that each run has its own copy of. */
const OWN = ['stdout', 'stderr', 'stdin', 'env', 'exitCode', 'exit'] as const
type Own = (typeof OWN)[number]
const isOwn = (name: string | symbol): name is Own => OWN.includes(name as Own)

/** Events that end a process, and methods to listen for them. */
const ENDS: ReadonlySet<unknown> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'])
const LISTENING = ['on', 'once', 'off', 'addListener', 'removeListener'] as const
type Listening = (typeof LISTENING)[number]
const isListening = (name: string | symbol): name is Listening => LISTENING.includes(name as Listening)

/** Outside of any run this is the real process. */
globalThis.process = new Proxy(real, {
  get(target, name) {
    const run = runs.getStore()
    if (run && isOwn(name)) return run[name]
    if (!run || !isListening(name)) return Reflect.get(target, name, target) as unknown
    return (event: string, listener: (...args: unknown[]) => void): NodeJS.Process => {
      if (ENDS.has(event)) run.events[name](event, listener)
      else target[name](event as 'warning', listener)
      return globalThis.process
    }
  },
  set(target, name, value: unknown) {
    const run = runs.getStore()
    if (!run || !isOwn(name)) return Reflect.set(target, name, value, target)
    if (name !== 'exitCode') throw new Error(`a command sets process.${name}`)
    run.exitCode = value as number
    return true
  },
})

// Commander takes the process from its module, not from the global.
for (const name of ['stdout', 'stderr'] as const) {
  const stream = real[name]
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
  stream.write = (...args: unknown[]): boolean => {
    const run = runs.getStore()
    return run ? run[name].write(args[0]) : write(...args)
  }
}

async function toItsEnd(run: Run, words: readonly string[]): Promise<Ended> {
  let code: number
  try {
    await Promise.race([runProgram(words), run.exited])
    code = run.code
  } catch (e) {
    if (!(e instanceof Exit)) throw e
    code = e.code
  }
  run.events.emit('exit', code)
  run.events.removeAllListeners()
  run.stdin.destroy()
  return { code, stdout: run.stdout.text, stderr: run.stderr.text }
}

/** Starts a command. */
export function startSluice(words: readonly string[], options: HereOptions = {}): RunningHere {
  const run = new Run(options)
  if (options.input !== 'open') run.stdin.end(options.input?.text ?? '')
  const within = <T>(act: () => T): T => runs.run(run, act)
  return {
    ended: within(() => toItsEnd(run, words)),
    said: () => run.stdout.text,
    type: (text) => void run.stdin.write(text),
    close: () => void run.stdin.end(),
    signal: (name) => {
      if (run.events.listenerCount(name) === 0)
        throw new Error(`nothing listens to ${name}: it would have ended at once`)
      try {
        within(() => run.events.emit(name, name))
      } catch (e) {
        if (!(e instanceof Exit)) throw e
      }
    },
  }
}

/** Runs a command to its end. `env` is added to the environment while it runs. */
export const runSluice = (
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  input = '',
): Promise<Ended> => startSluice(words, { env, input: { text: input } }).ended
