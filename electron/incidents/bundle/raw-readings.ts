/** Raw readings as members: one file per server and parameter, each text preceded by a line of JSON metadata. */
import * as z from 'zod'
import { byCodeUnit } from '#core/base/order.ts'
import type { RawReading } from './bundle-source.ts'

/** Most reading members in a bundle. */
export const READINGS_MOST = 300
/** Most readings of a bundle that are held: ten times the number in an incident. */
export const READ_MOST = 20_000
const MARK = '# reading '
const head = z.strictObject({
  atMs: z.number(),
  server: z.string().max(256),
  what: z.string().max(512),
  chars: z.number().int().nonnegative(),
})

const safe = (text: string): string => text.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-+|-+$/g, '')

/** Members by name. */
export function readingMembers(readings: readonly RawReading[]): Map<string, string[]> {
  const sorted = [...readings].sort(
    (a, b) => byCodeUnit(a.server, b.server) || byCodeUnit(a.what, b.what) || a.atMs - b.atMs,
  )
  const out = new Map<string, string[]>()
  const names = new Map<string, string>()
  for (const { atMs, server, what, text } of sorted) {
    const key = JSON.stringify([server, what])
    let name = names.get(key)
    if (name === undefined) {
      const stem = `${safe(server) || 'server'}-${safe(what) || 'reading'}`.slice(0, 72).replace(/-+$/, '')
      for (let i = 1; name === undefined || out.has(name); i++) name = `readings/${stem}${i === 1 ? '' : `-${i}`}.txt`
      if (out.size >= READINGS_MOST) break
      names.set(key, name)
      out.set(name, [])
    }
    out.get(name)?.push(`${MARK}${JSON.stringify({ atMs, server, what, chars: text.length })}\n${text}\n`)
  }
  return out
}

/** Parses a member; stops at an invalid reading, and at one more than `most`. */
export function readReadings(text: string, most = READ_MOST): RawReading[] {
  const out: RawReading[] = []
  for (let at = 0; out.length <= most && text.startsWith(MARK, at);) {
    const end = text.indexOf('\n', at)
    if (end < 0) break
    let value: unknown
    try {
      value = JSON.parse(text.slice(at + MARK.length, end))
    } catch {
      break
    }
    const read = head.safeParse(value)
    if (!read.success) break
    const { atMs, server, what, chars } = read.data
    if (end + 1 + chars >= text.length + 1) break
    out.push({ atMs, server, what, text: text.slice(end + 1, end + 1 + chars) })
    at = end + 1 + chars + 1
  }
  return out
}
