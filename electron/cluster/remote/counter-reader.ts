/**
 * Streaming reader of one server: starts sluice-read once per connection and exchanges one request and one answer per reading.
 *
 * If it cannot be used, it keeps the reason, readings fail with that reason, and it starts again after a pause that doubles.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, formatReason, ok, type Result } from '#core/base/result.ts'
import { LDLM_PARAMETERS } from '#core/lustre/ldlm-counters.ts'
import { CounterRequests, CounterStream, type CounterReading } from '#core/lustre/counter-stream.ts'
import type { CounterSource } from '../../base/connection.ts'
import { within } from '../../base/deadline.ts'
import { detach } from '../../base/detach.ts'
import { BRW_PARAMETERS, SERVICES, statsOf, timeoutsOf } from '../../base/service.ts'
import { resourcePath } from '../../files/resources.ts'
import type { ShellStream } from '../../ssh/shell-stream.ts'
import type { Access } from './command.ts'
import { isGranted } from './sudo-grants.ts'
import { READER_PATH } from './sudo-scope.ts'

/** Longest wait for the first line, and for an answer, wall ms. */
const START_MS = 5000
const ANSWER_MS = 10_000
/** Output before the first line: login files may print. */
const NOISE_MOST = 64 << 10
/** Pause after a failure, ms; it doubles. */
const AGAIN_MS = { least: 2000, most: 600_000 } as const
/** Pause after parameters were not readable as files: that rarely changes, ms. */
const ABSENT_MS = 300_000

const services = Object.values(SERVICES)
/** Parameters that sluice-read accepts. */
export const STREAM_PARAMETERS: ReadonlySet<string> = new Set([
  ...services.flatMap((s) => [s.jobStats, s.policies, s.rules, statsOf(s), timeoutsOf(s)]),
  ...LDLM_PARAMETERS,
  ...BRW_PARAMETERS,
])
const JOB_STATS: ReadonlySet<string> = new Set(services.map((s) => s.jobStats))
const LOCKS: ReadonlySet<string> = new Set(LDLM_PARAMETERS)

/**
 * Parameters of a reading that only lctl can read. Every target has job_stats and locks, and every service policies; the other
 * parameters of a service are in the same tree, and rules exist only where TBF runs. brw_stats is in one of two places.
 */
function onlyByLctl(absent: readonly string[]): string[] {
  const lost = services.filter((s) => absent.includes(s.policies))
  const isLost = (name: string): boolean =>
    lost.some((s) => [s.policies, s.rules, statsOf(s), timeoutsOf(s)].includes(name))
  return absent.filter((name) => JOB_STATS.has(name) || LOCKS.has(name) || isLost(name))
}

/** The program as it ships: a root login runs this text without installing it. */
export const readerProgram = (): string => readFileSync(resourcePath(join('server', 'sluice-read')), 'latin1')

/** Text for sh that starts the reader; a failure says what is missing. */
export function readerStart({ isRoot, sudo }: Access, program: () => string = readerProgram): Result<string> {
  if (isRoot) return ok(program())
  const path = sudo.reader ?? (isGranted(sudo.grants, READER_PATH, []) ? READER_PATH : undefined)
  if (path !== undefined) return ok(`exec sudo -n ${path}\n`)
  return fail({
    code: 'STREAM_UNAVAILABLE',
    what: 'There is no streaming reader',
    why: 'sudo does not allow sluice-read',
    unaffected: 'Counters are read by lctl.',
    next: `Install ${READER_PATH} and allow it in sudoers (docs/sudoers.md).`,
  })
}

const unavailable = (why: string): Result<never> =>
  fail({
    code: 'STREAM_UNAVAILABLE',
    what: 'The streaming reader was not used',
    why,
    unaffected: 'Counters are read by lctl.',
  })

interface Running {
  readonly stream: ShellStream
  readonly answers: CounterStream
  readonly requests: CounterRequests
}

export class CounterReader implements CounterSource {
  readonly #start: () => Promise<Result<ShellStream>>
  readonly #onChange: () => void
  #running: Running | undefined
  /** Reading under way, and whether another one waits for its end. */
  #reading: Promise<unknown> | undefined
  #isAwaited = false
  #isClosed = false
  #isReading = false
  readonly #lctlNames = new Set<string>()
  #starting: Promise<void> | undefined
  #sequence = 0
  #why = ''
  #offUntilMs = 0
  #pauseMs: number = AGAIN_MS.least

  /**
   * @param start     starts the program on the server.
   * @param onChange  called when it becomes usable, or no longer is.
   */
  constructor(start: () => Promise<Result<ShellStream>>, onChange: () => void = () => undefined) {
    this.#start = start
    this.#onChange = onChange
  }

