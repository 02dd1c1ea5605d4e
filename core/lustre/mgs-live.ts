/**
 * `mgs.MGS.live.FSNAME`: the targets of one file system that the MGS has on its books, whether they are mounted or not.
 *
 * Source: mgs_live_seq_show in lustre/mgs: `fsname: NAME`, `flags: … gen: …`, one target a line up to a blank one. Everything behind it
 * (secure RPC rules, imperative recovery) is not read. Lines that are no target of this file system are counted.
 */
import type { ByteText } from './text.ts'

const TARGETS_MOST = 4096

export interface MgsLive {
  readonly fsname: string
  readonly targets: readonly string[]
  readonly skipped: number
}

/** Reads one value; undefined for a text that does not begin as such a value does. */
export function parseMgsLive(text: ByteText): MgsLive | undefined {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.trim() !== '')
  const fsname = /^fsname: ([A-Za-z0-9_-]{1,8})$/.exec(lines[at] ?? '')?.[1]
  if (fsname === undefined) return undefined
  const targets: string[] = []
  let skipped = 0
  for (const line of lines.slice(at + 1)) {
    if (line.trim() === '') break
    if (/^flags: /.test(line)) continue
    const target = /^([A-Za-z0-9_-]{1,8})-(?:OST|MDT)[0-9a-f]{4}$/.exec(line)
    if (target?.[1] === fsname && targets.length < TARGETS_MOST) targets.push(line)
    else skipped++
  }
  return { fsname, targets, skipped }
}
