/** Instants of a stretch as they are typed, by the clock on screen: `14:27:00`, with a date before it where it is of another day. */
import { clockShift, formatClock } from '../../format/units.ts'

const DAY_MS = 86_400_000
const TEXT = /^\s*(?:(\d{4})-(\d{2})-(\d{2})[ T]+)?(\d{1,2}):(\d{2})(?::(\d{2}))?\s*$/
/** Midnight of a day, and the instants of it, as a clock that is ahead of UTC reads them. */
const shifted = (atMs: number): number => atMs + clockShift(atMs)
const dayOf = (atMs: number): number => Math.floor(shifted(atMs) / DAY_MS) * DAY_MS

/** @param nearMs  an instant of the day that is meant where none is typed. @returns null for what is no time. */
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
    // 31 February is no day, though a clock would count on from it.
    if (new Date(fromMs).getUTCDate() !== day || new Date(fromMs).getUTCMonth() !== (month ?? 1) - 1) return null
  }
  const read = fromMs + (((hour ?? 0) * 60 + (minute ?? 0)) * 60 + (second ?? 0)) * 1000
  // The shift is that of the instant itself, which is known only once it was taken off.
  return read - clockShift(read - clockShift(read))
}

/** @param nearMs  an instant of the day that needs no saying. */
export function formatInstant(atMs: number, nearMs: number): string {
  const clock = formatClock(atMs)
  return dayOf(atMs) === dayOf(nearMs) ? clock : `${new Date(shifted(atMs)).toISOString().slice(0, 10)} ${clock}`
}

/** What an arrow key moves where the caret stands: hours, minutes or seconds; ms. */
export function unitAt(text: string, caret: number): number {
  const colons = text.slice(0, caret).split(':').length - 1
  return colons === 0 ? 3_600_000 : colons === 1 ? 60_000 : 1000
}
/** The figures that the caret stands in. */
export function partAt(text: string, caret: number): { from: number; to: number } {
  const from = Math.max(text.lastIndexOf(':', caret - 1), text.lastIndexOf(' ', caret - 1)) + 1
  const end = text.indexOf(':', caret)
  return { from, to: end < 0 ? text.length : end }
}
