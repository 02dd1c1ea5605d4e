/**
 * Parser of scenario texts for the editor: short ones inline, long ones in a thread, because a megabyte takes seconds
 * during which nothing would be sampled. The thread starts with the first long text, and is restarted when it dies.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ScenarioCheck } from '#core/api/sandbox.ts'
import { bundledPath } from '../../files/resources.ts'
import { complete, type Completion } from './completion.ts'
import type { FromReader, ToReader } from './reading-thread.ts'
import { checkScenario, nothing, without } from './scenarios-check.ts'

/** Parsed inline, characters: some milliseconds. */
export const AT_ONCE_MAX = 20_000
/** Timeout of a text. */
const READ_MS = 60_000
/** V8 heap of the thread, MiB. */
const HEAP_MIB = 2048
const YOUNG_MIB = 64

/** Program of the thread: source in a checkout, bundle in the desktop shell. */
function programFile(): string {
  const source = join(import.meta.dirname, 'reading-thread.ts')
  return existsSync(source) ? source : bundledPath('sandbox-reader.js')
}

/** @param from  undefined: there is no answer, for the reason `why`. */
type Answer = (from: FromReader | undefined, why: string) => void

export class TextReader {
  readonly #program: string
  readonly #readMs: number
  readonly #heapMib: number
  readonly #waiting = new Map<number, Answer>()
  #thread: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  #number = 0

  constructor({
    program = programFile(),
    readMs = READ_MS,
    heapMib = HEAP_MIB,
  }: { program?: string; readMs?: number; heapMib?: number } = {}) {
    this.#heapMib = heapMib
    this.#program = program
    this.#readMs = readMs
  }

  async check(text: string): Promise<ScenarioCheck> {
    if (text.length <= AT_ONCE_MAX) return checkScenario(text)
    return new Promise((resolve) => {
      this.#request({ kind: 'check', text }, (from, why) => {
        if (from?.kind === 'check') return resolve(from.check)
        resolve(nothing([{ line: 1, column: 1, code: 'SCENARIO_UNREAD', message: `the text was not read: ${why}` }]))
      })
    })
  }

  /** Text without some jobs, checked again. */
  async leaveOut(text: string, jobIds: readonly string[]): Promise<{ text: string; check: ScenarioCheck }> {
    if (text.length <= AT_ONCE_MAX) return without(text, jobIds)
    return new Promise((resolve) => {
      this.#request({ kind: 'leave out', text, jobIds }, (from, why) => {
        if (from?.kind === 'left out') return resolve(from)
        const message = `the text was not read: ${why}`
        resolve({ text, check: nothing([{ line: 1, column: 1, code: 'SCENARIO_UNREAD', message }]) })
      })
    })
  }

  async complete(text: string, line: number, column: number): Promise<Completion> {
    if (text.length <= AT_ONCE_MAX) return complete(text, line, column)
    return new Promise((resolve) => {
      this.#request({ kind: 'complete', text, line, column }, (from) => {
        resolve(from?.kind === 'complete' ? from.completion : { fromColumn: Math.max(1, column), options: [] })
      })
    })
  }

  #request(what: ToReader['what'], answer: Answer): void {
    const thread = (this.#thread ??= this.#begin())
    const number = this.#number++
    this.#waiting.set(number, answer)
    thread.postMessage({ number, what } satisfies ToReader)
    this.#timer ??= this.#watch()
  }

  #begin(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: this.#heapMib, maxYoungGenerationSizeMb: YOUNG_MIB }
    const thread = new Worker(this.#program, { execArgv: [], resourceLimits })
    thread.unref()
    thread.on('message', ({ number, from }: { number: number; from: FromReader }) => {
      const answer = this.#waiting.get(number)
      this.#waiting.delete(number)
      clearTimeout(this.#timer)
      this.#timer = this.#waiting.size > 0 ? this.#watch() : undefined
      answer?.(from, '')
    })
    const lost = (why: string): void => {
      if (this.#thread === thread) this.#end(why)
    }
    thread.on('error', (e: unknown) => lost(e instanceof Error ? e.message : String(e)))
    thread.on('exit', () => lost('its thread ended'))
    return thread
  }

  #watch(): NodeJS.Timeout {
    return setTimeout(() => this.#end(`it took longer than ${this.#readMs / 1000} s`), this.#readMs)
  }

  /** Ends the thread; waiting requests fail with the reason. */
  #end(why: string): void {
    const thread = this.#thread
    const waiting = [...this.#waiting.values()]
    this.#thread = undefined
    this.#waiting.clear()
    clearTimeout(this.#timer)
    this.#timer = undefined
    void thread?.terminate()
    for (const answer of waiting) answer(undefined, why)
  }

  close(): void {
    this.#end('the console ends')
  }
}
