/** What a command is: a verb of the window with a name that stays, the keys it has unless they are changed, and where it acts. */
import type { ViewId } from './views.ts'

/**
 * Where a command acts: in every view, or in the view of that name, whose keys come first. `table` and `chart` come between: they
 * are those of the part of a view that has the focus or the pointer, and their handlers return false where none has.
 */
export type CommandScope = 'everywhere' | 'table' | 'chart' | ViewId

export type Need = 'host' | 'servers'

/** One command. Ids are part of what is kept (changed keys) and do not change. */
export interface CommandEntry {
  /** `scope.verb`, for example `rules.new`. */
  readonly id: string
  /** What it does, as the palette, the menu and the list of keys say it. */
  readonly title: string
  readonly scope: CommandScope
  /**
   * Keys by default. One press is a name of key-press.ts (`l`, `Shift+n`, `mod+k`, `Space`); presses one after the other are
   * separated by a space (`s r`). None: reached by the palette only.
   */
  readonly keys: readonly string[]
  /** Group of the list of keys; by default that of the scope. */
  readonly group?: string
  /** Cannot be given another key: Esc, Enter and arrows mean the same everywhere. */
  readonly isFixed?: true
  /** Takes something away or writes to the servers: never done by one key alone, so no single key can be chosen for it. */
  readonly isDangerous?: true
  /**
   * What it cannot be done without: the host of this window, or servers of the source on screen, to which it writes or for which it
   * stages. While there is no way to them it is offered as unavailable, with the reason.
   */
  readonly needs?: Need
  /** Shown in the list of keys only: a key inside a field or an editor, which that part handles itself. */
  readonly isLocal?: true
}
