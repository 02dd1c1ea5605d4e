/**
 * Vue's own renderer but for one thing: a text that changes stays the node that it was. Vue puts a new text node into the element, so that
 * the browser takes the old one's boxes down and builds new ones; the tables of a console change hundreds of texts a second.
 */
import { createRenderer, nodeOps, patchProp, type App, type Component } from 'vue'

/** Of the element's only text; anything else in it goes. */
export function setElementText(el: Element, text: string): void {
  const { firstChild } = el
  if (text !== '' && firstChild instanceof Text && firstChild === el.lastChild) firstChild.data = text
  else el.textContent = text
}

const { createApp } = createRenderer<Node, Element>({ ...nodeOps, patchProp, setElementText })

/** The application of the window, not yet in the page. */
export const windowApp = (root: Component): App<Element> => createApp(root)
