/**
 * Names of key presses, and whether a press is text input or belongs to the focused element. Names: the character (`?`,
 * `l`), letters with Shift `Shift+l`, others as the browser names them (`Space`, `ArrowLeft`, `Shift+ArrowLeft`); Ctrl
 * or Cmd is `mod+`.
 */

/** True if `target` takes text input. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  // Outside of a shadow tree, as of a code field, its focused element is reported as the host of the tree.
  const inner = target.shadowRoot?.activeElement
  if (inner) return isTyping(inner)
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}

/** True if Enter and Space activate `target`, so that they are not available to a view there. */
export const isPressable = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('button, a[href], summary, [role="tab"], [role="switch"]') !== null

const ARROWED = [
  '[role="radiogroup"]',
  '[role="slider"]',
  '[role="tablist"]',
  '[role="menubar"]',
  '[aria-haspopup="menu"]',
  '[aria-haspopup="listbox"]',
].join(', ')
/** True if arrow keys choose within `target`, so that they do not step through samples there. */
export const takesArrows = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(ARROWED) !== null

/** True while a dialog or a menu is open, which takes the keys. */
export const somethingFloats = (): boolean => document.querySelector('[role$="dialog"], [role="menu"]') !== null

/** True while a modal dialog is open: nothing beneath it takes keys, not even with Ctrl or Cmd. */
export const isModalOpen = (): boolean => document.querySelector('[data-modal]') !== null

const modifiers: ReadonlySet<string> = new Set(['Shift', 'Control', 'Alt', 'Meta', 'AltGraph', 'CapsLock', 'Dead'])
/** True if the key pressed is only a modifier. */
export const isModifier = (event: KeyboardEvent): boolean => modifiers.has(event.key)

/** Canonical name of a key press. Shift is named only if it does not already produce another character. */
export function keyName(event: KeyboardEvent): string {
  const isCharacter = [...event.key].length === 1 && event.key !== ' '
  const key = event.key === ' ' ? 'Space' : isCharacter ? event.key.toLowerCase() : event.key
  const isLetter = isCharacter && event.key.toLowerCase() !== event.key.toUpperCase()
  const shift = event.shiftKey && (!isCharacter || isLetter) ? 'Shift+' : ''
  // For a character typed with AltGr, the modifiers are part of the character.
  if (isCharacter && event.getModifierState('AltGraph')) return key
  return `${event.ctrlKey || event.metaKey ? 'mod+' : ''}${event.altKey ? 'Alt+' : ''}${shift}${key}`
}
