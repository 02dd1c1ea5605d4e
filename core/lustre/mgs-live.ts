/**
 * `mgs.MGS.live.FSNAME`: targets of one file system registered with the MGS, mounted or not.
 *
 * Source: mgs_live_seq_show in lustre/mgs: `fsname: NAME`, `flags: … gen: …`, one target per line up to a blank one. The rest (secure RPC
 * rules, imperative recovery) is ignored. Lines that are not a target of this file system are counted.
 */
import type { ByteText } from './text.ts'

const TARGETS_MOST = 4096

export interface MgsLive {
  readonly fsname: string
  readonly targets: readonly string[]
  readonly skipped: number
}

/** Parses one value; undefined if the text does not begin like such a value. */
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
