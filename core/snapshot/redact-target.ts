/** Targets and lock namespaces: `altair-OST0003` keeps what says which it is, and loses the name of its file system. */
import type { StandIns } from './stand-ins.ts'

const TARGET =
  /^((?:filter-|mdt-|mgs-|MGS-|osd-[a-z]+\.|obdfilter\.)?)([^-\s]+(?:-[^-\s]+)*?)-((?:OST|MDT)[0-9a-fA-F]{1,4}|MGS|OST|MDT)(.*)$/s

/** File system of a target's name; undefined for a name of another form. */
export const filesystemOf = (target: string): string | undefined => TARGET.exec(target)?.[2]

/** @param rest  what to do with what is behind the number: `_UUID`, `-osc-ffff8801`. */
export function targetStandIn(standIns: StandIns, target: string, rest: (text: string) => string): string {
  if (standIns.isGiven(target) || target === 'MGS') return target
  const m = TARGET.exec(target)
  if (!m) return standIns.of('target', target)
  const [, before, fs, which, after] = m as unknown as [string, string, string, string, string]
  return `${before}${standIns.of('filesystem', fs)}-${which}${/^(?:_UUID)?$/.test(after) ? after : rest(after)}`
}
