/** job_stats as one JSON document, written incrementally as entries arrive. */
import type { Counter, CounterField } from '#core/lustre/counter-line.ts'
import type { JobEntry } from '#core/lustre/job-entry.ts'
import type { JobStatsSink } from '#core/lustre/job-stats-scanner.ts'
import { binLabel } from '#core/lustre/size-histogram.ts'
import type { SkippedLines } from '#core/lustre/skipped-lines.ts'
import type { ByteText } from '#core/lustre/text.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Quotes a JSON string safely for terminals: DEL and the C1 codes are escaped as well. */
const quote = (text: string): string =>
  JSON.stringify(text).replace(/[\x7f-\x9f]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)

/** Formats the id as text if its bytes are UTF-8; otherwise one character per byte, with the bytes in hex beside it. */
function jobIdMembers(id: ByteText): string {
  if (/^[\x20-\x7e]*$/.test(id)) return `"job_id":${quote(id)}`
  const bytes = Buffer.from(id, 'latin1')
  try {
    return `"job_id":${quote(decoder.decode(bytes))}`
  } catch {
    return `"job_id":${quote(id)},"job_id_bytes":"${bytes.toString('hex')}"`
  }
}

function histText(hist: ReadonlyMap<number, number>): string {
  let text = ''
  for (const [bin, n] of hist) text += `${text === '' ? '' : ','}"${binLabel(bin)}":${n}`
  return text
}

function fieldText(c: Counter, name: CounterField): string {
  if (name === 'unit') return c.unit === 'bytes' || c.unit === 'usecs' ? `"${c.unit}"` : quote(c.unit)
  if (name === 'hist') return c.hist ? `{${histText(c.hist)}}` : '{}'
  return c.exact?.get(name) ?? String(c[name])
}

// Most counters of most jobs are zero and share one object per reading: its text is cached.
const texts = new WeakMap<Counter, string>()

function counterText(c: Counter): string {
  const known = c.samples === 0 ? texts.get(c) : undefined
  if (known !== undefined) return known
  let text = ''
  for (const name of c.fields) text += `${text === '' ? '{' : ','}"${name}":${fieldText(c, name)}`
  text += '}'
  if (c.samples === 0) texts.set(c, text)
  return text
}

function entryText(e: JobEntry): string {
  const time = (name: string, t: string | undefined): string => (t === undefined ? '' : `,"${name}":"${t}"`)
  let ops = ''
  for (const [name, c] of e.counters) ops += `${ops === '' ? '' : ','}"${name}":${counterText(c)}`
  const snapshot = e.snapshotTime === '' ? ',"snapshot_time":null' : time('snapshot_time', e.snapshotTime)
  const times = snapshot + time('start_time', e.startTime) + time('elapsed_time', e.elapsedTime)
  return `{${jobIdMembers(e.jobId)}${times},"ops":{${ops}}}`
}

/** Name of the target in `obdfilter.NAME.job_stats`. */
const targetOf = (param: ByteText): string => /^[^.]+\.(.+)\.job_stats$/s.exec(param)?.[1] ?? param

/** Initial buffer size: enough for the output of a 64 KiB chunk of input. */
const BUFFER_BYTES = 262_144

export class JobStatsJson implements JobStatsSink {
  // Strings are encoded into one buffer at once: kept until written, they would outlive the young generation.
  #bytes = Buffer.allocUnsafe(BUFFER_BYTES)
  #length = 0
  #targets = 0
  #jobs = 0

  constructor() {
    this.#put('{"targets":[')
  }

  target(param: ByteText | undefined): void {
    this.#closeTarget()
    const names = param === undefined ? '"target":null' : `"target":${quote(targetOf(param))},"param":${quote(param)}`
    this.#put(`${this.#targets++ > 0 ? ',' : ''}\n{${names},"jobs":[`)
    this.#jobs = 0
  }

  entry(e: JobEntry): void {
    this.#put(`${this.#jobs++ > 0 ? ',' : ''}\n${entryText(e)}`)
  }

  /** Returns the bytes added since the last call; valid until the next entry. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    return taken
  }

  /** Ends the document. */
  end(skipped: SkippedLines): void {
    this.#closeTarget()
    this.#put('],\n"skipped":[')
    skipped.lines.forEach((s, i) => {
      this.#put(`${i > 0 ? ',' : ''}\n{"line":${s.line},"reason":${quote(s.reason)}}`)
    })
    this.#put(`],"skipped_more":${skipped.more}}\n`)
  }

  #closeTarget(): void {
    if (this.#targets > 0) this.#put(']}')
  }

  #put(text: string): void {
    // UTF-8 needs at most three bytes per UTF-16 unit.
    if (this.#length + 3 * text.length > this.#bytes.length) {
      const more = Buffer.allocUnsafe(2 * (this.#length + 3 * text.length))
      more.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = more
    }
    this.#length += this.#bytes.write(text, this.#length)
  }
}
