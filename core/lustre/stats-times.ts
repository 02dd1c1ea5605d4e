/**
 * First lines of every table of counters: time of reading, start of counting, and time between.
 *
 * Source: spec/lustre 4.3, 6.1, 6.5. Times are texts `secs.nsecs`: nanoseconds since 1970 exceed the exact range of a double.
 */
import { NS_PER_S } from '../base/units.ts'
import type { TextDialect } from './text-dialect.ts'

/** Times of a table as `secs.nsecs`; without a start if the server's tables have no such lines. */
export interface StatsTimes {
  readonly snapshot: string
  readonly start?: string | undefined
  readonly elapsed?: string | undefined
}

/** Layout of the lines: width of the name column, a colon after the name, and the unit after the time. */
export interface TimesLayout {
  readonly width: number
  readonly colon: ':' | ''
  readonly unit: string
  readonly indent: string
}

/** Formats `secs.nsecs` of a duration, or of a time when `epochSeconds` is Unix time at 0. */
export function formatSeconds(ns: number, epochSeconds = 0): string {
  const seconds = Math.floor(ns / NS_PER_S)
  return `${epochSeconds + seconds}.${String(ns - seconds * NS_PER_S).padStart(9, '0')}`
}

/** Times of a table that counts since `startNs` and is read at `now`, both virtual ns after `epochSeconds`. */
export const statsTimes = (epochSeconds: number, now: number, startNs: number | undefined): StatsTimes => ({
  snapshot: formatSeconds(now, epochSeconds),
  start: startNs === undefined ? undefined : formatSeconds(startNs, epochSeconds),
  elapsed: startNs === undefined ? undefined : formatSeconds(now - startNs),
})

/** True if a server prints start_time and elapsed_time, given the value of its enable_stats_header. */
export const showsStart = (dialect: TextDialect, statsHeader: boolean): boolean =>
  dialect.hasStartTime && (statsHeader || !dialect.hasStatsHeaderSwitch)

const LINES = [
  ['snapshot_time', 'snapshot'],
  ['start_time', 'start'],
  ['elapsed_time', 'elapsed'],
] as const

/** Formats the lines, newlines included. */
export function formatTimes(times: StatsTimes, layout: TimesLayout): string {
  let out = ''
  for (const [name, field] of LINES) {
    const time = times[field]
    if (time === undefined) continue
    out += `${layout.indent}${`${name}${layout.colon}`.padEnd(layout.width)} ${time}${layout.unit}\n`
  }
  return out
}

const LINE = /^\s*(snapshot|start|elapsed)_time:?\s+(\d+(?:\.\d+)?)(?: \(?secs\.[nu]secs\)?)?$/

/** Parses one of the lines, of any release; undefined if it is not one. */
export function parseTimesLine(line: string): { readonly field: keyof StatsTimes; readonly time: string } | undefined {
  const m = LINE.exec(line)
  return m ? { field: m[1] as keyof StatsTimes, time: m[2] as string } : undefined
}
