/** File state, to detect changes without reading the file. */
import { statSync } from 'node:fs'

/** Stamp that changes when the file changes or is replaced; undefined if there is no file. */
export function stampOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true })
  return stat && `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
}
