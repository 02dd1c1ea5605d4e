/**
 * Raw server output as the console last read it: nothing is read again for it. Bounded, with a note where it was cut.
 */
import * as z from 'zod'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { RawReading } from '../../incidents/bundle/bundle-source.ts'
import { readPlain } from '../../files/plain-file.ts'

/** Most characters of one source, in all. */
export const READINGS_MOST = 8 * 2 ** 20
const TEXTS_MOST = 2_000
/** Longest name of a server or a parameter. */
const NAME_MAX = 512
/** A character may take six bytes in a file. */
const FILE_MOST = 6 * READINGS_MOST + 2 ** 20

const READ = /\.(?:job_stats|nrs_tbf_rule|nrs_policies|stats)$/

const OMITTED = '# sluice: entries unchanged since the previous reading were omitted'

/** Start of a text, up to the last entry or line that fits, and a line about the cut. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const entry = text.lastIndexOf('\n- ', most)
  const at = entry > 0 ? entry : Math.max(0, text.lastIndexOf('\n', most))
  return `${text.slice(0, at)}\n# sluice: cut after ${at} of ${text.length} characters\n`
}

/** Cuts the longest texts until all fit. */
export function fitted(all: readonly RawReading[], most = READINGS_MOST): RawReading[] {
  const byLength = [...all].sort((a, b) => a.text.length - b.text.length).slice(0, TEXTS_MOST)
  let remaining = most
  const chosen = new Map<RawReading, RawReading>()
  byLength.forEach((r, i) => {
    const share = Math.floor(remaining / (byLength.length - i))
    const text = cutText(r.text, share)
    remaining -= Math.min(text.length, share)
    chosen.set(r, text === r.text ? r : { ...r, text })
  })
  return all.flatMap((r) => chosen.get(r) ?? [])
}

/** Latest readings of each server, by server and parameter. */
export function readingsOf(monitor: ClusterMonitor, most = READINGS_MOST): RawReading[] {
  const all = monitor.allServers.flatMap((server): RawReading[] => {
    const texts = monitor.reading(server)?.texts
    if (!texts) return []
    return Array.from(texts, ([what, { atNs, text }]): RawReading[] => {
      if (!READ.test(what)) return []
      const marked = texts.has(`${what}.sum`) ? `${text}\n${OMITTED}\n` : text
      return [{ atMs: Math.round(monitor.source.toUnixMs(atNs)), server, what: what.slice(0, NAME_MAX), text: marked }]
    }).flat()
  })
  return fitted(all, most)
}

const READINGS_FORMAT = 1
const frozen = z.object({
  format: z.literal(READINGS_FORMAT),
  incident: z.string().max(32),
  readings: z
    .array(
      z.object({
        atMs: z.number(),
        server: z.string().max(NAME_MAX),
        what: z.string().max(NAME_MAX),
        text: z.string().max(READINGS_MOST + 1_000),
      }),
    )
    .max(TEXTS_MOST),
})

export const readingsText = (incident: string, readings: readonly RawReading[]): string =>
  `${JSON.stringify({ format: READINGS_FORMAT, incident, readings })}\n`

/** Readings kept when an incident was opened; empty if there are none or they cannot be read. */
export function frozenReadings(file: string, incident: string): RawReading[] {
  try {
    const read = frozen.safeParse(JSON.parse(readPlain(file, FILE_MOST)))
    return read.success && read.data.incident === incident ? fitted(read.data.readings) : []
  } catch {
    return []
  }
}
