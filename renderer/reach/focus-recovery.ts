/**
 * Focus recovery. When the focused element leaves the page, the focus moves to its surroundings: the row's table, the
 * panel, the view's main table or heading. After a change of view it moves to the new one, unless it is already
 * somewhere.
 */
import { useEventListener } from '@vueuse/core'
import { nextTick, onBeforeUnmount, onMounted, watch } from 'vue'
import { somethingFloats } from '../commands/key-press.ts'
import { afterPaint } from '../composables/after-paint.ts'
import { focusedElement } from './key-target.ts'

const AROUND =
  '[role="table"], [role="grid"], [role="tree"], [role="list"], table, [data-table], .panel, section, aside, main'
const STARTS = ['[data-main-table]', '[role="table"][tabindex]', 'h1', 'main'] as const
/** Timeout for the first element of a view, ms. */
const VIEW_TIMEOUT_MS = 3000
/** Time within which all parts of a view are mounted, ms. */
const PARTS_MS = 1000

/** Ancestors of the last focused element, nearest first. */
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

/** Focuses an element, even if it is not a tab stop. @returns true if it took the focus */
export function focusOn(element: Element | null | undefined): boolean {
  if (!(element instanceof HTMLElement || element instanceof SVGElement)) return false
  if (!element.hasAttribute('tabindex')) element.setAttribute('tabindex', '-1')
  element.focus({ preventScroll: true })
  return document.activeElement === element
}

/** Start of a view for the keyboard: its main table, else its heading. */
export function viewStart(): Element | null {
  const view = document.querySelector('.view')
  for (const selector of STARTS) {
    const found = view?.querySelector(selector)
    if (found) return found
  }
  return null
}

/** Restores the focus if its element has left the page. @returns true if it was lost and is restored */
export function recoverFocus(): boolean {
  if (focusedElement() !== null || last === null || last.isConnected || somethingFloats()) return false
  const near = around.find((part) => part.isConnected)
  // The view as a whole is not a target: its start is used.
  const place = near === undefined || near.matches('main') ? (viewStart() ?? near) : near
  last = null
  return focusOn(place)
}

/** @param view  changes with the view on screen. */
export function useFocusRecovery(view: () => unknown): void {
  let callOff = (): void => undefined
  /** Focusing forces a layout: done after the next paint, not before. */
  const soon = (act: () => void): void => {
    callOff()
    callOff = afterPaint(act)
  }
  const later = (act: () => void): void => {
    const timer = setTimeout(act, 50)
    callOff = () => clearTimeout(timer)
  }
  /** A view is being mounted and takes the focus itself. */
  let isComing = false
  let watcher: MutationObserver | undefined
  useEventListener(document, 'focusin', ({ target }) => remember(target))
  onMounted(() => {
    watcher = new MutationObserver(() => {
      if (isComing || last === null || last.isConnected || focusedElement() !== null) return
      // A closing dialog restores the focus itself, one task later.
      soon(recoverFocus)
    })
    watcher.observe(document.body, { childList: true, subtree: true })
  })
  watch(view, async (_now, before) => {
    // The first view takes no focus: a newly opened window shows no focus ring.
    if (before === undefined || before === null) return
    const began = performance.now()
    const until = began + VIEW_TIMEOUT_MS
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
    /** A view mounts in parts: the focus moves from its heading to its main table, unless the user moved it. */
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
