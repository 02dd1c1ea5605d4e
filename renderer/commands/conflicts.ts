/** Conflicts of key bindings: whether a command can have a key, and which commands it would hide. */
import type { CommandEntry } from './command.ts'
import { isClash, isSingleKey, parseKeys, pressesOf } from './keys.ts'

const fixed = new Set(['Escape', 'Enter', 'Tab', 'Shift+Tab', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'])
const editing = new Set(['mod+c', 'mod+v', 'mod+x', 'mod+a', 'mod+z', 'mod+y', 'mod+Shift+z'])
const outside = new Set([
  ...['w', 't', 'q', 'r', 'n', 'm', 'h', 'l', 'p', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '-', '='].map(
    (key) => `mod+${key}`,
  ),
  ...['n', 't', 'w', 'q', 'r', 'i', 'j', 'c', 'Delete'].map((key) => `mod+Shift+${key}`),
  'mod+Tab',
  'mod+Shift+Tab',
  'Alt+F4',
  'Alt+Tab',
  'Alt+Space',
  'F5',
  'F11',
  'F12',
  'ContextMenu',
])

/** Returns why a key is reserved, or null. */
export function reservedWhy(keys: string): string | null {
  for (const press of pressesOf(keys)) {
    if (fixed.has(press)) return 'Esc, Enter, Tab and the arrow keys mean the same everywhere'
    if (editing.has(press)) return 'reserved for text editing'
    if (outside.has(press)) return 'reserved by the browser or the system'
  }
  return null
}

export type Keymap = ReadonlyMap<string, readonly string[]>
export const KEYS_MOST = 4

/** Conflict: a key that could mean two commands. */
interface Conflict {
  readonly code: 'CONFLICT'
  readonly why: string
  readonly other: CommandEntry
  /** Conflicting keys of the other command. */
  readonly otherKeys: string
}
export type KeyFault =
  Conflict | { readonly code: 'UNKNOWN_KEY' | 'RESERVED' | 'FIXED' | 'TOO_MANY' | 'SINGLE_KEY'; readonly why: string }

/** Relation of two commands with the same key: `covers` = the first takes precedence and hides the other. */
function relation(a: CommandEntry, b: CommandEntry): 'conflict' | 'covers' | 'covered' | 'apart' {
  if (a.scope === b.scope) return 'conflict'
  const depth = ({ scope }: CommandEntry): number =>
    scope === 'everywhere' ? 0 : scope === 'table' || scope === 'chart' ? 1 : 2
  const da = depth(a)
  const db = depth(b)
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

/** Returns why a command cannot have `keys`, or null. */
export function faultOf(
  entry: CommandEntry,
  keys: string,
  all: readonly CommandEntry[],
  keymap: Keymap,
): KeyFault | null {
  const isOwn = entry.keys.includes(keys)
  if (parseKeys(keys) !== keys) return { code: 'UNKNOWN_KEY', why: 'not a valid key' }
  if ((entry.isFixed || entry.isLocal) && !isOwn) return { code: 'FIXED', why: 'this command has a fixed key' }
  const reserved = isOwn ? null : reservedWhy(keys)
  if (reserved !== null) return { code: 'RESERVED', why: reserved }
  if (entry.isDangerous && isSingleKey(keys))
    return { code: 'SINGLE_KEY', why: 'destructive commands need a combination or a sequence' }
  const hit = clashes(entry, keys, all, keymap).find((c) => c.how === 'conflict')
  if (!hit) return null
  const { other, theirs } = hit
  const why = theirs === keys ? `already used by "${other.title}"` : `overlaps the key of "${other.title}"`
  return { code: 'CONFLICT', why, other, otherKeys: theirs }
}

/** Global commands that a view's key hides there, and view commands that hide a global key. */
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

/**
 * Faults of a keymap by command: of all commands, or of the changed ones, because a conflict is reported for both
 * sides.
 */
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
        ? { code: 'CONFLICT', why: 'ambiguous with another key of this command', other: entry, otherKeys: k }
        : faultOf(entry, k, all, keymap)
      if (fault && !faults.has(entry.id)) faults.set(entry.id, fault)
    })
  }
  return faults
}
