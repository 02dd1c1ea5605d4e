/**
 * Character classes and number parsing of the kernel, for values written to it.
 *
 * Source: measured A2 (its isalnum and isspace are Latin-1), spec/lustre 1.2.
 */

/** Blanks that the kernel trims: ASCII ones and the Latin-1 no-break space. */
export const isBlank = (c: string): boolean =>
  c === ' ' || c === '\t' || c === '\n' || c === '\v' || c === '\f' || c === '\r' || c === '\u00a0'

/** Letters, digits and the underscore; letters include bytes C0-FF except D7 and F7. */
export const isWordByte = (c: string): boolean => /^[A-Za-z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]$/.test(c)

/** A piece of text and its offset. */
export interface Piece {
  readonly text: string
  readonly at: number
}

export const piece = (text: string, at = 0): Piece => ({ text, at })
export const cut = (p: Piece, from: number, to = p.text.length): Piece => ({
  text: p.text.slice(from, to),
  at: p.at + from,
})

/** Removes the blanks on both sides. */
export function trimmed(p: Piece): Piece {
  let from = 0
  let to = p.text.length
  while (from < to && isBlank(p.text[from] as string)) from++
  while (to > from && isBlank(p.text[to - 1] as string)) to--
  return cut(p, from, to)
}

/** Splits at every `separator`, keeping empty pieces. */
export function split(p: Piece, separator: string): Piece[] {
  const out: Piece[] = []
  let from = 0
  for (;;) {
    const to = p.text.indexOf(separator, from)
    if (to < 0) break
    out.push(cut(p, from, to))
    from = to + separator.length
  }
  out.push(cut(p, from))
  return out
}

/** Text before the first `separator`, and after it; undefined if there is none. */
export function splitOnce(p: Piece, separator: string): readonly [Piece, Piece] | undefined {
  const at = p.text.indexOf(separator)
  return at < 0 ? undefined : [cut(p, 0, at), cut(p, at + separator.length)]
}

const U64_MAX = 2n ** 64n - 1n

/**
 * Parses a number as kstrtoull does: a leading `+` and one trailing newline are accepted, nothing else.
 *
 * @param base  0 = as C: `0x1f`, octal after a leading 0, else decimal.
 * @returns     undefined for an invalid number, or one of more than 64 bits.
 */
export function kernelNumber(text: string, base: 0 | 10): bigint | undefined {
  const digits = text.replace(/^\+/, '').replace(/\n$/, '')
  if (digits.length > 4096) return undefined
  let value: bigint
  if (base === 0 && /^0[xX][0-9a-fA-F]+$/.test(digits)) value = BigInt(digits)
  else if (base === 0 && /^0[0-7]+$/.test(digits)) value = BigInt(`0o${digits.slice(1)}`)
  else if (base === 0 ? /^(?:0|[1-9][0-9]*)$/.test(digits) : /^[0-9]+$/.test(digits)) value = BigInt(digits)
  else return undefined
  return value > U64_MAX ? undefined : value
}

/**
 * Parses a list item as a number of at most 32 bits.
 *
 * @param readsCNumbers  false: digits alone, a leading 0 still meaning octal (releases up to 2.15).
 */
export function kernelU32(text: string, readsCNumbers: boolean): number | undefined {
  if (!readsCNumbers && !/^[0-9]+$/.test(text)) return undefined
  const n = kernelNumber(text, 0)
  return n === undefined || n > 0xffff_ffffn ? undefined : Number(n)
}
