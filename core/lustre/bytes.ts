/** Reading bytes: the codes that Lustre's text is made of, and byte strings out of short stretches of it. */
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
// One array a length, filled anew for each text: fromCharCode of a packed array is several times faster than of a typed one.
const SCRATCH = Array.from({ length: SHORT + 1 }, (_, n) => new Array<number>(n).fill(0))

/** The byte string of bytes[from, to): a copy that keeps nothing else alive. */
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

/** How a host makes bytes of a byte string. */
export type ToBytes = (text: ByteText) => Uint8Array

/** Bytes of a byte string, one by one. A host has a way that is several times faster: `Buffer.from(text, 'latin1')`. */
export function bytesOf(text: ByteText): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** Whether bytes[from, ...) begins with `start`; `to` is the end of what may be looked at. */
export function startsWith(bytes: Uint8Array, from: number, to: number, start: Uint8Array): boolean {
  if (to - from < start.length) return false
  for (let i = 0; i < start.length; i++) if (bytes[from + i] !== start[i]) return false
  return true
}
