/** What keys are about: the element with the focus or the one under the pointer, whichever was moved last. */
import { useEventListener } from '@vueuse/core'

let pointed: Element | null = null
/** Which of the two was moved last. */
let isPointer = false
/** Keys that move the focus, or the row that is meant. */
const MOVES: ReadonlySet<string> = new Set([
  ...['Tab', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown', 'j', 'k'],
])

/** Follows the pointer while the component that calls it lives. */
export function usePointer(): void {
  useEventListener(document, 'pointerover', ({ target }: PointerEvent) => {
    pointed = target instanceof Element ? target : null
  })
  // Content that moves on under a resting pointer is no wish of the hand.
  useEventListener(document, 'pointermove', () => (isPointer = true), { passive: true })
  useEventListener(document, 'pointerleave', () => (pointed = null))
  useEventListener(document, 'keydown', ({ key }: KeyboardEvent) => isPointer && (isPointer = !MOVES.has(key)), {
    capture: true,
  })
}
export const pointedElement = (): Element | null => (pointed?.isConnected ? pointed : null)

/** The element with the focus; null while it is nowhere. */
export function focusedElement(): Element | null {
  const { activeElement } = document
  return activeElement === null || activeElement === document.body ? null : activeElement
}

/** Both, the one that was moved last before the other. */
export const aims = (): Element[] =>
  (isPointer ? [pointedElement(), focusedElement()] : [focusedElement(), pointedElement()]).filter((e) => e !== null)

/** A chart is meant other than those that their view tells as a table of its own (`data-own-values`). */
export function isOtherChartMeant(): boolean {
  const chart = aimedAt('[data-chart]')
  return chart !== null && chart.closest('[data-own-values]') === null
}

/** The nearest part of a kind around what was moved last, else around the other. */
export function aimedAt(selector: string): HTMLElement | null {
  for (const element of aims()) {
    const part = element.closest<HTMLElement>(selector)
    if (part !== null) return part
  }
  return null
}
