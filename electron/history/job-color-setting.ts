/** Colors of jobs in a recording that belongs to a bundle: part of the setting that describes the file. */
import type { Database } from 'better-sqlite3'
import * as z from 'zod'
import { COLORS } from '#core/base/categorical-color.ts'
import { RECORDING } from './recording-facts.ts'

const settings = z.object({ colors: z.record(z.string().regex(/^\d{1,10}$/), z.number().int().min(1).max(COLORS)) })

/** Colors by key of the job; none in a file without them. */
export function jobColorsIn(db: Database): Map<number, number> {
  const text = db.prepare('SELECT value FROM setting WHERE name = ?').pluck().get(RECORDING)
  if (typeof text !== 'string') return new Map()
  try {
    const read = settings.safeParse(JSON.parse(text))
    return new Map(read.success ? Object.entries(read.data.colors).map(([key, color]) => [Number(key), color]) : [])
  } catch {
    return new Map()
  }
}

/** Stores them in a recording; equal colors give equal bytes. */
export function keepJobColors(db: Database, colors: ReadonlyMap<number, number>): void {
  const byKey = Object.fromEntries([...colors].sort(([a], [b]) => a - b))
  db.prepare("UPDATE setting SET value = json_set(value, '$.colors', json(?)) WHERE name = ?").run(
    JSON.stringify(byKey),
    RECORDING,
  )
}
