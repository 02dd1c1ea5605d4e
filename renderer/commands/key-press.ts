/**
 * How a key press is named, and when it is text or belongs to what has the focus. Names: the character (`?`, `l`), letters
 * with Shift `Shift+l`, others as the browser calls them (`Space`, `ArrowLeft`, `Shift+ArrowLeft`); Ctrl or Cmd is `mod+`.
 */

/** Whether keys that reach `target` are text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}

/** Whether Enter and Space press what `target` is, so that they are no keys of a view there. */
export const isPressable = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('button, a[href], summary, [role="tab"], [role="switch"]') !== null

/** A dialog or a menu takes the keys for itself. */
export const somethingFloats = (): boolean => document.querySelector('[role$="dialog"], [role="menu"]') !== null

/** A modal dialog is open: what lies beneath it takes no keys, not even those with Ctrl or Cmd. */
export const isModalOpen = (): boolean => document.querySelector('[data-modal]') !== null

const modifiers: ReadonlySet<string> = new Set(['Shift', 'Control', 'Alt', 'Meta', 'AltGraph', 'CapsLock', 'Dead'])
/** Whether what was pressed only changes what the next key means. */
export const isModifier = (event: KeyboardEvent): boolean => modifiers.has(event.key)

/** Canonical name of a key press. Shift names a press of its own only where it does not already make another character. */
export function keyName(event: KeyboardEvent): string {
  const isCharacter = [...event.key].length === 1 && event.key !== ' '
  const key = event.key === ' ' ? 'Space' : isCharacter ? event.key.toLowerCase() : event.key
  const isLetter = isCharacter && event.key.toLowerCase() !== event.key.toUpperCase()
  const shift = event.shiftKey && (!isCharacter || isLetter) ? 'Shift+' : ''
  // Where a character is typed by AltGr, the modifiers are those of the character.
  if (isCharacter && event.getModifierState('AltGraph')) return key
  return `${event.ctrlKey || event.metaKey ? 'mod+' : ''}${event.altKey ? 'Alt+' : ''}${shift}${key}`
}
