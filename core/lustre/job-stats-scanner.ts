/**
 * Streaming parser of job_stats: entries are emitted as they end; at most one entry and one line are buffered.
 *
 * Source: spec/lustre 4.1 to 4.4, lustre-measured A1-A3, A6, A26, A31. Accepts the value of the parameter and the output of `lctl
 * get_param` for one or several targets: with their names, without them (`-n`) or with one before each line (`-H`); of any release, an
 * OST or an MDT; with lines that end in CR LF and without the last newline. Values of other parameters in between are skipped. Never
 * throws: an unreadable line is reported and skipped, the rest is kept.
 */
import { byteText, bytesOf, NEWLINE, RETURN, SPACE, startsWith, COLON, DASH, DOT, EQUALS } from './bytes.ts'
import type { Counter } from './counter-line.ts'
import { fieldAt, FieldLine, isCounterAt } from './field-line.ts'
import type { JobEntry } from './job-entry.ts'
import { parseJobId } from './job-id.ts'
import { LineChunks, MAX_LINE, TOO_LONG, type LinesSink } from './line-chunks.ts'
import { behindLine } from './line-templates.ts'
import { SkippedLines } from './skipped-lines.ts'
import type { ByteText } from './text.ts'

const LONGEST = 256
const AT = 64

const isLetter = (c: number): boolean => (c >= 97 && c <= 122) || (c >= 65 && c <= 90)
const isFirst = (c: number): boolean => isLetter(c) || (c >= 48 && c <= 57) || c === 95
const isNext = (c: number): boolean => isFirst(c) || c === DOT || c === DASH || c === COLON || c === AT

/**
 * Returns the parameter `name` if the line bytes[from, to) begins with `name=`, as printed by `lctl get_param`; else
 * undefined.
 */
function paramAt(bytes: Uint8Array, from: number, to: number): ByteText | undefined {
  if (!isFirst(bytes[from] as number)) return undefined
  const end = Math.min(to, from + LONGEST)
  let at = from + 1
  while (at < end && isNext(bytes[at] as number)) at++
  return at < end && bytes[at] === EQUALS ? byteText(bytes, from, at) : undefined
}

/** Receiver of entries, in the order of the text. */
export interface JobStatsSink {
  /** Called at the start of another target's table; `param` is its parameter, undefined if the text does not name it. */
  target?(param: ByteText | undefined): void
  entry(entry: JobEntry): void
}

export interface ScanOptions {
  /** True to keep counters without samples, too. */
  readonly zeros?: boolean
  /** Most skipped lines listed; further ones are only counted. */
  readonly maxSkipped?: number
}

/** Largest number of counters of one entry; an MDT lists 27, junk text may list any number. */
const MAX_COUNTERS = 100
/** Longest job id as printed; 31 bytes escaped and quoted have 126. */
const MAX_PRINTED_ID = 256

const JOB_ID = bytesOf('- job_id:')
/** Column of the id in all releases; blanks after this column belong to it (2.12 escapes none). */
const ID_COLUMN = 19
const HEADER = bytesOf('job_stats:')
const BYTE_ORDER_MARK = bytesOf('\u00ef\u00bb\u00bf')

const isHeader = (bytes: Uint8Array, at: number, to: number): boolean =>
  to - at === HEADER.length && startsWith(bytes, at, to, HEADER)

class OpenEntry {
  snapshotTime = ''
  startTime: string | undefined
  elapsedTime: string | undefined
  readonly counters = new Map<string, Counter>()
  listed = 0
  /** True after a junk line, which could have been anything. */
  hasJunk = false
  readonly jobId: ByteText
  readonly from: number

  constructor(jobId: ByteText, from: number) {
    this.jobId = jobId
    this.from = from
  }

  close(end: number): JobEntry {
    const { jobId, snapshotTime, startTime, elapsedTime, counters, listed } = this
    return { jobId, snapshotTime, startTime, elapsedTime, counters, listed, span: [this.from, end] }
  }
}

export class JobStatsScanner implements LinesSink {
  readonly #sink: JobStatsSink
  readonly #zeros: boolean
  readonly #skipped: SkippedLines
  readonly #chunks = new LineChunks(this)
  readonly #field = new FieldLine()

  /** Number of the current line, from 1; its offset in the stream; true if the stream ends in it. */
  #line = 0
  #offset = 0
  #isCut = false

