/**
 * What a global controller must not forget: its epoch, so that the next one takes a higher one, and what was changed since its
 * configuration was read. Written whole or not at all.
 */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { fail, ok, type Result } from '#core/base/result.ts'
import { hasCode, whyNot } from '../files/faults.ts'
import { writeWhole } from '../files/whole-file.ts'

const keptState = z.object({
  version: z.literal(1),
  epoch: z.number().int().nonnegative(),
  /** Hash of the configuration that the rest belongs to. */
  config: z.string(),
  /** null: those of the configuration. */
  policies: z.object({ text: z.string(), startedMs: z.number() }).nullable(),
  /** Words of `sluice padll set`, the last of each name. */
  changes: z.array(z.string().max(200)).max(200),
})
export type KeptState = z.infer<typeof keptState>

export const NO_STATE: KeptState = { version: 1, epoch: 0, config: '', policies: null, changes: [] }

/**
 * @returns what is kept; NO_STATE where there is no file. STATE_UNREADABLE where there is one that cannot be read: going on
 *   with a lower epoch than before would have every command refused.
 */
export function readState(file: string): Result<KeptState> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (e) {
    if (hasCode(e, 'ENOENT')) return ok(NO_STATE)
    return unreadable(file, e instanceof Error ? e.message : String(e))
  }
  try {
    const read = keptState.safeParse(JSON.parse(text))
    if (read.success) return ok(read.data)
  } catch {
    // Not JSON: the same to the reader.
  }
  return unreadable(file, 'it is not what a global controller writes')
}

const unreadable = (file: string, why: string): Result<never> =>
  fail({
    code: 'STATE_UNREADABLE',
    what: `The state of the global controller in ${file} cannot be read`,
    why,
    next: 'Put it right, or move it away and start with an --epoch above the last one.',
  })

/** @returns STATE_UNWRITABLE. */
export function writeState(file: string, state: KeptState): Result<undefined> {
  try {
    writeWhole(file, JSON.stringify(state))
    return ok(undefined)
  } catch (e) {
    return fail({
      code: 'STATE_UNWRITABLE',
      what: `The state of the global controller cannot be written to ${file}`,
      why: whyNot(e),
    })
  }
}
