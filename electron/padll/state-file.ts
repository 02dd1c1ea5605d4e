/**
 * What a global controller must not forget: its epoch, so that the next one takes a higher one, and what was changed since its
 * configuration was read. Written whole or not at all.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import { fail, ok, type Result } from '#core/base/result.ts'

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
    if (e instanceof Error && 'code' in e && e.code === 'ENOENT') return ok(NO_STATE)
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
  const fresh = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const fd = openSync(fresh, 'wx', 0o600)
    try {
      writeSync(fd, JSON.stringify(state))
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(fresh, file)
    syncFolder(dirname(file))
    return ok(undefined)
  } catch (e) {
    discard(fresh)
    return fail({
      code: 'STATE_UNWRITABLE',
      what: `The state of the global controller cannot be written to ${file}`,
      why: e instanceof Error ? e.message : String(e),
    })
  }
}

function discard(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // It was never made.
  }
}

/** The new name is on the disk only when its folder is. */
function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
