/** Tells one state of a file from another without reading it. */
import { statSync } from 'node:fs'

/** What changes when the file does; undefined: there is none. */
export function stampOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`
}
