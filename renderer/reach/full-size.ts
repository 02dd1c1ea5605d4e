/**
 * Full-size panel: fills the view until it is restored; it keeps its place in the page, and the focus returns with it.
 */
import { shallowRef } from 'vue'
import { closestTarget, focusedElement } from './key-target.ts'

const PANEL = '.view .panel, .view .one, .view [data-panel], .view .ws, .view section'
const FOCUSABLE = '[data-chart], [tabindex="0"], button, a[href], input'

interface Full {
  readonly panel: HTMLElement
  readonly before: Element | null
  readonly name: string
}
/** Area of the view that a full-size panel covers; the frame, which names the source, stays visible. */
export function measureFullSize(): void {
  const box = document.querySelector('.stage')?.getBoundingClientRect()
  if (!box) return
  const { style } = document.documentElement
  for (const side of ['left', 'top', 'width', 'height'] as const) style.setProperty(`--full-${side}`, `${box[side]}px`)
}
/** Panel that fills the view. */
export const full = shallowRef<Full | null>(null)

const nameOf = (panel: Element): string =>
  panel.getAttribute('aria-label') ?? panel.querySelector('h2, h3')?.textContent?.trim() ?? 'Panel'

export function leaveFull(): boolean {
  const left = full.value
  if (left === null) return false
  left.panel.removeAttribute('data-full')
  full.value = null
  const back = left.before?.isConnected ? left.before : left.panel.querySelector(FOCUSABLE)
  if (back instanceof HTMLElement || back instanceof SVGElement) back.focus({ preventScroll: true })
  return true
}

/** Toggles the panel with the focus or under the pointer. @returns true if there is one */
export function toggleFullSize(): boolean {
  if (full.value !== null) return leaveFull()
  const panel = closestTarget(PANEL)
  if (panel === null) return false
  const before = focusedElement()
  measureFullSize()
  full.value = { panel, before, name: nameOf(panel) }
  panel.setAttribute('data-full', '')
  if (before === null || !panel.contains(before)) {
    const first = panel.querySelector<HTMLElement | SVGElement>(FOCUSABLE)
    first?.focus({ preventScroll: true })
  }
  return true
}
