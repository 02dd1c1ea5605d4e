/**
 * A control that cannot be used now, and why. `v-off="why"` disables it (a field becomes one to read), says the reason on hover and as its description; null gives back
 * what the control is disabled, titled and described by otherwise. An item of a menu is disabled by its own `disabled` beside it.
 */
import type { ObjectDirective } from 'vue'

type Why = string | null | undefined
/** What the template gives the control itself. */
type Own = Readonly<Record<string, unknown>> | null

const BOX = 'off-reasons'

/** The element that carries a reason: one a reason, however many controls say it. */
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
/** What is typed into keeps the focus and its keys: disabled under the fingers, it would hand them to the view. */
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
/** While one of its fields has the focus, a set is closed by that field alone. */
function closeSet(set: HTMLFieldSetElement, is: boolean): void {
  const typed = is ? typedIn(set) : null
  for (const field of set.querySelectorAll<HTMLInputElement>('[aria-disabled][readonly]')) {
    if (field !== typed) read(field, false)
  }
  if (typed !== null) read(typed, true)
  disable(set, is && typed === null)
}
/** The field of a set that has the focus. */
function typedIn(set: HTMLFieldSetElement): HTMLInputElement | HTMLTextAreaElement | null {
  const { activeElement } = document
  return activeElement instanceof HTMLElement && set.contains(activeElement) && isTyped(activeElement)
    ? activeElement
    : null
}
/** As the template has it: `disabled` alone is the empty text. */
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

/** The same as attributes, for a component whose root is no single element. */
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
