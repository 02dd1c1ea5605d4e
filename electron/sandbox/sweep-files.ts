/** Atomic file writes. */
import { writeFileAtomic as write } from '../files/atomic-file.ts'

export const reason = (e: unknown): string =>
  e instanceof Error && 'code' in e && e.code === 'ENOSPC'
    ? 'the disk is full'
    : e instanceof Error
      ? e.message
      : String(e)

/** Writes atomically; results inherit the access of their folder. */
export const writeFileAtomic = (file: string, text: string): void => write(file, text, { mode: 0o644 })
