/**
 * SSH fingerprint: in groups, as randomart, and compared with one received out of band.
 * Only `SHA256:` and 43 characters of Base64 are valid; MD5 is recognized and never compared.
 */

/** Length of a SHA-256 in Base64 without padding. */
export const LENGTH = 43
const BODY = /^[A-Za-z0-9+/]{43}$/

/** The 43 Base64 characters of a fingerprint; null if the text is not one. */
export function bodyOf(fingerprint: string): string | null {
  const body = fingerprint.replace(/^SHA256:/, '')
  return BODY.test(body) ? body : null
}

/** Groups of four characters, five groups a line. */
export function groupsOf(fingerprint: string): string[][] {
  const groups = (bodyOf(fingerprint) ?? '').match(/.{1,4}/g) ?? []
  return Array.from({ length: Math.ceil(groups.length / 5) }, (_, i) => groups.slice(i * 5, i * 5 + 5))
}

/** Shortened fingerprint for a card: both ends. It does not replace the comparison. */
export function shortPrint(fingerprint: string): string {
  const body = bodyOf(fingerprint)
  return body === null ? fingerprint.slice(0, 20) : `SHA256:${body.slice(0, 4)}\u2026${body.slice(-4)}`
}

export interface Comparison {
  readonly state: 'empty' | 'partial' | 'equal' | 'different' | 'not-one'
  /** Length of the common prefix. */
  readonly equal: number
  readonly summary: string
}

/** Returns the length of the common prefix of two texts. */
function common(a: string, b: string): number {
  let n = 0
  while (n < a.length && n < b.length && a[n] === b[n]) n++
  return n
}

/** Possible fingerprints in a pasted text, which may be a line of ssh-keygen or a ticket. */
function candidates(pasted: string): string[] {
  const named = [...pasted.matchAll(/SHA256:\s*([A-Za-z0-9+/ ]*)/g)].map((m) => (m[1] ?? '').replace(/ /g, ''))
  // Other text may follow, as in `SHA256:x root@host`: the first word counts if it is complete.
  const complete = [...pasted.matchAll(/SHA256:\s*([A-Za-z0-9+/]{43})(?![A-Za-z0-9+/])/g)].map((m) => m[1] ?? '')
  if (complete.length > 0) return complete
  return named.length > 0 ? named : [pasted.replace(/\s/g, '')]
}

/**
 * Compares the pasted text with the key of the server. Equal means exactly all 43 characters; of several fingerprints
 * in the text, the one with the longest common prefix counts.
 */
export function compare(fingerprint: string, pasted: string): Comparison {
  const body = bodyOf(fingerprint)
  const text = pasted.trim()
  if (body === null || text === '') return { state: 'empty', equal: 0, summary: 'nothing pasted' }
  if (/(?:MD5:)?(?:[0-9a-f]{2}:){7,}/i.test(text))
    return { state: 'not-one', equal: 0, summary: 'MD5 is not accepted: use the SHA256 fingerprint' }
  let best = { length: 0, equal: 0 }
  for (const candidate of candidates(text)) {
    const given = candidate.replace(/=$/, '')
    const equal = common(body, given)
    if (equal === LENGTH && given.length === LENGTH)
      return { state: 'equal', equal, summary: `${LENGTH} of ${LENGTH} equal` }
    if (equal >= best.equal) best = { length: given.length, equal }
  }
  const summary = `${best.equal} of ${LENGTH} equal`
  if (best.equal === best.length) return { state: 'partial', equal: best.equal, summary }
  return { state: 'different', equal: best.equal, summary: `${summary}, then a mismatch` }
}

export const ART = { columns: 17, rows: 9 } as const
export interface Art {
  /** Visits of each field, row by row. */
  readonly visits: readonly number[]
  readonly start: number
  readonly end: number
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Decodes the 32 bytes. */
function bytesOf(body: string): number[] {
  const bytes: number[] = []
  let bits = 0
  let held = 0
  for (const character of body) {
    held = (held << 6) | BASE64.indexOf(character)
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes.push((held >> bits) & 0xff)
    }
    held &= 0xff
  }
  return bytes
}

/**
 * Randomart by the walk of `ssh-keygen -lv`: two bits a step, lowest first, diagonally, clamped at the edges. The result
 * equals the picture of ssh-keygen.
 *
 * Source: Loss, Limmer, von Gernler: The drunken bishop, 2009.
 *
 * @returns null if the text is not a fingerprint.
 */
export function artOf(fingerprint: string): Art | null {
  const body = bodyOf(fingerprint)
  if (body === null) return null
  const { columns, rows } = ART
  const visits = Array.from({ length: columns * rows }, () => 0)
  let x = (columns - 1) / 2
  let y = (rows - 1) / 2
  const start = y * columns + x
  for (const byte of bytesOf(body)) {
    for (let shift = 0; shift < 8; shift += 2) {
      const step = (byte >> shift) & 3
      x = Math.max(0, Math.min(columns - 1, x + (step & 1 ? 1 : -1)))
      y = Math.max(0, Math.min(rows - 1, y + (step & 2 ? 1 : -1)))
      const at = y * columns + x
      visits[at] = (visits[at] ?? 0) + 1
    }
  }
  return { visits, start, end: y * columns + x }
}
