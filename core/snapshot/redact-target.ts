/** Pseudonyms for targets and lock namespaces: `altair-OST0003` keeps its index and gets another file system name. */
import type { PseudonymTable } from './pseudonym-table.ts'

const TARGET =
  /^((?:filter-|mdt-|mgs-|MGS-|osd-[a-z]+\.|obdfilter\.)?)([^-\s]+(?:-[^-\s]+)*?)-((?:OST|MDT)[0-9a-fA-F]{1,4}|MGS|OST|MDT)(.*)$/s

/** File system of a target's name; undefined if the name is not a target. */
export const filesystemOf = (target: string): string | undefined => TARGET.exec(target)?.[2]

/** @param rest  replacement for the text after the index: `_UUID`, `-osc-ffff8801`. */
export function targetPseudonym(pseudonyms: PseudonymTable, target: string, rest: (text: string) => string): string {
  if (pseudonyms.isGiven(target) || target === 'MGS') return target
  const m = TARGET.exec(target)
  if (!m) return pseudonyms.of('target', target)
  const [, before, fs, which, after] = m as unknown as [string, string, string, string, string]
  return `${before}${pseudonyms.of('filesystem', fs)}-${which}${/^(?:_UUID)?$/.test(after) ? after : rest(after)}`
}
