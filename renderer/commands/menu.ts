/**
 * Native menu, built from the catalogue and the current keys: global commands by group, and the commands of the current
 * view. A combination with Ctrl or Cmd is the accelerator; other keys, which a menu would intercept in every text
 * field, are shown in the title.
 */
import type { MenuModel } from '#core/api/shell.ts'
import type { CommandEntry } from './command.ts'

const TITLE_MOST = 80
const ENTRIES_MOST = 80
const FIRST = 'Console'

/** Keys whose names differ in native menus. */
const NAMES: Readonly<Record<string, string>> = {
  ArrowLeft: 'Left',
  ArrowRight: 'Right',
  ArrowUp: 'Up',
  ArrowDown: 'Down',
  '+': 'Plus',
}
const PLAIN =
  /^(?:[a-z0-9]|[,.;'[\]\\/=-]|Plus|Space|Enter|Tab|Backspace|Delete|Up|Down|Left|Right|Home|End|PageUp|PageDown)$/
const FUNCTION = /^(Shift\+)?F(?:[1-9]|1\d|2[0-4])$/

/** Converts `mod+Alt+Shift+k` to `CmdOrCtrl+Alt+Shift+K`; null if a menu cannot have it. */
export function acceleratorOf(keys: string): string | null {
  if (FUNCTION.test(keys)) return keys
  const parts = /^(mod\+)?(Alt\+)?(Shift\+)?(\S+)$/.exec(keys)
  if (!parts) return null
  const [, mod, alt, shift, key = ''] = parts
  const name = NAMES[key] ?? key
  // Alt with an arrow moves through time here and through pages elsewhere: the window handles it.
  if (mod === undefined || !PLAIN.test(name)) return null
  const last = name.length === 1 ? name.toUpperCase() : name
  return `CmdOrCtrl+${alt ? 'Alt+' : ''}${shift ? 'Shift+' : ''}${last}`
}

const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}\u2026`

export interface MenuQuery {
  readonly catalogue: readonly CommandEntry[]
  readonly keysOf: (id: string) => readonly string[]
  /** Scope and title of the current view. */
  readonly view: { readonly scope: string; readonly title: string }
  /** Reason why a command is unavailable; null if available. */
  readonly unavailableReason?: (id: string) => string | null
  /** Formats keys for display. */
  readonly text: (keys: string) => string
}

export function menuOf({ catalogue, keysOf, view, text, unavailableReason }: MenuQuery): MenuModel {
  const groups = new Map<string, MenuModel['menus'][number]['entries']>()
  for (const { id, title, scope, group, isLocal } of catalogue) {
    if (isLocal || (scope !== 'everywhere' && scope !== view.scope)) continue
    const name = scope === 'everywhere' ? (group ?? FIRST) : view.title
    const keys = keysOf(id)
    const accelerator = keys.map(acceleratorOf).find((a) => a !== null) ?? null
    const hint = accelerator === null && keys[0] !== undefined ? ` (${text(keys[0])})` : ''
    const entries = groups.get(name) ?? []
    entries.push({
      id,
      title: `${shortened(title, TITLE_MOST - hint.length)}${hint}`,
      accelerator,
      enabled: (unavailableReason?.(id) ?? null) === null,
    })
    groups.set(name, entries)
  }
  const menus = [...groups].map(([title, entries]) => ({ title, entries: entries.slice(0, ENTRIES_MOST) }))
  // The view's own commands come last, so that the other menus keep their positions.
  return { menus: [...menus.filter((m) => m.title !== view.title), ...menus.filter((m) => m.title === view.title)] }
}
