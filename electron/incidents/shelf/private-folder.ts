/**
 * Private folders for work in progress: accessible to their owner only, and removed with the process that made them.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning } from '../../files/is-running.ts'

const NAME = /^sluice-bundle-(\d{1,10})-[A-Za-z0-9]{6}$/

/** New folder, 0700, in another one that is created if missing. @throws the file system error. */
export function privateFolder(within: string): string {
  mkdirSync(within, { recursive: true, mode: 0o700 })
  return mkdtempSync(join(within, `sluice-bundle-${process.pid}-`))
}

export const dropFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true })

function isOld(folder: string, leastMs: number): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false })
  return stat !== undefined && (leastMs === 0 || Date.now() - stat.mtimeMs > leastMs)
}

/**
 * Removes files of killed processes from a folder.
 *
 * @param leastMs  minimum age, for a folder that processes of another machine or container use, too: their pids are not
 * comparable.
 * @returns        number of removed entries.
 */
export function sweep(within: string, leastMs = 0): number {
  let names: string[]
  try {
    names = readdirSync(within)
  } catch {
    return 0
  }
  const remaining = names.filter((name) => {
    const pid = Number(NAME.exec(name)?.[1] ?? NaN)
    return pid > 0 && pid !== process.pid && !isRunning(pid) && isOld(join(within, name), leastMs)
  })
  for (const name of remaining) {
    try {
      dropFolder(join(within, name))
    } catch {
      // Belongs to another user.
    }
  }
  return remaining.length
}
