/** Target of keys: the focused element or the one under the pointer, whichever was moved last. */
import { useEventListener } from '@vueuse/core'

let pointed: Element | null = null
/** True if the pointer was moved last. */
let isPointer = false
/** Keys that move the focus or the row cursor. */
const MOVES: ReadonlySet<string> = new Set([
  'Tab',
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
  'Home',
  'End',
  'PageUp',
  'PageDown',
  'j',
  'k',
])

/** Follows the pointer while the calling component lives. */
export function usePointer(): void {
  useEventListener(document, 'pointerover', ({ target }: PointerEvent) => {
    pointed = target instanceof Element ? target : null
  })
  // Content that moves under a resting pointer is not a pointer movement.
  useEventListener(document, 'pointermove', () => (isPointer = true), { passive: true })
  useEventListener(document, 'pointerleave', () => (pointed = null))
  useEventListener(document, 'keydown', ({ key }: KeyboardEvent) => isPointer && (isPointer = !MOVES.has(key)), {
    capture: true,
  })
}
export const pointedElement = (): Element | null => (pointed?.isConnected ? pointed : null)

/** Focused element; null if there is none. */
export function focusedElement(): Element | null {
  const { activeElement } = document
  return activeElement === null || activeElement === document.body ? null : activeElement
}

/** Both elements, the one moved last first. */
export const keyTargets = (): Element[] =>
  (isPointer ? [pointedElement(), focusedElement()] : [focusedElement(), pointedElement()]).filter((e) => e !== null)

/** True if the target is a chart other than those that their view shows as a table of its own (`data-own-values`). */
export function isOtherChartTargeted(): boolean {
  const chart = closestTarget('[data-chart]')
  return chart !== null && chart.closest('[data-own-values]') === null
}

/** Nearest ancestor that matches, of the target moved last, else of the other. */
export function closestTarget(selector: string): HTMLElement | null {
  for (const element of keyTargets()) {
    const part = element.closest<HTMLElement>(selector)
    if (part !== null) return part
  }
  return null
}
