/** Files that are whole or not there at all. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'

export const reason = (e: unknown): string =>
  e instanceof Error && 'code' in e && e.code === 'ENOSPC'
    ? 'the disk is full'
    : e instanceof Error
      ? e.message
      : String(e)

/** Writes beside the file, and renames it into its place when every byte is on the disk. */
export function writeWhole(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`
  try {
    const handle = openSync(fresh, 'w', 0o644)
    try {
      const bytes = Buffer.from(text, 'utf8')
      for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(fresh, file)
  } catch (e) {
    rmSync(fresh, { force: true })
    throw e
  }
}
