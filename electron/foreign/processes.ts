/**
 * Processes that read foreign files: at most two, one task each, killed at their limits of time, memory and output. The
 * starter is injected: Node forks the process, Electron's main starts a utility process; callers see no difference.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { fromForeign, HEAP_MIB, limitsOf, type ForeignTask, type Limits, type ToForeign } from './task.ts'

/** Running process of `process.ts`. */
export interface StartedProcess {
  readonly pid: number | undefined
  send(message: ToForeign): void
  onMessage(listener: (message: unknown) => void): void
  /** Called once, also if the process could not be started; `why` is a text for the operator. */
  onEnd(listener: (why: string) => void): void
  /** Kills the process even if it is busy. */
  kill(): void
}
export type StartProcess = () => StartedProcess

/** Runs a task in its own process: the answer is JSON of a Result. Failures: FILE_TOO_SLOW, _TOO_LARGE, _CRASHED, of a query QUERY_*. */
export type RunForeign = (task: ForeignTask) => Promise<Result<string>>

/** One for scanning a folder, one for files that the operator opens. */
const PROCESSES = 2
/** Time to load its modules on a busy machine. */
const START_MS = 60_000
/** Idle time after which the process ends. */
const IDLE_MS = 10_000
const MEMORY_EVERY_MS = 50
/** Signal with which V8 aborts when its heap is full. */
const OUT_OF_MEMORY = 'SIGABRT'

/** Resident memory of a process, bytes; undefined if the system does not report it. */
function memoryOf(pid: number | undefined): number | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kib === undefined ? undefined : Number(kib) * 1024
  } catch {
    return undefined
  }
}

type Cause = 'TOO_SLOW' | 'TOO_LARGE' | 'CRASHED'

const NEXT: Readonly<Record<'file' | 'query', Readonly<Record<Cause, string>>>> = {
  file: {
    TOO_SLOW: 'Copy the file again from its origin; files written by Sluice are far below this limit.',
    TOO_LARGE: 'Copy the file again from its origin; files written by Sluice are far below this limit.',
    CRASHED: 'Open the file again. If that fails too, copy it again from its origin.',
  },
  query: {
    TOO_SLOW: 'Query a shorter range or a coarser tier, or allow more seconds.',
    TOO_LARGE: 'Query a shorter range or a coarser tier, or sort and group fewer rows.',
    CRASHED: 'Run the query again.',
  },
}

function failure(task: ForeignTask, cause: Cause, why: string): Failure {
  const of = task.kind === 'query' ? 'query' : 'file'
  return {
    code: `${of.toUpperCase()}_${cause}`,
    what: of === 'query' ? 'The query was stopped' : `${basename(task.file)} was not opened`,
    why,
    unaffected: 'The file was not changed, and everything else continues.',
    next: NEXT[of][cause],
  }
}

const slowText = (task: ForeignTask, seconds: number): string =>
  task.kind === 'query'
    ? `it took longer than ${seconds} s`
    : `it was not read within ${seconds} s, the time limit for its size`
const memoryText = (task: ForeignTask, mib: number): string =>
  `${task.kind === 'query' ? 'it' : 'reading it'} exceeds the memory limit of ${mib} MiB`

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

/** Process and its current task. */
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
    this.#clock = setTimeout(() => this.#give('CRASHED', 'the reader process did not start'), START_MS)
    this.process.onMessage((message) => this.#hear(message))
    this.process.onEnd((why) => {
      const task = this.#running?.task
      if (why === OUT_OF_MEMORY && task) this.#give('TOO_LARGE', memoryText(task, HEAP_MIB))
      else this.#give('CRASHED', `the reader process ended: ${why}`)
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
      timer: setTimeout(() => this.#give('TOO_SLOW', slowText(task, seconds)), limits.timeMs),
      memory: setInterval(() => {
        if ((memoryOf(this.process.pid) ?? 0) <= limits.memoryBytes) return
        this.#give('TOO_LARGE', memoryText(task, mib))
      }, MEMORY_EVERY_MS),
    }
    this.process.send({ number, task, answerChars: limits.answerChars, timeMs: limits.timeMs })
  }

  /** Ends the process; its task fails for this reason. */
  end(why: string): void {
    this.#give('CRASHED', why)
  }

  #hear(message: unknown): void {
    const read = fromForeign.safeParse(message)
    if (!read.success) return this.#give('CRASHED', 'the reader process returned an invalid answer')
    if (read.data.type === 'ready') {
      const first = this.#first
      this.#first = undefined
      return first ? this.take(first) : undefined
    }
    const running = this.#running
    if (running?.number !== read.data.number) return
    if (read.data.text.length > running.limits.answerChars) {
      return this.#give('TOO_LARGE', 'the answer about it exceeds the size limit')
    }
    this.#stopClocks()
    this.#running = undefined
    this.#state = 'idle'
    this.#clock = setTimeout(() => this.#give('CRASHED', 'it was idle'), IDLE_MS)
    running.done(ok(read.data.text))
    this.#freed()
  }

  /** Kills the process, and fails its task. */
  #give(cause: Cause, why: string): void {
    if (this.#state === 'ended') return
    const task = this.#running ?? this.#first
    this.#stopClocks()
    this.#state = 'ended'
    this.#running = undefined
    this.#first = undefined
    this.process.kill()
    task?.done(fail(failure(task.task, cause, why)))
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

  /** @param limits  other limits (tests). */
  constructor(start: StartProcess, limits: (task: ForeignTask) => Limits = limitsOf) {
    this.#start = start
    this.#limitsOf = limits
  }

  readonly run: RunForeign = (task) => {
    if (this.#isClosed) {
      return Promise.resolve(fail(failure(task, 'CRASHED', 'the console is closing')))
    }
    return new Promise((done) => {
      this.#waiting.push({ task, limits: this.#limitsOf(task), done })
      this.#next()
    })
  }

  /** Kills running processes; their tasks fail. */
  close(): void {
    this.#isClosed = true
    const why = 'the console is closing'
    for (const { task, done } of this.#waiting.splice(0)) done(fail(failure(task, 'CRASHED', why)))
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
