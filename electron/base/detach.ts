/**
 * A copy of a short text cut out of a long one. A slice keeps the whole text it was cut from in memory, and what outlives a
 * reading (job ids, times, rules) must not keep a server's answer of megabytes alive.
 *
 * @param text  byte text: char codes 0..255.
 */
export const detach = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')

/** Bytes that texts are made into; a longer one gets an array of its own. */
let scratch = Buffer.alloc(0)
const SCRATCH_MOST = 8 << 20

/**
 * Bytes of a byte text, several times faster than one by one. Good until the next call: an array for every table of every server leaves
 * a hundred megabytes behind that the process does not give back.
 */
export function toBytes(text: string): Uint8Array {
  if (text.length > SCRATCH_MOST) scratch = Buffer.alloc(0)
  else if (text.length > scratch.length) scratch = Buffer.allocUnsafeSlow(Math.min(SCRATCH_MOST, 2 * text.length))
  const into = text.length > SCRATCH_MOST ? Buffer.allocUnsafeSlow(text.length) : scratch
  into.write(text, 'latin1')
  // No Buffer: a slice of one would be no copy.
  return new Uint8Array(into.buffer, into.byteOffset, text.length)
}
