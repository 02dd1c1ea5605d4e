/**
 * Job ids as `job_stats` prints them. They are text that any user of the cluster may choose: data everywhere, never code.
 *
 * Source: spec/lustre 4.3 for 2.16 and later: bytes outside `[A-Za-z0-9.@_:/-]` become `\xHH`, and the id is quoted when
 * it holds such an escape or a colon, or starts with `@`. Latin-1 letters pass unescaped, as on running servers.
 */
import type { ByteText } from './text.ts'

/** Longest job id a server keeps, bytes (LUSTRE_JOBID_SIZE less the NUL). */
export const JOB_ID_MAX = 31

// isalnum() of the kernel is Latin-1: 0xC0..0xFF without the two signs.
const PLAIN = /[A-Za-z0-9.@_:/\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff-]/

/** The id as printed after `- job_id:`, quotes included where needed. */
export function formatJobId(id: ByteText): ByteText {
  let escaped = false
  let out = ''
  for (const c of id) {
    if (PLAIN.test(c)) out += c
    else {
      escaped = true
      out += `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
    }
  }
  return escaped || id.includes(':') || id.startsWith('@') ? `"${out}"` : out
}

/** The bytes of a printed id; an id that is quoted but badly escaped is taken as it stands. */
export function parseJobId(printed: ByteText): ByteText {
  if (!(printed.length >= 2 && printed.startsWith('"') && printed.endsWith('"'))) return printed
  const inner = printed.slice(1, -1)
  if (!inner.includes('\\')) return inner
  return inner.replace(/\\x([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
}
