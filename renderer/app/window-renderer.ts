/**
 * Renderer that updates text nodes in place instead of replacing them; otherwise Vue's own. Vue inserts a new text
 * node, for which the browser discards the old layout boxes and builds new ones; the tables of a console change
 * hundreds of texts a second.
 */
import { createRenderer, nodeOps, patchProp, type App, type Component } from 'vue'

/** Sets the text of an element that contains only text; other children are removed. */
export function setElementText(el: Element, text: string): void {
  const { firstChild } = el
  if (text !== '' && firstChild instanceof Text && firstChild === el.lastChild) firstChild.data = text
  else el.textContent = text
}

const { createApp } = createRenderer<Node, Element>({ ...nodeOps, patchProp, setElementText })

/** Application of the window, not yet mounted. */
export const windowApp = (root: Component): App<Element> => createApp(root)
