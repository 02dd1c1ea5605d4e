/**
 * Parser of the answers of sluice-read (resources/server/sluice-read), which prints only what changed: keeps the values of one
 * process and returns whole texts, as lctl prints them.
 *
 * Anything unexpected breaks the stream: then its values are unknown, and a new process starts with everything.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { ByteText } from './text.ts'

/** First line of a process that understands the requests below, and their size if it is fixed. */
const BANNER = /sluice-read 1(?: ([1-9]\d{0,4}))?\n$/

/** Requests of one process. mawk reads no line before a buffer is full: there, all requests have the size of the buffer. */
export class CounterRequests {
  readonly #size: number

  private constructor(size: number) {
    this.#size = size
  }

  /** @returns undefined if the text does not end with the first line of a process. */
  static of(text: ByteText): CounterRequests | undefined {
    const found = BANNER.exec(text)
    return found ? new CounterRequests(Number(found[1] ?? 0)) : undefined
  }

  /** Text before the first request. */
  get start(): ByteText {
    return this.#size > 0 ? ' ' : ''
  }

  line(sequence: number, names: readonly string[]): ByteText {
    const words = `${sequence} ${names.join(' ')}`
    return this.#size > 0 ? `${words.padEnd(this.#size - 2)}\n ` : `${words}\n`
  }
}

/** One reading of a server's counters. */
export interface CounterReading {
  /** Number of the request. */
  readonly sequence: number
  /** Uptime of the server when the reading began, ms. */
  readonly uptimeMs: number
  /** Time that the reading took on the server, ms. */
  readonly tookMs: number
  /** Resolution of both, ms: 10 where the server has no finer clock than its uptime. */
  readonly stepMs: number
  /** CPU time of the process before the reading began, ms. */
  readonly cpuMs: number
  /** Characters received. */
  readonly bytes: number
  /** Values that are readable now, changed or not; one per parameter where a pattern was requested. */
  readonly values: ReadonlyMap<string, ByteText>
  /** Requested parameters that are not readable as files. */
  readonly absent: readonly string[]
}

/** Longest line that is not a value. */
const LINE_MAX = 256
/** Longest value or entry, and longest answer, characters. */
const TEXT_MAX = 8 << 20
const ANSWER_MAX = 96 << 20
const TABLES_MAX = 512
/** Most values of an answer: eleven lock counters of 512 targets. */
const VALUES_MAX = 8192

interface Table {
  readonly entries: Map<number, ByteText>
  /** Whole text; undefined after a change. */
  text: ByteText | undefined
}

interface Pending {
  readonly sequence: number
  readonly names: readonly string[]
  readonly tables: Map<string, { readonly table: Table; readonly size: number }>
  readonly absent: string[]
  /** Requested patterns of parameters, and the parameters of them that were printed. */
  readonly patterns: readonly RegExp[]
  readonly listed: Set<string>
  uptimeMs: number
  /** Time of day, ms; undefined without a finer clock than the uptime. */
  clockMs: number | undefined
  cpuMs: number
  bytes: number
}

const NAME = '([A-Za-z0-9_.*{},-]{1,160})'
const SECONDS = '(\\d{1,10}(?:\\.\\d{1,3})?)'
/** Time of day, s; a reader of an earlier release has none. */
const CLOCK = '(?: (?:(\\d{1,12}\\.\\d{1,9})|-))?'
const BEGIN = new RegExp(`^begin (\\d{1,12}) ${SECONDS} (\\d{1,18})${CLOCK}$`)
const END = new RegExp(`^end (\\d{1,12}) ${SECONDS}${CLOCK}$`)
/** Resolution of an uptime, ms, and of Lustre's times as printed in the oldest releases. */
const UPTIME_STEP_MS = 10
const CLOCK_STEP_MS = 0.001
const VALUE = new RegExp(`^value ${NAME} (\\d{1,7})$`)
const TABLE = new RegExp(`^table ${NAME} (\\d{1,7})$`)
const ABSENT = new RegExp(`^absent ${NAME}$`)
const SAME = new RegExp(`^same ${NAME}$`)
const ENTRY = /^(?:entry|part) (\d{1,12}) (\d{1,7})(?: (\d{1,7}))?$/
const GONE = /^gone (\d{1,12})$/

const broken = (why: string): Result<never> =>
  fail({ code: 'STREAM_BROKEN', what: 'A reading of counters is lost', why })

