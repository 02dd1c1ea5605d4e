/**
 * job_stats out of a stream of bytes: entries are handed on as they end, and no more is kept than one of them and a line.
 *
 * Source: spec/lustre 4.1 to 4.4, lustre-measured A1-A3, A6, A26, A31. Taken are the value of the parameter and what
 * `lctl get_param` prints of one or several targets: with their names, without them (`-n`) or with one before each line
 * (`-H`); of any release, an OST or an MDT; with lines that end in CR LF and without the last newline. Values of other
 * parameters in between are passed over. It never throws: a line it cannot read is named and skipped, the rest is kept.
 */
import { byteText, bytesOf, NEWLINE, RETURN, SPACE, startsWith } from './bytes.ts'
import type { Counter } from './counter-line.ts'
import { fieldAt, FieldLine, isCounterAt } from './field-line.ts'
import type { JobEntry } from './job-entry.ts'
import { parseJobId } from './job-id.ts'
import { LineChunks, MAX_LINE, TOO_LONG, type LinesSink } from './line-chunks.ts'
import { behindLine } from './line-templates.ts'
import { paramAt } from './param-line.ts'
import { SkippedLines } from './skipped-lines.ts'
import type { ByteText } from './text.ts'

/** Where entries go, in the order of the text. */
export interface JobStatsSink {
  /** The table of another target begins; `param` is its parameter, undefined where the text does not name it. */
  target?(param: ByteText | undefined): void
  entry(entry: JobEntry): void
}

export interface ScanOptions {
  /** Keeps counters without samples, too. */
  readonly zeros?: boolean
  /** How many skipped lines are listed; the others are counted. */
  readonly maxSkipped?: number
}

/** Counters of one entry; an MDT lists 27, and a text of junk may list any number. */
const MAX_COUNTERS = 100
/** Longest job id as printed; 31 bytes escaped and quoted have 126. */
const MAX_PRINTED_ID = 256

const JOB_ID = bytesOf('- job_id:')
/** The id stands here in all releases; blanks behind this column are its own (2.12 escapes none). */
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
  /** A line in it could have been anything. */
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

  /** Number of the line at hand, from 1; where it begins in the stream; whether the stream ends in it. */
  #line = 0
  #offset = 0
  #isCut = false

  #entry: OpenEntry | undefined
  #entries = 0
  /** A table has begun, and its `job_stats:` is still to come. */
  #isTable = false
  #awaitsHeader = false
  /** Name of the table at hand, and `name=`, which `-H` puts before each of its lines. */
  #param: ByteText | undefined
  #prefix: Uint8Array | undefined
  /** The lines at hand belong to another parameter. */
  #isForeign = false
  /** Line of a parameter that would be junk if the entry went on after it; 0 = none. */
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

  /** Lines taken so far. */
  get line(): number {
    return this.#line
  }

  /** Takes the next bytes; they are not kept and may be overwritten afterwards. */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
  }

  /** The text has ended: hands on what is left. */
  end(): void {
    this.#chunks.end()
    this.#close(this.#chunks.length)
  }

  /** Closes the entry at hand: what was pushed so far ends with one. */
  endEntry(): void {
    this.#close(this.#chunks.length)
  }

  /** Passes over an entry that was read before; what was pushed so far ends with a line. */
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

  /** Reads the line at `at`; index behind it. */
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

  /** A field that belongs to no job; other parameters have lines with a blank in front, too. */
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

  /** Puts a field into its entry. */
  #take(entry: OpenEntry, f: FieldLine): void {
    const { template, counter, time } = f
    if (!template) return
    const { name } = template
    if (template.seen === this.#entries) {
      // A time behind the counters, or any field again behind a line of junk, is another job's, whose job_id line is lost.
      const isOthers = entry.hasJunk || (counter === undefined && entry.listed > 0)
      this.#skip(isOthers ? `${name} of a job without its job_id` : `${name} twice`)
      if (isOthers) this.#close(this.#offset)
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
    // An id that ends with the text may be the beginning of a longer one: another job's.
    if (this.#isCut && !/^".*"$/s.test(printed)) this.#skip('job_id cut off')
    else if (jobId === '' || /^ *$/.test(printed)) this.#skip('job_id without an id')
    else {
      this.#entries++
      this.#field.templates.rewind()
      this.#entry = new OpenEntry(jobId, this.#offset)
    }
  }

  /** What stood before has ended. */
  #beginEntry(): void {
    if (this.#aside > 0) this.#nameAside()
    if (!this.#isTable) this.#beginTable(undefined, false)
    this.#close(this.#offset)
    this.#isForeign = this.#awaitsHeader = false
  }

  /** A parameter's line stood inside an entry. */
  #nameAside(): void {
    this.#skip('a parameter inside a table', this.#aside)
    this.#aside = 0
  }

  /** A line that is neither a field nor a job's first: the table's header, a parameter's name, or junk. */
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

  /** A line that begins with the name of the table at hand: the table's first, or any of it with `-H`. */
  #named(bytes: Uint8Array, at: number, to: number, isFirst: boolean): void {
    const from = at + (this.#prefix?.length ?? 0)
    if (isHeader(bytes, from, to)) this.#header(this.#param)
    else if (startsWith(bytes, from, to, JOB_ID)) this.#jobLine(bytes, from, to)
    else if (this.#entry && bytes[from] === SPACE) this.#fieldLine(this.#entry, bytes, from, bytes.length)
    else if (from < to) this.#junk()
    else if (!isFirst) this.#beginTable(this.#param, true)
  }

  /** `job_stats:`; one that was not to be expected begins another table. */
  #header(param: ByteText | undefined): void {
    if (!this.#awaitsHeader) this.#beginTable(param, false)
    this.#awaitsHeader = false
  }

  /** Another parameter. In the middle of a table it would be junk, which only the lines behind it can tell. */
  #foreign(isBlock: boolean): void {
    this.#aside = this.#isTable ? this.#line : 0
    if (!isBlock) return
    this.#close(this.#offset)
    this.#isForeign = true
    this.#awaitsHeader = false
  }
}