  /** Reason why lctl is used instead; empty while it reads, and before the first reading. */
  get why(): string {
    return this.#why
  }

  /** Parameters that are not readable as files, which lctl reads. */
  get lctlNames(): readonly string[] {
    return [...this.#lctlNames].sort()
  }

  /** True after a reading, until one fails. */
  get isReading(): boolean {
    return this.#isReading
  }

  async read(names: readonly string[]): Promise<Result<CounterReading>> {
    const odd = names.find((n) => !STREAM_PARAMETERS.has(n))
    if (odd !== undefined) return unavailable(`${odd} is not among its parameters`)
    if (this.#isClosed) return unavailable('the connection has ended')
    // A read-back may meet a reading, which is short; a third one uses lctl.
    if (this.#reading && this.#isAwaited) return unavailable('another reading is pending')
    while (this.#reading) {
      this.#isAwaited = true
      await this.#reading
      this.#isAwaited = false
    }
    if (performance.now() < this.#offUntilMs) return unavailable(this.#why)
    if (this.#isClosed || !this.#running?.stream.isOpen) {
      // Readings do not wait for its start.
      this.#starting ??= this.#begin().finally(() => (this.#starting = undefined))
      return unavailable(this.#why === '' ? 'it is starting' : this.#why)
    }
    const reading = this.#take(this.#running, names)
    this.#reading = reading.finally(() => (this.#reading = undefined))
    return reading
  }

  async #take(running: Running, names: readonly string[]): Promise<Result<CounterReading>> {
    const read = await this.#ask(running, names)
    if (!read.ok) {
      this.#failed(formatReason(read.error))
      return read
    }
    const absent = onlyByLctl(read.value.absent)
    if (absent.length > 0 && read.value.values.size === 0 && !this.#isReading) {
      const why = `${absent[0] ?? ''} is not readable as a file: the tree that holds it is not mounted, or the release has other names`
      this.#off(why, ABSENT_MS)
      return unavailable(why)
    }
    const isNews = this.#noteAbsent(names, absent) || !this.#isReading
    this.#why = ''
    this.#pauseMs = AGAIN_MS.least
    this.#isReading = true
    if (isNews) this.#onChange()
    return ok({ ...read.value, absent })
  }

  /** @returns  true if other parameters than before are read by lctl. */
  #noteAbsent(names: readonly string[], absent: readonly string[]): boolean {
    const before = this.lctlNames.join(' ')
    for (const name of names) this.#lctlNames.delete(name)
    for (const name of absent) this.#lctlNames.add(name)
    return this.lctlNames.join(' ') !== before
  }

  /** Ends the program. */
  close(): void {
    this.#isClosed = true
    this.#end()
  }

  async #ask({ stream, answers, requests }: Running, names: readonly string[]): Promise<Result<CounterReading>> {
    const sequence = ++this.#sequence
    answers.expect(sequence, names)
    const answer = new Promise<Result<CounterReading>>((resolve) => {
      stream.onData((chunk) => {
        const read = answers.push(chunk)
        if (!read.ok) resolve(read)
        else if (read.value) resolve(ok(read.value))
      })
      void stream.closed.then((why) => resolve(unavailable(why)))
    })
    stream.write(requests.line(sequence, names))
    return within(answer, ANSWER_MS)
  }

  async #begin(): Promise<void> {
    const started = await this.#start()
    const ready = started.ok ? await this.#greet(started.value) : started
    if (!ready.ok) return this.#failed(formatReason(ready.error))
    if (this.#isClosed) ready.value.stream.close()
    else this.#running = ready.value
  }

  /** Waits for the first line of the program. */
  async #greet(stream: ShellStream): Promise<Result<Running>> {
    let text = ''
    const banner = new Promise<Result<Running>>((resolve) => {
      stream.onData((chunk) => {
        text += chunk
        const requests = CounterRequests.of(text)
        if (requests) resolve(ok({ stream, answers: new CounterStream(detach), requests }))
        else if (text.length > NOISE_MOST) resolve(unavailable('it printed something else'))
      })
      void stream.closed.then((why) => resolve(unavailable(why)))
    })
    const ready = await within(banner, START_MS)
    if (!ready.ok) stream.close()
    else if (ready.value.requests.start !== '') stream.write(ready.value.requests.start)
    return ready
  }

  #failed(why: string): void {
    this.#off(why, this.#pauseMs)
    this.#pauseMs = Math.min(AGAIN_MS.most, 2 * this.#pauseMs)
  }

  #off(why: string, pauseMs: number): void {
    this.#end()
    this.#why = why
    this.#offUntilMs = performance.now() + pauseMs
    if (!this.#isClosed) this.#onChange()
  }

  #end(): void {
    this.#running?.stream.close()
    this.#running = undefined
    this.#isReading = false
  }
}
