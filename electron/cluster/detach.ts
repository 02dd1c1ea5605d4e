/**
 * A copy of a short text cut out of a long one. A slice keeps the whole text it was cut from in memory, and what outlives a
 * reading (job ids, times, rules) must not keep a server's answer of megabytes alive.
 *
 * @param text  byte text: char codes 0..255.
 */
export const detach = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')

/** Bytes of a byte text, several times faster than one by one. */
export const toBytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')
