/**
 * The native menu, from the catalogue and the keys that hold: what acts in every view by group, and what acts in the view on screen.
 * A combination with Ctrl or Cmd stands beside its command as the platform writes it; other keys, which a menu would take from every
 * text field, stand in the title.
 */
import type { MenuModel } from '#core/api/shell.ts'
import type { CommandEntry } from './command.ts'

const TITLE_MOST = 80
const ENTRIES_MOST = 80
const FIRST = 'Console'

/** Keys whose names differ from those of native menus. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ ArrowLeft: 'Left', ArrowRight: 'Right', ArrowUp: 'Up', ArrowDown: 'Down', '+': 'Plus' },
}
const PLAIN =
  /^(?:[a-z0-9]|[,.;'[\]\\/=-]|Plus|Space|Enter|Tab|Backspace|Delete|Up|Down|Left|Right|Home|End|PageUp|PageDown)$/
const FUNCTION = /^(Shift\+)?F(?:[1-9]|1\d|2[0-4])$/

/** `mod+Alt+Shift+k` as `CmdOrCtrl+Alt+Shift+K`; null for what a menu cannot have. */
export function acceleratorOf(keys: string): string | null {
  if (FUNCTION.test(keys)) return keys
  const parts = /^(mod\+)?(Alt\+)?(Shift\+)?(\S+)$/.exec(keys)
  if (!parts) return null
  const [, mod, alt, shift, key = ''] = parts
  const name = NAMES[key] ?? key
  // Alt with an arrow moves through time here, and through pages elsewhere: the window has it.
  if (mod === undefined || !PLAIN.test(name)) return null
  const last = name.length === 1 ? name.toUpperCase() : name
  return `CmdOrCtrl+${alt ? 'Alt+' : ''}${shift ? 'Shift+' : ''}${last}`
}

const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}\u2026`

export interface MenuQuery {
  readonly catalogue: readonly CommandEntry[]
  readonly keysOf: (id: string) => readonly string[]
  /** The view on screen, as scopes name it, and its title. */
  readonly view: { readonly scope: string; readonly title: string }
  /** Why a command cannot be done now; null: it can. */
  readonly whyOff?: (id: string) => string | null
  /** Writes keys as people read them. */
  readonly text: (keys: string) => string
}

export function menuOf({ catalogue, keysOf, view, text, whyOff }: MenuQuery): MenuModel {
  const groups = new Map<string, MenuModel['menus'][number]['entries']>()
  for (const { id, title, scope, group, isLocal } of catalogue) {
    if (isLocal || (scope !== 'everywhere' && scope !== view.scope)) continue
    const name = scope === 'everywhere' ? (group ?? FIRST) : view.title
    const keys = keysOf(id)
    const accelerator = keys.map(acceleratorOf).find((a) => a !== null) ?? null
    const hint = accelerator === null && keys[0] !== undefined ? ` (${text(keys[0])})` : ''
    const entries = groups.get(name) ?? []
    entries.push({
      ...{ id, title: `${shortened(title, TITLE_MOST - hint.length)}${hint}`, accelerator },
      enabled: (whyOff?.(id) ?? null) === null,
    })
    groups.set(name, entries)
  }
  const menus = [...groups].map(([title, entries]) => ({ title, entries: entries.slice(0, ENTRIES_MOST) }))
  // The view's own commands come last, so that the others keep their place.
  return { menus: [...menus.filter((m) => m.title !== view.title), ...menus.filter((m) => m.title === view.title)] }
}
