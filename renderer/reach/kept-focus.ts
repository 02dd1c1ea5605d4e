/**
 * The focus is never lost. Where the element that had it leaves the page, it goes to what stood around that: the row's table,
 * the panel, the view's main table or heading. After a change of view it goes to the new one, unless it is somewhere already.
 */
import { useEventListener } from '@vueuse/core'
import { nextTick, onBeforeUnmount, onMounted, watch } from 'vue'
import { somethingFloats } from '../commands/key-press.ts'
import { afterPicture } from '../composables/after-picture.ts'
import { focusedElement } from './pointed.ts'

const AROUND =
  '[role="table"], [role="grid"], [role="tree"], [role="list"], table, [data-table], .panel, section, aside, main'
const STARTS = ['[data-main-table]', '[role="table"][tabindex]', 'h1', 'main'] as const
/** Time that a view may take until there is something of it, ms. */
const PATIENCE_MS = 3000
/** Time in which all parts of a view have come, ms. */
const PARTS_MS = 1000

/** Elements around the one that had the focus last, the nearest first. */
let around: readonly Element[] = []
let last: Element | null = null

function remember(target: EventTarget | null): void {
  if (!(target instanceof Element)) return
  last = target
  const found: Element[] = []
  for (let part = target.parentElement?.closest(AROUND); part; part = part.parentElement?.closest(AROUND))
    found.push(part)
  around = found
}

/** Gives an element the focus, one that is no stop of Tab too. @returns whether it took it */
export function focusOn(element: Element | null | undefined): boolean {
  if (!(element instanceof HTMLElement || element instanceof SVGElement)) return false
  if (!element.hasAttribute('tabindex')) element.setAttribute('tabindex', '-1')
  element.focus({ preventScroll: true })
  return document.activeElement === element
}

/** Where a view begins for the keyboard: its main table, else its heading. */
export function viewStart(): Element | null {
  const view = document.querySelector('.view')
  for (const selector of STARTS) {
    const found = view?.querySelector(selector)
    if (found) return found
  }
  return null
}

/** Puts the focus back where what had it has left the page. @returns whether it was lost, and is not any more */
export function recoverFocus(): boolean {
  if (focusedElement() !== null || last === null || last.isConnected || somethingFloats()) return false
  const near = around.find((part) => part.isConnected)
  // The whole view is no place: it begins somewhere.
  const place = near === undefined || near.matches('main') ? (viewStart() ?? near) : near
  last = null
  return focusOn(place)
}

/** @param view  changes with the view on screen. */
export function useKeptFocus(view: () => unknown): void {
  let callOff = (): void => undefined
  /** Giving the focus makes the browser lay the page out: after the picture of what has come, not before. */
  const soon = (act: () => void): void => {
    callOff()
    callOff = afterPicture(act)
  }
  const later = (act: () => void): void => {
    const timer = setTimeout(act, 50)
    callOff = () => clearTimeout(timer)
  }
  /** A view is on its way to the page; it takes the focus itself. */
  let isComing = false
  let watcher: MutationObserver | undefined
  useEventListener(document, 'focusin', ({ target }) => remember(target))
  onMounted(() => {
    watcher = new MutationObserver(() => {
      if (isComing || last === null || last.isConnected || focusedElement() !== null) return
      // What closes gives the focus back itself, a task later.
      soon(recoverFocus)
    })
    watcher.observe(document.body, { childList: true, subtree: true })
  })
  watch(view, async (_now, before) => {
    // The first view takes none: a window that just opened has no ring in it.
    if (before === undefined || before === null) return
    const began = performance.now()
    const until = began + PATIENCE_MS
    isComing = true
    await nextTick()
    const begin = (): void => {
      isComing = false
      if (focusedElement() !== null || somethingFloats()) return
      last = null
      const start = viewStart()
      if (focusOn(start)) settle(start)
      else if (performance.now() < until) later(begin)
    }
    /** A view comes in parts: from its heading the focus goes on to its main table, unless somebody moved it. */
    const settle = (start: Element | null): void => {
      const now = viewStart()
      if (document.activeElement !== start || performance.now() > began + PARTS_MS) return
      if (now !== start && focusOn(now)) return
      later(() => settle(start))
    }
    soon(begin)
  })
  onBeforeUnmount(() => {
    callOff()
    watcher?.disconnect()
  })
}
