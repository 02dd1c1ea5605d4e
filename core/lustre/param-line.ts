/** The `name=` that `lctl get_param` puts before a value, read from bytes. */
import { byteText, COLON, DASH, DOT, EQUALS } from './bytes.ts'
import type { ByteText } from './text.ts'

const LONGEST = 256
const AT = 64

const isLetter = (c: number): boolean => (c >= 97 && c <= 122) || (c >= 65 && c <= 90)
const isFirst = (c: number): boolean => isLetter(c) || (c >= 48 && c <= 57) || c === 95
const isNext = (c: number): boolean => isFirst(c) || c === DOT || c === DASH || c === COLON || c === AT

/** The parameter that the line bytes[from, to) begins with; undefined when it begins with none. */
export function paramAt(bytes: Uint8Array, from: number, to: number): ByteText | undefined {
  if (!isFirst(bytes[from] as number)) return undefined
  const end = Math.min(to, from + LONGEST)
  let at = from + 1
  while (at < end && isNext(bytes[at] as number)) at++
  return at < end && bytes[at] === EQUALS ? byteText(bytes, from, at) : undefined
}
