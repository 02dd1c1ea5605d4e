/** Files that are whole or not there at all. */
import { writeWhole as write } from '../files/whole-file.ts'

export const reason = (e: unknown): string =>
  e instanceof Error && 'code' in e && e.code === 'ENOSPC'
    ? 'the disk is full'
    : e instanceof Error
      ? e.message
      : String(e)

/** Whole or not at all; results are for whoever may read their folder. */
export const writeWhole = (file: string, text: string): void => write(file, text, { mode: 0o644 })
