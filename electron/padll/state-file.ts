/**
 * Persistent state of a global controller: its epoch, so that its successor uses a higher one, and changes made after its
 * configuration was read. Written atomically.
 */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { fail, ok, type Result } from '#core/base/result.ts'
import { hasCode, fileErrorText } from '../files/faults.ts'
import { writeFileAtomic } from '../files/atomic-file.ts'

const savedState = z.object({
  version: z.literal(1),
  epoch: z.number().int().nonnegative(),
  /** Hash of the configuration that the other fields belong to. */
  config: z.string(),
  /** null: those of the configuration. */
  policies: z.object({ text: z.string(), startedMs: z.number() }).nullable(),
  /** Arguments of `sluice padll set`, the last one for each name. */
  changes: z.array(z.string().max(200)).max(200),
})
export type SavedState = z.infer<typeof savedState>

export const NO_STATE: SavedState = { version: 1, epoch: 0, config: '', policies: null, changes: [] }

/**
 * @returns the stored state; NO_STATE if there is no file. STATE_UNREADABLE if it cannot be read: with a lower epoch than before,
 * every command would be refused.
 */
export function readState(file: string): Result<SavedState> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (e) {
    if (hasCode(e, 'ENOENT')) return ok(NO_STATE)
    return unreadable(file, e instanceof Error ? e.message : String(e))
  }
  try {
    const read = savedState.safeParse(JSON.parse(text))
    if (read.success) return ok(read.data)
  } catch {
    // Not JSON: handled below.
  }
  return unreadable(file, 'its format is not valid')
}

const unreadable = (file: string, why: string): Result<never> =>
  fail({
    code: 'STATE_UNREADABLE',
    what: `The state of the global controller in ${file} cannot be read`,
    why,
    next: 'Repair it, or move it away and start with an --epoch above the last one.',
  })

/** @returns STATE_UNWRITABLE. */
export function writeState(file: string, state: SavedState): Result<undefined> {
  try {
    writeFileAtomic(file, JSON.stringify(state))
    return ok(undefined)
  } catch (e) {
    return fail({
      code: 'STATE_UNWRITABLE',
      what: `The state of the global controller cannot be written to ${file}`,
      why: fileErrorText(e),
      next: 'Free space there, or make the folder writable.',
    })
  }
}
