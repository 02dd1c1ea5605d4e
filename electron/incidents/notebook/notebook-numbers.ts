/**
 * Numbers of incidents: each is assigned once, even if the incident is removed, and with two consoles on one folder.
 *
 * A number is taken by creating an empty file. The latest ones remain; a number whose file was pruned could be created
 * again, but the highest is then far above it, and it is not used.
 */
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../files/faults.ts'
import { UnreadableFile } from '../../files/plain-file.ts'

/** Numbers kept as files. */
const NUMBERS_MAX = 32
const TRIES = 1_000
/** Larger numbers are not counted: they come from files that a person named. */
const MOST = 900_000_000

export const idOf = (number: number): string => `INC-${String(number).padStart(4, '0')}`

/** Number of `INC-0042`, or of a name that begins with it; 0 for another name. */
export const numberOf = (name: string): number => Number(/^INC-(\d{4,9})(?:\.|$)/.exec(name)?.[1] ?? 0)

/** Highest number among names, ignoring those above the maximum. */
export const highestIn = (names: readonly string[]): number => highestOf(names.map(numberOf).filter((n) => n <= MOST))

/** Names in a folder; empty if there is no folder. */
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
 * @param folder   folder of the numbers; created if missing.
 * @param present  highest number in the folders of incidents.
 * @throws         Unread if no number is left; the system error if none can be taken.
 */
export function takeNumber(folder: string, present: () => number): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (let i = 0; i < TRIES; i++) {
    const next = Math.max(present(), highestOf(taken(folder))) + 1
    if (next > MOST) throw new UnreadableFile(`there are no numbers above ${MOST}`)
    try {
      closeSync(openSync(join(folder, String(next)), 'wx', 0o600))
    } catch (e) {
      if (hasCode(e, 'EEXIST')) continue
      throw e
    }
    const now = taken(folder)
    const highest = highestOf(now)
    // Other consoles have taken so many since that this number may have been assigned and pruned.
    if (highest - next >= NUMBERS_MAX / 2) continue
    for (const n of now) if (n < highest - NUMBERS_MAX) rmSync(join(folder, String(n)), { force: true })
    return next
  }
  throw new UnreadableFile('other consoles take numbers faster than this one')
}
