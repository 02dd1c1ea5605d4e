/** Files that are written whole or not at all: whoever reads one, after whatever ended its writing, reads the old or the new one. */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './faults.ts'

/** What a write has done, in order; the first four leave the old file, the last the new one. */
export type Step = 'begun' | 'opened' | 'written' | 'synced' | 'named'

/** Ends the names of files that are being written. */
export const PART = '.part'

const besideOf = (file: string): string => `${file}.${randomBytes(6).toString('hex')}${PART}`

/** Removes what was begun; what is in its way then is said by the write itself. */
function drop(part: string): void {
  try {
    rmSync(part, { force: true })
  } catch {
    // Where it could not be written there is nothing to remove.
  }
}

/** Makes a rename last. A system whose folders cannot be synced does it by itself. */
function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, constants.O_RDONLY)
    try {
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch {
    // The file is whole all the same.
  }
}

/**
 * Writes a file beside its place and gives it its name when it is on disk.
 *
 * @param mode  its rights: for its owner only where nothing else is said.
 * @param at    called after each step (tests end the process there).
 * @throws      what the system says; nothing is left and the old file stands.
 */
export function writeWhole(
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
      // A disk that is nearly full takes less than it is given.
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

/** The same for a long text, while everything else goes on. @throws what the system says. */
export async function writeWholeLater(file: string, text: string): Promise<void> {
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
 * Gives a whole file its name, and never another one's.
 *
 * @returns  whether it has it; false: there is a file of that name, which stands.
 * @throws   what the system says otherwise.
 */
export function takeName(part: string, file: string): boolean {
  try {
    linkSync(part, file)
    rmSync(part)
  } catch (e) {
    if (hasCode(e, 'EEXIST')) return false
    // A file system without links.
    if (existsSync(file)) return false
    renameSync(part, file)
  }
  return true
}
