/** Commands with their keys for lists of keys: by group, the current view first. */
import { catalogue, type CommandId } from './catalogue.ts'
import type { CommandEntry } from './command.ts'
import { formatKeys, platform } from './keys.ts'

export interface KeyEntry {
  readonly id: CommandId
  readonly title: string
  readonly keys: readonly string[]
  readonly entry: CommandEntry
}
export interface KeyGroup {
  readonly title: string
  /** True for the group of the current view. */
  readonly isHere: boolean
  readonly entries: readonly KeyEntry[]
}

const viewTitles: Readonly<Record<string, string>> = { metadata: 'Metadata QoS', everywhere: 'Everywhere' }
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
export const groupTitle = ({ group, scope }: CommandEntry): string => group ?? viewTitles[scope] ?? capital(scope)

/** @param view  name of the current view */
export function keyGroups(keymap: ReadonlyMap<string, readonly string[]>, view: string): KeyGroup[] {
  const entries = catalogue.map((entry): KeyEntry => {
    // Keys handled inside a part of the window cannot be rebound.
    const keys = entry.isLocal ? entry.keys : (keymap.get(entry.id) ?? [])
    return { id: entry.id, title: entry.title, keys, entry }
  })
  const groups = [...Map.groupBy(entries, ({ entry }) => groupTitle(entry))].map(([title, of]) => ({
    title,
    entries: of,
    isHere: of.some(({ entry }) => entry.scope === view),
    isShared: of.every(
      ({ entry }) => entry.scope === 'everywhere' || entry.scope === 'table' || entry.scope === 'chart',
    ),
  }))
  const place = (g: (typeof groups)[number]): number => (g.isHere ? 0 : g.isShared ? 1 : 2)
  return groups
    .sort((a, b) => place(a) - place(b))
    .map(({ title, entries: of, isHere }) => ({ title, entries: of, isHere }))
}

/** Entries with every word of the query in their title, group or keys. */
export function matchingGroups(groups: readonly KeyGroup[], text: string): KeyGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return groups.flatMap((group) => {
    const entries = group.entries.filter(({ title, keys }) => {
      const haystack = [title, group.title, ...keys, ...keys.map((k) => formatKeys(k, platform))]
        .join(' ')
        .toLowerCase()
      return words.every((word) => haystack.includes(word))
    })
    return entries.length === 0 ? [] : [{ ...group, entries }]
  })
}
