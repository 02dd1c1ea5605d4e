/**
 * Keys of the window. Single keys act only when no text is being typed and nothing floats above the view; combinations
 * with Ctrl or Cmd (`mod+k`) always act. Names: the character (`?`, `l`), `Space`, `ArrowLeft`, `Shift+ArrowLeft`.
 */
import { useEventListener } from '@vueuse/core'

/** A binding that returns false leaves the key to others. */
export type Bindings = Readonly<Record<string, (event: KeyboardEvent) => unknown>>

/** Whether keys that reach `target` are text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}

/** Whether Enter and Space press what `target` is, so that they are no keys of a view there. */
const isPressable = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('button, a[href], summary, [role="tab"], [role="switch"]') !== null

/** Canonical name of a key press. */
export function keyName(event: KeyboardEvent): string {
  const isCharacter = event.key.length === 1
  const key = event.key === ' ' ? 'Space' : isCharacter ? event.key.toLowerCase() : event.key
  const shift = event.shiftKey && (!isCharacter || event.key === ' ') ? 'Shift+' : ''
  // Where a character is typed by AltGr, the modifiers are those of the character.
  if (isCharacter && event.getModifierState('AltGraph')) return key
  return `${event.ctrlKey || event.metaKey ? 'mod+' : ''}${event.altKey ? 'Alt+' : ''}${shift}${key}`
}

/** A dialog or a menu takes the keys for itself. */
export const somethingFloats = (): boolean => document.querySelector('[role="dialog"], [role="menu"]') !== null

export function useKeys(bindings: Bindings): void {
  useEventListener(window, 'keydown', (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return
    const name = keyName(event)
    if (!name.startsWith('mod+') && (isTyping(event.target) || somethingFloats())) return
    if ((name === 'Enter' || name === 'Space') && isPressable(event.target)) return
    const act = bindings[name]
    if (act && act(event) !== false) event.preventDefault()
  })
}
