/** Numbers in the words that a trace tells: thin spaces between thousands, ranges with their last byte. */
import { EOF, type LockRange } from '../ranges.ts'

export const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, '\u2009')

/** `#4 121`. */
export const showSn = (sn: number): string => `#${grouped(sn)}`

/** `0 .. 65 535`, `4 096 .. end`; of several pieces the hull and their number. */
export function showRange({ start, end, pieces }: LockRange): string {
  const hull = `${grouped(start)} .. ${end === EOF ? 'end' : grouped(end)}`
  return pieces === null ? hull : `${hull} in ${grouped(pieces.length)} pieces`
}

/** The first few of a list, and how many more there are. */
export function listed(texts: readonly string[], most = 3): string {
  const more = texts.length - most
  return texts.slice(0, most).join(', ') + (more > 0 ? ` and ${grouped(more)} more` : '')
}
