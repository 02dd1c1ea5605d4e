/**
 * Disabled control with a reason. `v-off="why"` disables it (a text field becomes read-only) and shows the reason as
 * tooltip and description; null restores the control's own disabled state, title and description. A menu item is
 * disabled by its own `disabled` as well.
 */
import type { ObjectDirective } from 'vue'

type Why = string | null | undefined
/** Props from the template of the control. */
type Own = Readonly<Record<string, unknown>> | null

const BOX = 'off-reasons'

/** Id of the element that contains a reason; one per reason, shared by all controls. */
function idOf(why: string): string {
  let box = document.getElementById(BOX)
  if (box === null) {
    box = Object.assign(document.createElement('div'), { id: BOX, hidden: true })
    document.body.append(box)
  }
  const known = [...box.children].find((line) => line.textContent === why)
  if (known) return known.id
  const line = Object.assign(document.createElement('p'), {
    id: `off-reason-${box.children.length}`,
    textContent: why,
  })
  box.append(line)
  return line.id
}

const setOrRemove = (element: HTMLElement, name: string, value: unknown): void => {
  if (typeof value === 'string' && value !== '') element.setAttribute(name, value)
  else element.removeAttribute(name)
}
const disable = (element: HTMLElement, is: boolean): void => {
  if ('disabled' in element && element.disabled !== is) element.disabled = is
}
/** Text fields keep the focus and their keys: disabled while typing, they would pass keys to the view. */
const isTyped = (element: HTMLElement): element is HTMLInputElement | HTMLTextAreaElement =>
  element instanceof HTMLTextAreaElement ||
  (element instanceof HTMLInputElement && !['checkbox', 'radio', 'button', 'file', 'range'].includes(element.type))
function close(element: HTMLElement, is: boolean): void {
  if (element instanceof HTMLFieldSetElement) closeSet(element, is)
  else if (isTyped(element)) read(element, is)
  else disable(element, is)
}
function read(field: HTMLInputElement | HTMLTextAreaElement, only: boolean): void {
  field.readOnly = only
  setOrRemove(field, 'aria-disabled', only ? 'true' : '')
}
/** While one of its fields has the focus, a fieldset only makes that field read-only. */
function closeSet(set: HTMLFieldSetElement, is: boolean): void {
  const typed = is ? typedIn(set) : null
  for (const field of set.querySelectorAll<HTMLInputElement>('[aria-disabled][readonly]')) {
    if (field !== typed) read(field, false)
  }
  if (typed !== null) read(typed, true)
  disable(set, is && typed === null)
}
/** Text field of a fieldset that has the focus. */
function typedIn(set: HTMLFieldSetElement): HTMLInputElement | HTMLTextAreaElement | null {
  const { activeElement } = document
  return activeElement instanceof HTMLElement && set.contains(activeElement) && isTyped(activeElement)
    ? activeElement
    : null
}
/** `disabled` without a value is the empty string. */
const isOwnDisabled = (own: Own): boolean => own?.disabled === '' || own?.disabled === true

function apply(element: HTMLElement, why: Why, own: Own): void {
  if (why) {
    close(element, true)
    setOrRemove(element, 'title', why)
    setOrRemove(element, 'aria-describedby', idOf(why))
    return
  }
  close(element, false)
  disable(element, isOwnDisabled(own))
  setOrRemove(element, 'title', own?.title)
  setOrRemove(element, 'aria-describedby', own?.['aria-describedby'])
}

/** The same as attributes, for a component without a single root element. */
export const offAttributes = (why: Why): Record<string, unknown> =>
  why ? { disabled: true, title: why, 'aria-describedby': idOf(why) } : {}

export const vOff: ObjectDirective<HTMLElement, Why> = {
  mounted: (element, { value }, { props }) => {
    if (value) apply(element, value, props)
  },
  updated: (element, { value, oldValue }, { props }) => {
    if (value || oldValue) apply(element, value, props)
  },
}
