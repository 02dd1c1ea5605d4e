/** Parses JSON from byte text: names in it are UTF-8. */

/** undefined for invalid JSON. */
export function jsonOf(byteText: string): unknown {
  try {
    return JSON.parse(Buffer.from(byteText, 'latin1').toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
