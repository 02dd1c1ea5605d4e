/**
 * Processes that read files from elsewhere: at most two, each with one task at a time, killed at its limits of time, memory and output.
 * How a process is started is handed in: Node forks it, Electron's main starts a utility process. Nothing above knows which it is.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { fromForeign, HEAP_MIB, limitsOf, type ForeignTask, type Limits, type ToForeign } from './task.ts'

/** A process of the program in `process.ts`. */
export interface StartedProcess {
  readonly pid: number | undefined
  send(message: ToForeign): void
  onMessage(listener: (message: unknown) => void): void
  /** Called once, also when it could not be started; `why` in words. */
  onEnd(listener: (why: string) => void): void
  /** Ends it however busy it is. */
  kill(): void
}
export type StartProcess = () => StartedProcess

/** Has a task done in a process of its own: the answer is JSON of a Result. Failures: FILE_TOO_SLOW, _TOO_LARGE, _CRASHED. */
export type RunForeign = (task: ForeignTask) => Promise<Result<string>>

/** One reads a folder through, the other one what a person asked for. */
const PROCESSES = 2
/** Loading its modules on a machine that is busy. */
const START_MS = 60_000
/** Without a task it ends after this time. */
const IDLE_MS = 10_000
const MEMORY_EVERY_MS = 50
/** How JavaScript ends when its heap is full. */
const OUT_OF_MEMORY = 'SIGABRT'

/** Resident memory of a process, bytes; undefined where the system does not say. */
function memoryOf(pid: number | undefined): number | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kib === undefined ? undefined : Number(kib) * 1024
  } catch {
    return undefined
  }
}

const failure = (task: ForeignTask, code: string, why: string): Failure => ({
  code,
  what: `${basename(task.file)} was not opened`,
  why,
  unaffected: 'It was not changed, and the process that read it was ended. Everything else in this console.',
  next: 'Get the file once more from where it was written; one that Sluice wrote stays far below this limit.',
})

interface Waiting {
  readonly task: ForeignTask
  readonly limits: Limits
  readonly done: (result: Result<string>) => void
}

interface Running extends Waiting {
  readonly number: number
  readonly timer: NodeJS.Timeout
  readonly memory: NodeJS.Timeout
}

/** One process and its task. */
class Reader {
  readonly process: StartedProcess
  readonly #freed: () => void
  readonly #ended: () => void
  #state: 'starting' | 'idle' | 'busy' | 'ended' = 'starting'
  #first: Waiting | undefined
  #running: Running | undefined
  #clock: NodeJS.Timeout
  #number = 0

  constructor(start: StartProcess, first: Waiting, on: { readonly freed: () => void; readonly ended: () => void }) {
    this.#first = first
    this.#freed = on.freed
    this.#ended = on.ended
    this.process = start()
    this.#clock = setTimeout(() => this.#give('FILE_CRASHED', 'the process that reads it did not start'), START_MS)
    this.process.onMessage((message) => this.#hear(message))
    this.process.onEnd((why) => {
      if (why === OUT_OF_MEMORY)
        this.#give('FILE_TOO_LARGE', `reading it takes more memory than ${HEAP_MIB} MiB, the limit`)
      else this.#give('FILE_CRASHED', `the process that read it ended: ${why}`)
    })
  }

  get isIdle(): boolean {
    return this.#state === 'idle'
  }

  take(waiting: Waiting): void {
    clearTimeout(this.#clock)
    const { task, limits } = waiting
    const number = ++this.#number
    const seconds = limits.timeMs / 1000
    const mib = Math.round(limits.memoryBytes / 2 ** 20)
    this.#state = 'busy'
    this.#running = {
      ...waiting,
      number,
      timer: setTimeout(
        () => this.#give('FILE_TOO_SLOW', `it was not read within ${seconds} s, the limit for a file of its size`),
        limits.timeMs,
      ),
      memory: setInterval(() => {
        if ((memoryOf(this.process.pid) ?? 0) <= limits.memoryBytes) return
        this.#give('FILE_TOO_LARGE', `reading it takes more memory than ${mib} MiB, the limit`)
      }, MEMORY_EVERY_MS),
    }
    this.process.send({ number, task, answerChars: limits.answerChars, timeMs: limits.timeMs })
  }

  /** Ends the process; a task of it fails for this reason. */
  end(why: string): void {
    this.#give('FILE_CRASHED', why)
  }

  #hear(message: unknown): void {
    const read = fromForeign.safeParse(message)
    if (!read.success) return this.#give('FILE_CRASHED', 'the process that reads it answered what is no answer')
    if (read.data.type === 'ready') {
      const first = this.#first
      this.#first = undefined
      return first ? this.take(first) : undefined
    }
    const running = this.#running
    if (running?.number !== read.data.number) return
    if (read.data.text.length > running.limits.answerChars) {
      return this.#give('FILE_TOO_LARGE', 'what is said of it is longer than any answer may be')
    }
    this.#stopClocks()
    this.#running = undefined
    this.#state = 'idle'
    this.#clock = setTimeout(() => this.#give('FILE_CRASHED', 'nothing was asked of it'), IDLE_MS)
    running.done(ok(read.data.text))
    this.#freed()
  }

  /** Kills the process, and says why its task has no answer. */
  #give(code: string, why: string): void {
    if (this.#state === 'ended') return
    const task = this.#running ?? this.#first
    this.#stopClocks()
    this.#state = 'ended'
    this.#running = undefined
    this.#first = undefined
    this.process.kill()
    task?.done(fail(failure(task.task, code, why)))
    this.#ended()
  }

  #stopClocks(): void {
    clearTimeout(this.#clock)
    clearTimeout(this.#running?.timer)
    clearInterval(this.#running?.memory)
  }
}

export class ForeignProcesses {
  readonly #start: StartProcess
  readonly #limitsOf: (task: ForeignTask) => Limits
  readonly #readers = new Set<Reader>()
  readonly #waiting: Waiting[] = []
  #isClosed = false

  /** @param limits  other than those of the product (tests). */
  constructor(start: StartProcess, limits: (task: ForeignTask) => Limits = limitsOf) {
    this.#start = start
    this.#limitsOf = limits
  }

  readonly run: RunForeign = (task) => {
    if (this.#isClosed) {
      return Promise.resolve(fail(failure(task, 'FILE_CRASHED', 'the console is closing')))
    }
    return new Promise((done) => {
      this.#waiting.push({ task, limits: this.#limitsOf(task), done })
      this.#next()
    })
  }

  /** Kills what runs; whoever waits hears why. */
  close(): void {
    this.#isClosed = true
    const why = 'the console is closing'
    for (const { task, done } of this.#waiting.splice(0)) done(fail(failure(task, 'FILE_CRASHED', why)))
    for (const reader of [...this.#readers]) reader.end(why)
  }

  #next(): void {
    const [first] = this.#waiting
    if (!first) return
    const idle = [...this.#readers].find((reader) => reader.isIdle)
    if (!idle && this.#readers.size >= PROCESSES) return
    this.#waiting.shift()
    if (idle) idle.take(first)
    else {
      const reader: Reader = new Reader(this.#start, first, {
        freed: () => this.#next(),
        ended: () => {
          this.#readers.delete(reader)
          this.#next()
        },
      })
      this.#readers.add(reader)
    }
    this.#next()
  }
}
