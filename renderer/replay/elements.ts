/**
 * Builds elements from text. No markup is ever parsed on this page: untrusted names are text nodes, regardless of their
 * content.
 */
type Child = string | number | Node
type Attributes = Readonly<Record<string, string | number | boolean | ((event: Event) => void)>>

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false) element.setAttribute(name, String(value))
  }
  for (const child of children) element.append(child instanceof Node ? child : String(child))
}

/** Creates an element; a function as attribute value is an event listener. */
export function el<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag)
  fill(element, attributes, children)
  return element
}

export function svg<T extends keyof SVGElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[T] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  fill(element, attributes, children)
  return element
}

/** Sets the color that the style of an element uses as `--k`. The page's policy allows no style attributes. */
export function colored<E extends HTMLElement | SVGElement>(element: E, color: string): E {
  element.style.setProperty('--k', color)
  return element
}

/** Sets a text only if it changed. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text
}

export interface Panel {
  readonly element: HTMLElement
  readonly heading: HTMLElement
  readonly note: HTMLElement
}

/** Panel with its heading and a note beside it. */
export function panel(title: string, detail: string, ...children: Child[]): Panel {
  const note = el('small', {}, detail)
  const heading = el('div', { class: 'h' }, el('h2', {}, title), note)
  const element = el('section', { class: 'card', 'aria-label': title }, heading, ...children)
  return { element, heading, note }
}

/** Scrolling box that the keyboard reaches. */
export const scrollBox = (label: string, classes: string, ...children: Child[]): HTMLElement =>
  el('div', { class: `scroll ${classes}`.trim(), tabindex: 0, role: 'region', 'aria-label': label }, ...children)

/** Segmented control with one active choice. */
export function segments<K extends string>(
  label: string,
  choices: readonly (readonly [key: K, text: string])[],
  chosen: K,
  choose: (key: K) => void,
): HTMLElement {
  const buttons = choices.map(([key, text]) =>
    el('button', { type: 'button', 'aria-pressed': String(key === chosen), click: () => pick(key) }, text),
  )
  const pick = (key: K): void => {
    buttons.forEach((button, k) => button.setAttribute('aria-pressed', String(choices[k]?.[0] === key)))
    choose(key)
  }
  return el('div', { class: 'seg', role: 'group', 'aria-label': label }, ...buttons)
}
