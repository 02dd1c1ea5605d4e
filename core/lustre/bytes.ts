/** Byte-level parsing helpers: character codes of Lustre's text formats, and byte strings of short ranges. */
import type { ByteText } from './text.ts'

export const NEWLINE = 10
export const RETURN = 13
export const SPACE = 32
export const COMMA = 44
export const DASH = 45
export const DOT = 46
export const ZERO = 48
export const NINE = 57
export const COLON = 58
export const EQUALS = 61
export const OPEN = 123
export const CLOSE = 125

const SHORT = 64
// One array per length, reused for each text: fromCharCode of a packed array is several times faster than of a typed one.
const SCRATCH = Array.from({ length: SHORT + 1 }, (_, n) => new Array<number>(n).fill(0))

/** Returns the byte string of bytes[from, to): a copy that does not retain the buffer. */
export function byteText(bytes: Uint8Array, from: number, to: number): ByteText {
  let text = ''
  for (let at = from; at < to; at += SHORT) {
    const n = Math.min(SHORT, to - at)
    const codes = SCRATCH[n] as number[]
    for (let i = 0; i < n; i++) codes[i] = bytes[at + i] as number
    text += String.fromCharCode(...codes)
  }
  return text
}

/** Platform function that converts a byte string to bytes. */
export type ToBytes = (text: ByteText) => Uint8Array

/**
 * Converts a byte string one character at a time. Platforms have functions that are several times faster: `Buffer.from(text, 'latin1')`.
 */
export function bytesOf(text: ByteText): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** True if bytes[from, ...) begins with `start`; `to` is the end of the readable range. */
export function startsWith(bytes: Uint8Array, from: number, to: number, start: Uint8Array): boolean {
  if (to - from < start.length) return false
  for (let i = 0; i < start.length; i++) if (bytes[from + i] !== start[i]) return false
  return true
}
