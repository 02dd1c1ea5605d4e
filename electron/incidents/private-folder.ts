/** Folders for what is being made or looked at: for their owner only, and gone with the process that made them. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const NAME = /^sluice-bundle-(\d{1,10})-[A-Za-z0-9]{6}$/

/** A new folder, 0700, in another one that is made where it is not there. @throws what the file system says. */
export function privateFolder(within: string): string {
  mkdirSync(within, { recursive: true, mode: 0o700 })
  return mkdtempSync(join(within, `sluice-bundle-${process.pid}-`))
}

export const dropFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true })

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (e) {
    // Somebody else's process: it is one that runs.
    return e instanceof Error && 'code' in e && e.code === 'EPERM'
  }
}

/** Removes what processes that were killed left in a folder. Returns how many. */
export function sweep(within: string): number {
  let names: string[]
  try {
    names = readdirSync(within)
  } catch {
    return 0
  }
  const left = names.filter((name) => {
    const pid = Number(NAME.exec(name)?.[1] ?? NaN)
    return pid > 0 && pid !== process.pid && !isRunning(pid)
  })
  for (const name of left) {
    try {
      dropFolder(join(within, name))
    } catch {
      // Of another user.
    }
  }
  return left.length
}
