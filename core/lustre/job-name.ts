/**
 * `jobid_name`: template from which clients form job ids.
 *
 * Source: spec/lustre 4.5, lustre-measured A27; the alternative of `%j?` and its release: the Lustre manual, chapter Jobstats.
 * Deviations: the effect of `%j?` before plain text is not documented; here the `?` is then dropped.
 */
import type { Release } from './release.ts'
import type { ByteText } from './text.ts'

/** Executable, group id, host, short host, job id of the scheduler, process id, user id. */
const CODES = 'eghHjpu'
export type NameCode = 'e' | 'g' | 'h' | 'H' | 'j' | 'p' | 'u'

export interface NameField {
  readonly code: NameCode
  /** Bytes kept of the value; undefined = all. */
  readonly width: number | undefined
  /** Alternative used when there is no job id; only for `j`. */
  readonly otherwise: NameField | undefined
}

/** A template's parts in order: plain text and fields. */
export type JobName = readonly (ByteText | NameField)[]

/** Differences between releases. */
export interface JobNameDialect {
  /** True if `%.5h` keeps five bytes; else `%.` is an unknown code and the rest is text. */
  readonly widths: boolean
  /** True if `%j?%H` is the job id or, without one, the host; else the `?` is text. */
  readonly alternative: boolean
}

const BEFORE_2_16: JobNameDialect = { widths: false, alternative: false }
const SINCE_2_16: JobNameDialect = { widths: true, alternative: true }

/** Widths are measured for 2.15.8 and 2.17.57 only; assumed to have been added with the alternative, in 2.16. */
export const JOB_NAME_DIALECTS: Readonly<Record<Release, JobNameDialect>> = {
  '2.12': BEFORE_2_16,
  '2.15': BEFORE_2_16,
  '2.16': SINCE_2_16,
  '2.17': SINCE_2_16,
  dev: SINCE_2_16,
}

const WIDTH = /^\.(\d{1,3})/
const BLANK = /[ \t\n\v\f\r]/g

/** Reads the code after a `%`; undefined for an unknown code. */
function fieldAt(text: ByteText, dialect: JobNameDialect): { field: NameField; length: number } | undefined {
  const width = dialect.widths ? WIDTH.exec(text) : null
  const at = width ? width[0].length : 0
  const code = text[at]
  if (code === undefined || !CODES.includes(code)) return undefined
  const field = { code: code as NameCode, width: width ? Number(width[1]) : undefined, otherwise: undefined }
  return { field, length: at + 1 }
}

/** Parses a template. Blanks and unknown codes are dropped, as clients do. */
export function parseJobName(template: ByteText, dialect: JobNameDialect = SINCE_2_16): JobName {
  const parts: (ByteText | NameField)[] = []
  let text = ''
  const flush = (): void => {
    if (text !== '') parts.push(text)
    text = ''
  }
  let rest = template.replaceAll(BLANK, '')
  while (rest !== '') {
    if (!rest.startsWith('%')) {
      text += rest[0] as string
      rest = rest.slice(1)
      continue
    }
    const found = fieldAt(rest.slice(1), dialect)
    // An unknown code is the percent sign and the character behind it.
    rest = rest.slice(found ? 1 + found.length : 2)
    if (!found) continue
    let { field } = found
    if (dialect.alternative && field.code === 'j' && rest.startsWith('?')) {
      rest = rest.slice(1)
      const next = rest.startsWith('%') ? fieldAt(rest.slice(1), dialect) : undefined
      if (next) {
        field = { ...field, otherwise: next.field }
        rest = rest.slice(1 + next.length)
      }
    }
    flush()
    parts.push(field)
  }
  flush()
  return parts
}