  #entry: OpenEntry | undefined
  #entries = 0
  /** A table has begun, and its `job_stats:` line is pending. */
  #isTable = false
  #awaitsHeader = false
  /** Name of the current table, and `name=`, which `-H` prints before each of its lines. */
  #param: ByteText | undefined
  #prefix: Uint8Array | undefined
  /** True while the current lines belong to another parameter. */
  #isForeign = false
  /** Line of a parameter that would be junk if the entry continued after it; 0 = none. */
  #aside = 0

  constructor(sink: JobStatsSink, options: ScanOptions = {}) {
    this.#sink = sink
    this.#zeros = options.zeros ?? false
    this.#skipped = new SkippedLines(options.maxSkipped)
  }

  /** Lines that could not be read. */
  get skipped(): SkippedLines {
    return this.#skipped
  }

  /** Lines processed so far. */
  get line(): number {
    return this.#line
  }

  /** Processes the next bytes; they are not retained and may be overwritten afterwards. */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
  }

  /** Ends the text: emits the rest. */
  end(): void {
    this.#chunks.end()
    this.#close(this.#chunks.length)
  }

  /** Closes the current entry; the input so far must end with one. */
  endEntry(): void {
    this.#close(this.#chunks.length)
  }

  /** Skips an entry that was read before; the input so far must end with a line. */
  pass(bytes: number, lines: number): void {
    this.#offset = this.#chunks.length
    this.#beginEntry()
    this.#chunks.pass(bytes)
    this.#line += lines
  }

  lines(bytes: Uint8Array, from: number, end: number, offset: number, isCut: boolean): void {
    this.#isCut = isCut
    const hasMark = this.#line === 0 && startsWith(bytes, from, end, BYTE_ORDER_MARK)
    for (let at = hasMark ? from + BYTE_ORDER_MARK.length : from; at < end;) {
      this.#line++
      this.#offset = offset + at - from
      at = this.#one(bytes, at, end)
    }
  }

  longLine(): void {
    this.#line++
    this.#skip(TOO_LONG)
  }

  #skip(reason: string, line = this.#line): void {
    this.#skipped.add(line, reason)
  }

  #close(end: number): void {
    if (!this.#entry) return
    this.#sink.entry(this.#entry.close(end))
    this.#entry = undefined
  }

  #beginTable(param: ByteText | undefined, awaitsHeader: boolean): void {
    this.#close(this.#offset)
    this.#isTable = true
    this.#awaitsHeader = awaitsHeader
    this.#param = param
    this.#isForeign = false
    this.#aside = 0
    this.#prefix = param === undefined ? undefined : bytesOf(`${param}=`)
    this.#field.templates.forgetOrder()
    this.#sink.target?.(param)
  }

  /** Reads the line at `at`; returns the index after it. */
  #one(bytes: Uint8Array, at: number, end: number): number {
    const entry = this.#entry
    if (entry && bytes[at] === SPACE) return this.#fieldLine(entry, bytes, at, end)
    const next = bytes.indexOf(NEWLINE, at) + 1
    const to = bytes[next - 2] === RETURN && next - 2 >= at ? next - 2 : next - 1
    if (next - 1 - at > MAX_LINE) this.#skip(TOO_LONG)
    else if (startsWith(bytes, at, to, JOB_ID)) this.#jobLine(bytes, at, to)
    else if (bytes[at] === SPACE) this.#orphan(bytes, at)
    else if (at < to) this.#otherLine(bytes, at, to)
    return next
  }

  /** Handles a field outside any job; other parameters also have lines that begin with a blank. */
  #orphan(bytes: Uint8Array, at: number): void {
    if (this.#isForeign && !isCounterAt(bytes, at)) return
    const { name, value } = fieldAt(bytes, at)
    if (name !== '') this.#skip(`${name} outside a job`)
    else if (behindLine(bytes, value) < 0) this.#skip('neither a job nor a field of one')
  }

  #fieldLine(entry: OpenEntry, bytes: Uint8Array, at: number, end: number): number {
    if (this.#aside > 0) this.#nameAside()
    const f = this.#field
    const next = f.read(bytes, at, end, this.#isCut)
    if (f.fault !== '') this.#skip(f.fault)
    else this.#take(entry, f)
    return next
  }

  /** Adds a field to its entry. */
  #take(entry: OpenEntry, f: FieldLine): void {
    const { template, counter, time } = f
    if (!template) return
    const { name } = template
    if (template.seen === this.#entries) {
      // A time after the counters, or any repeated field after a junk line, belongs to another job whose job_id line is lost.
      const isOfOtherJob = entry.hasJunk || (counter === undefined && entry.listed > 0)
      this.#skip(isOfOtherJob ? `${name} of a job without its job_id` : `${name} twice`)
      if (isOfOtherJob) this.#close(this.#offset)
      return
    }
    template.seen = this.#entries
    if (f.unknown !== '') this.#skip(`${name}: unknown part ${f.unknown}`)
    if (counter) {
      if (++entry.listed > MAX_COUNTERS) this.#skip(`${name}: more than ${MAX_COUNTERS} counters`)
      else if (counter.samples > 0 || this.#zeros) entry.counters.set(name, counter)
    } else if (name === 'snapshot_time') entry.snapshotTime = time
    else if (name === 'start_time') entry.startTime = time
    else entry.elapsedTime = time
  }

  #jobLine(bytes: Uint8Array, at: number, to: number): void {
    this.#beginEntry()
    let from = at + JOB_ID.length
    while (bytes[from] === SPACE && from < Math.min(at + ID_COLUMN, to)) from++
    let idEnd = to
    if (from < at + ID_COLUMN) while (idEnd > from && bytes[idEnd - 1] === SPACE) idEnd--
    if (idEnd - from > MAX_PRINTED_ID) {
      this.#skip(`job_id of ${idEnd - from} bytes`)
      return
    }
    const printed = byteText(bytes, from, idEnd)
    const jobId = parseJobId(printed)
    // An id at the end of the text may be truncated and belong to another job.
    if (this.#isCut && !/^".*"$/s.test(printed)) this.#skip('job_id cut off')
    else if (jobId === '' || /^ *$/.test(printed)) this.#skip('job_id without an id')
    else {
      this.#entries++
      this.#field.templates.rewind()
      this.#entry = new OpenEntry(jobId, this.#offset)
    }
  }

  /** Ends the previous entry. */
  #beginEntry(): void {
    if (this.#aside > 0) this.#nameAside()
    if (!this.#isTable) this.#beginTable(undefined, false)
    this.#close(this.#offset)
    this.#isForeign = this.#awaitsHeader = false
  }

  /** Reports a parameter's line inside an entry. */
  #nameAside(): void {
    this.#skip('a parameter inside a table', this.#aside)
    this.#aside = 0
  }

  /** Handles a line that is neither a field nor the first of a job: the table's header, a parameter's name, or junk. */
  #otherLine(bytes: Uint8Array, at: number, to: number): void {
    if (isHeader(bytes, at, to)) this.#header(undefined)
    else if (this.#prefix && startsWith(bytes, at, to, this.#prefix)) this.#named(bytes, at, to, false)
    else {
      const param = paramAt(bytes, at, to)
      if (param === undefined) {
        if (!this.#isForeign) this.#junk()
      } else if (/^(?:.*\.)?job_stats$/s.test(param)) {
        this.#beginTable(param, true)
        this.#named(bytes, at, to, true)
      } else this.#foreign(at + param.length + 1 === to)
    }
  }

  #junk(): void {
    this.#skip('neither a job nor a field of one')
    if (this.#entry) this.#entry.hasJunk = true
  }

  /** Handles a line that begins with the name of the current table: the table's first, or any of its lines with `-H`. */
  #named(bytes: Uint8Array, at: number, to: number, isFirst: boolean): void {
    const from = at + (this.#prefix?.length ?? 0)
    if (isHeader(bytes, from, to)) this.#header(this.#param)
    else if (startsWith(bytes, from, to, JOB_ID)) this.#jobLine(bytes, from, to)
    else if (this.#entry && bytes[from] === SPACE) this.#fieldLine(this.#entry, bytes, from, bytes.length)
    else if (from < to) this.#junk()
    else if (!isFirst) this.#beginTable(this.#param, true)
  }

  /** Handles `job_stats:`; an unexpected one begins another table. */
  #header(param: ByteText | undefined): void {
    if (!this.#awaitsHeader) this.#beginTable(param, false)
    this.#awaitsHeader = false
  }

  /** Handles another parameter. In the middle of a table it would be junk, which only the following lines can show. */
  #foreign(isBlock: boolean): void {
    this.#aside = this.#isTable ? this.#line : 0
    if (!isBlock) return
    this.#close(this.#offset)
    this.#isForeign = true
    this.#awaitsHeader = false
  }
}
