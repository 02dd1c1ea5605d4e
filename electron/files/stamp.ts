/** State of a file, told from another without reading it. */
import { statSync } from 'node:fs'

/** What changes when the file does, or when another takes its name; undefined: there is none. */
export function stampOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true })
  return stat && `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
}
