/**
 * Keeps a second console off a history without keeping readers off it: an exclusive lock on a file of its own beside it. The lock is
 * the operating system's, by way of an empty SQLite database, so that it is free the moment its process is gone, however it went.
 *
 * The file is removed when the lock is given back. Whoever waited for it holds the lock of a file that nobody can find any more: so
 * the one that was locked must still be the one of that name.
 */
import Database from 'better-sqlite3'
import { closeSync, openSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export interface FileLock {
  release(): void
}

const TRIES = 20
const SUFFIX = '-lock'

/** The name that every way to the file leads to: a link to it must not have a lock of its own. */
function lockName(file: string): string {
  try {
    return realpathSync(file) + SUFFIX
  } catch {
    // There is no such file yet; its folder there is.
    return join(realpathSync(dirname(file)), basename(file) + SUFFIX)
  }
}

const inodeOf = (file: string): string | undefined => {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true })
  return stat && `${stat.dev} ${stat.ino}`
}

/** Makes the file unless it is there. One that is there is never opened and closed: that would end a lock of this very process. */
function make(name: string): void {
  try {
    closeSync(openSync(name, 'wx', 0o600))
  } catch (e) {
    if (!(e instanceof Error && 'code' in e && e.code === 'EEXIST')) throw e
  }
}

/** @returns undefined while somebody else has it. @throws what the file system says of the folder. */
export function lockFile(file: string, waitMs: number): FileLock | undefined {
  const name = lockName(file)
  for (let i = 0; i < TRIES; i++) {
    make(name)
    const before = inodeOf(name)
    const db = new Database(name, { timeout: waitMs })
    try {
      // Nothing is ever written: the file stays empty, and the transaction open until the end.
      db.exec('BEGIN EXCLUSIVE')
    } catch (e) {
      db.close()
      if (e instanceof Error && 'code' in e && /^SQLITE_(?:BUSY|LOCKED)/.test(String(e.code))) return undefined
      throw e
    }
    if (before !== undefined && inodeOf(name) === before) return { release: () => release(db, name) }
    db.close()
  }
  return undefined
}

/** Removed while it is held, so that nobody's is removed in its stead. */
function release(db: Database.Database, name: string): void {
  if (!db.open) return
  try {
    rmSync(name, { force: true })
  } catch {
    // Where an open file cannot be removed it stays, free.
  }
  db.close()
}
