/** Atomic file writes: a reader sees the old or the new file, even after the writer was killed. */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './faults.ts'

/**
 * Completed steps of a write, in order; after the first four the old file is still in place, after the last the new
 * one.
 */
export type Step = 'begun' | 'opened' | 'written' | 'synced' | 'named'

/** Suffix of files that are being written. */
export const PART = '.part'

const besideOf = (file: string): string => `${file}.${randomBytes(6).toString('hex')}${PART}`

/** Removes a partial file; an obstacle is reported by the write itself. */
function drop(part: string): void {
  try {
    rmSync(part, { force: true })
  } catch {
    // Nothing to remove.
  }
}

/** Makes a rename durable. Systems that cannot sync folders do this themselves. */
function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, constants.O_RDONLY)
    try {
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch {
    // The file is complete all the same.
  }
}

/**
 * Writes a temporary file and renames it once it is on disk.
 *
 * @param mode  permissions; owner only by default.
 * @param at    called after each step (tests end the process there).
 * @throws      the system error; the temporary file is removed and the old file kept.
 */
export function writeFileAtomic(
  file: string,
  text: string,
  {
    mode = 0o600,
    at = () => undefined,
  }: { readonly mode?: number; readonly at?: ((step: Step) => void) | undefined } = {},
): void {
  const beside = besideOf(file)
  at('begun')
  try {
    const handle = openSync(beside, 'wx', mode)
    try {
      at('opened')
      const bytes = Buffer.from(text, 'utf8')
      // A nearly full disk writes less than requested.
      for (let done = 0; done < bytes.length;) done += writeSync(handle, bytes, done)
      at('written')
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    at('synced')
    renameSync(beside, file)
  } catch (e) {
    drop(beside)
    throw e
  }
  syncFolder(dirname(file))
  at('named')
}

/** Same for a long text, without blocking. @throws the system error. */
export async function writeFileAtomicLater(file: string, text: string): Promise<void> {
  const beside = besideOf(file)
  try {
    const handle = await open(beside, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(beside, file)
  } catch (e) {
    await rm(beside, { force: true }).catch(() => undefined)
    throw e
  }
}

/**
 * Renames a complete file without replacing an existing one.
 *
 * @returns  true if renamed; false if a file of that name exists, which is kept.
 * @throws   any other system error.
 */
export function takeName(part: string, file: string): boolean {
  try {
    linkSync(part, file)
    rmSync(part)
  } catch (e) {
    if (hasCode(e, 'EEXIST')) return false
    // File system without hard links.
    if (existsSync(file)) return false
    renameSync(part, file)
  }
  return true
}
