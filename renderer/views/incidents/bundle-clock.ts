/** Parser and formatter of typed times in the displayed time zone: `14:27:00`, after a date if on another day. */
import { clockShift, formatClock } from '../../format/units.ts'

const DAY_MS = 86_400_000
const TEXT = /^\s*(?:(\d{4})-(\d{2})-(\d{2})[ T]+)?(\d{1,2}):(\d{2})(?::(\d{2}))?\s*$/
/** Shifts a UTC instant by the offset of the displayed time zone, ms. */
const shifted = (atMs: number): number => atMs + clockShift(atMs)
const dayOf = (atMs: number): number => Math.floor(shifted(atMs) / DAY_MS) * DAY_MS

/** @param nearMs  an instant of the default day. @returns null if the text is not a time. */
export function parseInstant(text: string, nearMs: number): number | null {
  const match = TEXT.exec(text)
  if (match === null) return null
  const [year, month, day, hour, minute, second] = match
    .slice(1)
    .map((part) => (part === undefined ? null : Number(part)))
  if ((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59) return null
  let fromMs = dayOf(nearMs)
  if (year !== null && year !== undefined) {
    fromMs = Date.UTC(year, (month ?? 1) - 1, day ?? 1)
    // Date.UTC would roll 31 February over to March.
    if (new Date(fromMs).getUTCDate() !== day || new Date(fromMs).getUTCMonth() !== (month ?? 1) - 1) return null
  }
  const read = fromMs + (((hour ?? 0) * 60 + (minute ?? 0)) * 60 + (second ?? 0)) * 1000
  // The offset depends on the UTC instant, which is known only after an offset was subtracted.
  return read - clockShift(read - clockShift(read))
}

/** @param nearMs  an instant of the default day, whose date is omitted. */
export function formatInstant(atMs: number, nearMs: number): string {
  const clock = formatClock(atMs)
  return dayOf(atMs) === dayOf(nearMs) ? clock : `${new Date(shifted(atMs)).toISOString().slice(0, 10)} ${clock}`
}

/** Step of an arrow key at the caret, ms: an hour, a minute or a second. */
export function unitAt(text: string, caret: number): number {
  const colons = text.slice(0, caret).split(':').length - 1
  return colons === 0 ? 3_600_000 : colons === 1 ? 60_000 : 1000
}
/** Range of the digits around the caret. */
export function partAt(text: string, caret: number): { from: number; to: number } {
  const from = Math.max(text.lastIndexOf(':', caret - 1), text.lastIndexOf(' ', caret - 1)) + 1
  const end = text.indexOf(':', caret)
  return { from, to: end < 0 ? text.length : end }
}
