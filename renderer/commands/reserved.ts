/** Keys that cannot be chosen: those that mean the same everywhere, and those that a browser or the system keeps for itself. */
import { pressesOf } from './keys.ts'

const fixed = new Set(['Escape', 'Enter', 'Tab', 'Shift+Tab', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'])
const editing = new Set(['mod+c', 'mod+v', 'mod+x', 'mod+a', 'mod+z', 'mod+y', 'mod+Shift+z'])
const outside = new Set([
  ...['w', 't', 'q', 'r', 'n', 'm', 'h', 'l', 'p', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '-', '='].map(
    (key) => `mod+${key}`,
  ),
  ...['n', 't', 'w', 'q', 'r', 'i', 'j', 'c', 'Delete'].map((key) => `mod+Shift+${key}`),
  ...['mod+Tab', 'mod+Shift+Tab', 'Alt+F4', 'Alt+Tab', 'Alt+Space', 'F5', 'F11', 'F12', 'ContextMenu'],
])

/** Why a key cannot be chosen; null where it can. */
export function reservedWhy(keys: string): string | null {
  for (const press of pressesOf(keys)) {
    if (fixed.has(press)) return 'Esc, Enter, Tab and the arrows mean the same everywhere'
    if (editing.has(press)) return 'it belongs to the text that is edited'
    if (outside.has(press)) return 'the browser or the system takes it first'
  }
  return null
}
