/** Whether a command can have a key: what stands against it, and what it would cover. */
import type { CommandEntry } from './command.ts'
import { isClash, isSingleKey, parseKeys } from './keys.ts'
import { reservedWhy } from './reserved.ts'

export type Keymap = ReadonlyMap<string, readonly string[]>
export const KEYS_MOST = 4

/** Two commands that could both be meant. */
interface Conflict {
  readonly code: 'CONFLICT'
  readonly why: string
  readonly other: CommandEntry
  /** The other's keys that are in the way. */
  readonly otherKeys: string
}
export type KeyFault =
  Conflict | { readonly code: 'UNKNOWN_KEY' | 'RESERVED' | 'FIXED' | 'TOO_MANY' | 'SINGLE_KEY'; readonly why: string }

/** How two commands with the same key get along: `covers` = the first is asked first and the other waits behind it. */
function relation(a: CommandEntry, b: CommandEntry): 'conflict' | 'covers' | 'covered' | 'apart' {
  if (a.scope === b.scope) return 'conflict'
  const depth = ({ scope }: CommandEntry): number =>
    scope === 'everywhere' ? 0 : scope === 'table' || scope === 'chart' ? 1 : 2
  const [da, db] = [depth(a), depth(b)]
  return da === db ? 'apart' : da > db ? 'covers' : 'covered'
}

const takesKeys = (entry: CommandEntry): boolean => !entry.isLocal
function clashes(entry: CommandEntry, keys: string, all: readonly CommandEntry[], keymap: Keymap) {
  return all
    .filter((other) => other.id !== entry.id && takesKeys(other))
    .flatMap((other) =>
      (keymap.get(other.id) ?? [])
        .filter((theirs) => isClash(theirs, keys))
        .map((theirs) => ({ other, theirs, how: relation(entry, other) })),
    )
}

/** What stands against giving `keys` to a command; null where nothing does. */
export function faultOf(
  entry: CommandEntry,
  keys: string,
  all: readonly CommandEntry[],
  keymap: Keymap,
): KeyFault | null {
  const isOwn = entry.keys.includes(keys)
  if (parseKeys(keys) !== keys) return { code: 'UNKNOWN_KEY', why: 'it is no key that can be named' }
  if ((entry.isFixed || entry.isLocal) && !isOwn) return { code: 'FIXED', why: 'its key means the same everywhere' }
  const reserved = isOwn ? null : reservedWhy(keys)
  if (reserved !== null) return { code: 'RESERVED', why: reserved }
  if (entry.isDangerous && isSingleKey(keys))
    return { code: 'SINGLE_KEY', why: 'what takes away or writes needs a combination or two presses' }
  const hit = clashes(entry, keys, all, keymap).find((c) => c.how === 'conflict')
  if (!hit) return null
  const { other, theirs } = hit
  const why = theirs === keys ? `it is that of "${other.title}"` : `with it begins or ends that of "${other.title}"`
  return { code: 'CONFLICT', why, other, otherKeys: theirs }
}

/** Commands of every view that a view's key hides there, and commands of views that hide a key of every view. */
export function coverOf(
  entry: CommandEntry,
  keys: string,
  all: readonly CommandEntry[],
  keymap: Keymap,
): { covers: CommandEntry[]; coveredBy: CommandEntry[] } {
  const found = clashes(entry, keys, all, keymap)
  const of = (how: 'covers' | 'covered') => [...new Set(found.filter((c) => c.how === how).map((c) => c.other))]
  return { covers: of('covers'), coveredBy: of('covered') }
}

/** Faults of a keymap, by command: of the whole, or of those that were changed, because a conflict shows at either side. */
export function faultsOf(
  all: readonly CommandEntry[],
  keymap: Keymap,
  changed: readonly CommandEntry[] = all,
): Map<string, KeyFault> {
  const faults = new Map<string, KeyFault>()
  for (const entry of changed.filter(takesKeys)) {
    const keys = keymap.get(entry.id) ?? []
    if (keys.length > KEYS_MOST)
      faults.set(entry.id, { code: 'TOO_MANY', why: `a command has at most ${KEYS_MOST} keys` })
    keys.forEach((k, i) => {
      const fault: KeyFault | null = keys.some((other, j) => j !== i && isClash(other, k))
        ? { code: 'CONFLICT', why: 'its own keys cannot be told apart', other: entry, otherKeys: k }
        : faultOf(entry, k, all, keymap)
      if (fault && !faults.has(entry.id)) faults.set(entry.id, fault)
    })
  }
  return faults
}
