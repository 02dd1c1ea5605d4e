/**
 * Builds elements from text. No markup is ever parsed on this page: untrusted names are text nodes, regardless of their
 * content.
 */

/**
 * @typedef {string | number | Node | null | false | undefined} Child
 * @typedef {Record<string, string | number | boolean | ((event: any) => void)>} Attributes
 */

const SVG = 'http://www.w3.org/2000/svg'

/**
 * @param {Element} element
 * @param {Attributes} attributes
 * @param {readonly Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false) element.setAttribute(name, String(value))
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue
    element.append(child instanceof Node ? child : document.createTextNode(String(child)))
  }
}

/**
 * Creates an element; a function as attribute value is an event listener.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {readonly Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  fill(element, attributes, children)
  return element
}

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {readonly Child[]} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag)
  fill(element, attributes, children)
  return element
}

/**
 * Sets a text only if it changed.
 *
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

/**
 * A panel with its heading.
 *
 * @param {string} title
 * @param {string} detail
 * @param {readonly Child[]} children
 */
export function panel(title, detail, ...children) {
  const note = el('small', {}, detail)
  const heading = el('div', { class: 'h' }, el('h2', {}, title), note)
  const element = el('section', { class: 'card', 'aria-label': title }, heading, ...children)
  return { element, heading, note }
}

/**
 * Segmented control with one active choice.
 *
 * @template {string} K
 * @param {string} label
 * @param {readonly (readonly [K, string])[]} choices
 * @param {K} chosen
 * @param {(key: K) => void} choose
 */
export function seg(label, choices, chosen, choose) {
  const buttons = choices.map(([key, words]) =>
    el('button', { type: 'button', 'aria-pressed': String(key === chosen), click: () => pick(key) }, words),
  )
  /** @param {K} key */
  const pick = (key) => {
    buttons.forEach((b, k) => b.setAttribute('aria-pressed', String(choices[k]?.[0] === key)))
    choose(key)
  }
  return el('div', { class: 'seg', role: 'group', 'aria-label': label }, ...buttons)
}