const patterns = new Map<string, RegExp>()
/** Pattern of the parameters that a name with `*` and `{a,b}` stands for; undefined for a name without, and for tables. */
function patternOf(name: string): RegExp | undefined {
  if (!/[*{]/.test(name) || name.endsWith('.job_stats')) return undefined
  let pattern = patterns.get(name)
  if (!pattern) {
    const source = name.replace(/[.*{},]/g, (c) =>
      c === '.' ? '\\.' : c === '*' ? '[A-Za-z0-9_-]+' : c === '{' ? '(?:' : c === '}' ? ')' : '|',
    )
    patterns.set(name, (pattern = new RegExp(`^${source}$`)))
  }
  return pattern
}

const textOf = (table: Table): ByteText =>
  (table.text ??= table.entries.size === 0 ? '' : `job_stats:\n${[...table.entries.values()].join('\n')}`)

const isRequested = ({ names, patterns: requested }: Pending, name: string): boolean =>
  names.includes(name) || requested.some((p) => p.test(name))

export class CounterStream {
  readonly #values = new Map<string, ByteText>()
  readonly #tables = new Map<string, Table>()
  #text: ByteText = ''
  #pending: Pending | undefined
  #table: Table | undefined
  #hasBegun = false
  /** Time of day at which the server booted, ms, as far as its uptime tells. */
  #bootMs: number | undefined
  readonly #detach: (text: ByteText) => ByteText

  /** @param detach  copies a text that is kept: a slice would keep the whole answer in memory. */
  constructor(detach: (text: ByteText) => ByteText = (text) => text) {
    this.#detach = detach
  }

  /** Expects the answer to a request; the previous one must be complete. */
  expect(sequence: number, names: readonly string[]): void {
    this.#pending = {
      sequence,
      names,
      tables: new Map(),
      absent: [],
      patterns: names.flatMap((n) => patternOf(n) ?? []),
      listed: new Set(),
      uptimeMs: 0,
      clockMs: undefined,
      cpuMs: 0,
      bytes: 0,
    }
    this.#hasBegun = false
    this.#table = undefined
  }

  /**
   * Takes the next part of the output.
   *
   * @returns  the reading when it is complete, undefined before. Failures: STREAM_BROKEN.
   */
  push(chunk: ByteText): Result<CounterReading | undefined> {
    const pending = this.#pending
    if (!pending) return broken('the server printed without a request')
    pending.bytes += chunk.length
    if (pending.bytes > ANSWER_MAX) return broken(`it printed more than ${ANSWER_MAX} bytes`)
    const text = this.#text === '' ? chunk : this.#text + chunk
    let at = 0
    for (;;) {
      const end = text.indexOf('\n', at)
      if (end < 0) {
        if (text.length - at > LINE_MAX) return broken('a line is too long')
        break
      }
      if (end - at > LINE_MAX) return broken('a line is too long')
      const line = text.slice(at, end)
      const ended = END.exec(line)
      if (ended) {
        this.#text = ''
        if (end + 1 !== text.length) return broken('it printed more than an answer')
        const clockMs = ended[3] === undefined ? undefined : Number(ended[3]) * 1000
        return this.#complete(pending, Number(ended[1]), { uptimeMs: Number(ended[2]) * 1000, clockMs })
      }
      const next = this.#line(pending, line, text, end + 1)
      if (next === 'short') break
      if (next === 'bad') return broken(`an unexpected line: ${line.slice(0, 80).replace(/[^\x20-\x7e]/g, '?')}`)
      at = next
    }
    this.#text = at === 0 ? text : text.slice(at)
    return ok(undefined)
  }

  /** @returns  position behind the line and its text; 'short' while the text is incomplete. */
  #line(pending: Pending, line: string, text: ByteText, from: number): number | 'short' | 'bad' {
    const begin = BEGIN.exec(line)
    if (begin) {
      if (this.#hasBegun || Number(begin[1]) !== pending.sequence) return 'bad'
      this.#hasBegun = true
      pending.uptimeMs = Number(begin[2]) * 1000
      pending.cpuMs = Number(begin[3]) / 1e6
      pending.clockMs = begin[4] === undefined ? undefined : Number(begin[4]) * 1000
      return from
    }
    if (!this.#hasBegun) return 'bad'
    const value = VALUE.exec(line)
    if (value) {
      const size = Number(value[2])
      if (size > TEXT_MAX || !isRequested(pending, value[1] ?? '')) return 'bad'
      if (text.length < from + size) return 'short'
      const end = from + size
      // As lctl prints it: without the newline that ends it.
      const isEnded = size > 0 && text[end - 1] === '\n'
      const name = this.#detach(value[1] ?? '')
      this.#values.set(name, this.#detach(text.slice(from, isEnded ? end - 1 : end)))
      pending.listed.add(name)
      return pending.listed.size > VALUES_MAX ? 'bad' : end
    }
    const entry = ENTRY.exec(line)
    if (entry) return this.#entry(entry, text, from)
    return this.#short(pending, line) ? from : 'bad'
  }

  /** Takes an entry; of one that is known the output may leave out its end. */
  #entry([line, id, size, rest]: RegExpExecArray, text: ByteText, from: number): number | 'short' | 'bad' {
    const table = this.#table
    const end = from + Number(size)
    if (!table || Number(size) > TEXT_MAX || line.startsWith('part') !== (rest !== undefined)) return 'bad'
    const known = rest === undefined ? '' : table.entries.get(Number(id))
    if (known === undefined || Number(rest ?? 0) > known.length) return 'bad'
    if (text.length <= end) return 'short'
    if (text[end] !== '\n') return 'bad'
    const kept = rest === undefined ? '' : known.slice(known.length - Number(rest))
    table.entries.set(Number(id), this.#detach(text.slice(from, end) + kept))
    table.text = undefined
    return end + 1
  }

  /** Takes a line without a text. */
  #short(pending: Pending, line: string): boolean {
    const gone = GONE.exec(line)
    if (gone) {
      if (!this.#table?.entries.delete(Number(gone[1]))) return false
      this.#table.text = undefined
      return true
    }
    const table = TABLE.exec(line)
    if (table) {
      const name = this.#detach(table[1] ?? '')
      if (pending.tables.size >= TABLES_MAX || pending.tables.has(name)) return false
      this.#table = this.#tables.get(name) ?? { entries: new Map(), text: undefined }
      this.#tables.set(name, this.#table)
      pending.tables.set(name, { table: this.#table, size: Number(table[2]) })
      return true
    }
    const same = SAME.exec(line)?.[1]
    if (same !== undefined) {
      pending.listed.add(this.#detach(same))
      return isRequested(pending, same) && this.#values.has(same)
    }
    const name = ABSENT.exec(line)?.[1]
    if (name === undefined || !pending.names.includes(name)) return false
    this.#values.delete(name)
    pending.absent.push(name)
    return true
  }

  /**
   * Uptime in the steps of the time of day, which is followed as long as both agree: it may be set.
   *
   * @returns  undefined without a time of day.
   */
  #fineUptimeMs({ uptimeMs, clockMs }: Pick<Pending, 'uptimeMs' | 'clockMs'>): number | undefined {
    if (clockMs === undefined) return undefined
    const fineMs = this.#bootMs === undefined ? undefined : clockMs - this.#bootMs
    if (fineMs === undefined || Math.abs(fineMs - uptimeMs) > 2 * UPTIME_STEP_MS) this.#bootMs = clockMs - uptimeMs
    return clockMs - (this.#bootMs ?? 0)
  }

  #complete(
    pending: Pending,
    sequence: number,
    end: { readonly uptimeMs: number; readonly clockMs: number | undefined },
  ): Result<CounterReading> {
    this.#pending = undefined
    if (!this.#hasBegun || sequence !== pending.sequence) return broken('an answer to another request')
    const values = new Map<string, ByteText>()
    for (const [name, { table, size }] of pending.tables) {
      if (table.entries.size !== size) return broken(`${name} has ${size} entries, ${table.entries.size} are known`)
      values.set(name, textOf(table))
    }
    // Tables that were requested and not printed are gone.
    const kinds = pending.names.filter((n) => n.endsWith('.*.job_stats')).map((n) => n.slice(0, n.indexOf('*')))
    for (const name of this.#tables.keys()) {
      if (!values.has(name) && kinds.some((kind) => name.startsWith(kind))) this.#tables.delete(name)
    }
    for (const name of pending.names) {
      const value = this.#values.get(name)
      if (value !== undefined) values.set(name, value)
    }
    if (pending.patterns.length > 0) {
      for (const [name, value] of this.#values) {
        if (pending.listed.has(name)) values.set(name, value)
        else if (pending.patterns.some((p) => p.test(name)) && !pending.names.includes(name)) this.#values.delete(name)
      }
    }
    const { cpuMs, bytes, absent } = pending
    const fineMs = this.#fineUptimeMs(pending)
    const fineTookMs = (end.clockMs ?? NaN) - (pending.clockMs ?? NaN)
    const tookMs = Math.max(0, end.uptimeMs - pending.uptimeMs)
    // A clock that was set meanwhile does not count.
    const isFine = fineMs !== undefined && fineTookMs >= 0 && Math.abs(fineTookMs - tookMs) <= 2 * UPTIME_STEP_MS
    return ok({
      sequence,
      uptimeMs: isFine ? fineMs : pending.uptimeMs,
      tookMs: isFine ? fineTookMs : tookMs,
      stepMs: isFine ? CLOCK_STEP_MS : UPTIME_STEP_MS,
      cpuMs,
      bytes,
      values,
      absent,
    })
  }
}
