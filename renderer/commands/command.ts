/** Type of a command: an action of the window with a stable id, its default keys, and its scope. */
import type { ViewId } from './views.ts'

/**
 * Scope of a command: every view, or the named view, whose keys take precedence. `table` and `chart` are in between:
 * they belong to the part of a view that has the focus or the pointer, and their handlers return false if there is
 * none.
 */
export type CommandScope = 'everywhere' | 'table' | 'chart' | ViewId

export type Need = 'host' | 'servers'

/** One command. Ids are stored with changed keys and must not change. */
export interface CommandEntry {
  /** `scope.verb`, for example `rules.new`. */
  readonly id: string
  /** Title in the palette, the menu and the list of keys. */
  readonly title: string
  readonly scope: CommandScope
  /** Further words by which the palette finds it. */
  readonly keywords?: string
  /**
   * Default keys. A press is a name of key-press.ts (`l`, `Shift+n`, `mod+k`, `Space`); the presses of a sequence are
   * separated by a space (`s r`). None: reached by the palette only.
   */
  readonly keys: readonly string[]
  /** Group in the list of keys; by default that of the scope. */
  readonly group?: string
  /** Cannot be rebound: Esc, Enter and arrow keys mean the same everywhere. */
  readonly isFixed?: true
  /** Deletes something or writes to the servers: never done by one key alone, so it cannot be bound to a single key. */
  readonly isDangerous?: true
  /**
   * Requirement: the host of this window, or the servers of the current source, to which it writes or for which it
   * stages. While these are unreachable it is shown as unavailable, with the reason.
   */
  readonly needs?: Need
  /** Shown in the list of keys only: a key inside a field or an editor, which handles it itself. */
  readonly isLocal?: true
}
