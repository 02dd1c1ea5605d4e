/**
 * Numbers of incidents: each is given once, also when the incident is gone, and also by two consoles on one folder.
 *
 * A number is taken by making an empty file that is not there yet. The last ones stay; one that was swept away long ago can be made again,
 * but then the highest is far above it, and it is not used.
 */
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../files/faults.ts'
import { Unread } from '../../files/plain-file.ts'

/** Numbers that stay as files. */
const KEPT = 32
const TRIES = 1_000
/** Numbers beyond are no count of anything: somebody named a file so. */
const MOST = 900_000_000

export const idOf = (number: number): string => `INC-${String(number).padStart(4, '0')}`

/** The number of `INC-0042`, or of a name that begins so; 0 for another name. */
export const numberOf = (name: string): number => Number(/^INC-(\d{4,9})(?:\.|$)/.exec(name)?.[1] ?? 0)

/** The highest number among names, of those that are a count. */
export const highestIn = (names: readonly string[]): number => highestOf(names.map(numberOf).filter((n) => n <= MOST))

/** Names in a folder; none where there is no folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (e) {
    if (hasCode(e, 'ENOENT')) return []
    throw e
  }
}

const highestOf = (numbers: readonly number[]): number => numbers.reduce((high, n) => Math.max(high, n), 0)

function taken(folder: string): number[] {
  return namesIn(folder).flatMap((name) => (/^\d{1,9}$/.test(name) ? [Number(name)] : []))
}

/**
 * Takes the next number.
 *
 * @param folder   of the numbers; made where it is not there.
 * @param present  highest number that stands in the folders of incidents.
 * @throws         Unread where no number is left; what the system says where none can be taken.
 */
export function takeNumber(folder: string, present: () => number): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (let i = 0; i < TRIES; i++) {
    const next = Math.max(present(), highestOf(taken(folder))) + 1
    if (next > MOST) throw new Unread(`numbers end at ${MOST}`)
    try {
      closeSync(openSync(join(folder, String(next)), 'wx', 0o600))
    } catch (e) {
      if (hasCode(e, 'EEXIST')) continue
      throw e
    }
    const now = taken(folder)
    const highest = highestOf(now)
    // Others have taken so many since that it may be one that had been given and swept away.
    if (highest - next >= KEPT / 2) continue
    for (const n of now) if (n < highest - KEPT) rmSync(join(folder, String(n)), { force: true })
    return next
  }
  throw new Unread('other consoles take numbers faster than this one')
}
