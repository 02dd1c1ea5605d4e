/**
 * Job ids as printed by `job_stats` and as written to it. Any user of the cluster can choose them: always data, never code.
 *
 * Source: spec/lustre 4.3 and 4.4, measured A2 and A3. The bytes printed verbatim differ by release (`JobIdDialect`); Latin-1 letters
 * always are, because the kernel's isalnum() is Latin-1.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from './errno.ts'
import type { ByteText } from './text.ts'
import type { JobIdDialect } from './text-dialect.ts'

/** Longest job id stored by a server, bytes (LUSTRE_JOBID_SIZE less the NUL). */
export const JOB_ID_MAX = 31

/** Longest text that a write to job_stats may have, bytes: every byte of an id escaped. */
const DROP_TEXT_MAX = 4 * (JOB_ID_MAX + 1) - 1

// 0xD7 and 0xF7, signs among the Latin-1 letters, are not letters.
const isAlphanumeric = (code: number): boolean =>
  (code >= 48 && code <= 57) ||
  (code >= 65 && code <= 90) ||
  (code >= 97 && code <= 122) ||
  (code >= 0xc0 && code !== 0xd7 && code !== 0xf7)

const isPrintable = (code: number): boolean => (code >= 0x20 && code < 0x7f) || code >= 0xa0

/** Ids printed verbatim by every release; nearly all ids. */
const ALWAYS_PLAIN = /^[A-Za-z0-9._-][A-Za-z0-9.@_-]*$/

/** Formats the id as printed after `- job_id:`, quotes included where needed. */
export function formatJobId(id: ByteText, dialect: JobIdDialect): ByteText {
  if (ALWAYS_PLAIN.test(id)) return id
  let quoted = dialect.quotesYaml && id.startsWith('@')
  let out = ''
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i)
    const c = id[i] as string
    if (dialect.odd === 'question mark') out += isPrintable(code) ? c : '?'
    else if (isAlphanumeric(code) || dialect.plain.includes(c)) {
      out += c
      if (c === ':' && dialect.quotesYaml) quoted = true
    } else {
      quoted = true
      out += `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`
    }
  }
  return quoted ? `"${out}"` : out
}

/**
 * Returns the bytes of a printed id of any release; a quoted id with invalid escapes is taken literally. A `?` of 2.12 may have been any
 * byte: such an id remains ambiguous.
 */
export function parseJobId(printed: ByteText): ByteText {
  if (!(printed.length >= 2 && printed.startsWith('"') && printed.endsWith('"'))) return printed
  const inner = printed.slice(1, -1)
  if (!inner.includes('\\')) return inner
  return inner.replace(/\\x([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
}

/** Target of a write to job_stats: every entry, or that of one job. */
export type DropName = 'every entry' | { readonly jobId: ByteText }

/** Undoes `\xHH`; undefined if a backslash does not begin such an escape. */
function unescapeStrictly(inner: ByteText): ByteText | undefined {
  let out = ''
  for (let i = 0; i < inner.length; i++) {
    if (inner[i] !== '\\') out += inner[i] as string
    else {
      // One hex digit is enough for the kernel's scanf; the following byte is still skipped.
      const hex = /^x([0-9A-Fa-f](?:[0-9A-Fa-f]|(?=.)))/s.exec(inner.slice(i + 1, i + 4))
      if (!hex) return undefined
      out += String.fromCharCode(parseInt(hex[1] as string, 16))
      i += 3
    }
  }
  return out
}

/**
 * Parses a write to job_stats.
 *
 * Deviations: measured A3 says that 2.15.8 requires the same escapes for deletion as it prints. Its answers match a server that decodes
 * nothing: the raw bytes of an id delete it, and every quoted form is EINVAL.
 *
 * @param text  as written; a trailing newline, as left by `echo`, is removed.
 * @returns     EINVAL for nothing, too long a text (128 bytes; 32 where quotes mean nothing), and a backslash in quotes
 *              that begins no `\xHH`. An unknown job is detected by the table, EINVAL too.
 */
export function parseDropName(text: ByteText, dialect: JobIdDialect): Result<DropName, Errno> {
  if (text === '' || text.length > (dialect.unquotes ? DROP_TEXT_MAX : JOB_ID_MAX)) return fail('EINVAL')
  let id = text.endsWith('\n') ? text.slice(0, -1) : text
  if (dialect.unquotes && id.length >= 2 && id.startsWith('"') && id.endsWith('"')) {
    const inner = unescapeStrictly(id.slice(1, -1))
    if (inner === undefined) return fail('EINVAL')
    id = inner
  }
  // The kernel stores ids as C strings of fixed size.
  id = (id.split('\0')[0] as string).slice(0, JOB_ID_MAX)
  if (id === '') return fail('EINVAL')
  return ok(id === 'clear' ? 'every entry' : { jobId: id })
}
