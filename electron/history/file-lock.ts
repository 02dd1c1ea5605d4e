/**
 * Lock that keeps a second console off a history while readers are admitted: an exclusive lock on a separate file beside it. It is
 * a lock of the operating system, by way of an empty SQLite database, and is released when its process ends in any way.
 *
 * The file is removed when the lock is released. A waiter may then hold the lock of an unlinked file: after locking, the file must
 * still be the one at its path.
 */
import Database from 'better-sqlite3'
import { closeSync, openSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export interface FileLock {
  release(): void
}

const TRIES = 20
const SUFFIX = '-lock'

/** Canonical path of the file: a symbolic link to it must not have a separate lock. */
function lockName(file: string): string {
  try {
    return realpathSync(file) + SUFFIX
  } catch {
    // The file does not exist yet; its folder does.
    return join(realpathSync(dirname(file)), basename(file) + SUFFIX)
  }
}

const inodeOf = (file: string): string | undefined => {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true })
  return stat && `${stat.dev} ${stat.ino}`
}

/** Creates the file if it does not exist. An existing one is never opened and closed: that would release a lock of this process. */
function make(name: string): void {
  try {
    closeSync(openSync(name, 'wx', 0o600))
  } catch (e) {
    if (!(e instanceof Error && 'code' in e && e.code === 'EEXIST')) throw e
  }
}

/** @returns undefined while another process holds it. @throws errors of the file system for the folder. */
export function lockFile(file: string, waitMs: number): FileLock | undefined {
  const name = lockName(file)
  for (let i = 0; i < TRIES; i++) {
    make(name)
    const before = inodeOf(name)
    const db = new Database(name, { timeout: waitMs })
    try {
      // Nothing is ever written: the file stays empty, and the transaction open until the release.
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

/** Removes the file while it is locked, so that no lock file of another process is removed. */
function release(db: Database.Database, name: string): void {
  if (!db.open) return
  try {
    rmSync(name, { force: true })
  } catch {
    // If an open file cannot be removed, it stays, unlocked.
  }
  db.close()
}
