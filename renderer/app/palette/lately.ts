/** What was chosen in the palette lately, newest first, by its id. Kept in the browser's storage. */
import * as z from 'zod'

const KEY = 'sluice.palette'
const MOST = 12
const kept = z.array(z.string().min(1).max(600)).max(100)

export function lately(): string[] {
  try {
    const read = kept.safeParse(JSON.parse(localStorage.getItem(KEY) ?? '[]'))
    return read.success ? read.data.slice(0, MOST) : []
  } catch {
    return [] // storage may be off or hold something else
  }
}
export function noteChosen(id: string): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([id, ...lately().filter((other) => other !== id)].slice(0, MOST)))
  } catch {
    // storage may be full or off: then nothing is kept
  }
}
