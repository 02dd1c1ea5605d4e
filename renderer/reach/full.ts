/** One panel fills the view until it is put back; it keeps its place in the page, and the focus comes back with it. */
import { shallowRef } from 'vue'
import { aimedAt, focusedElement } from './pointed.ts'

const PANEL = '.view .panel, .view .one, .view [data-panel], .view .ws, .view section'
const FOCUSABLE = '[data-chart], [tabindex="0"], button, a[href], input'

interface Full {
  readonly panel: HTMLElement
  readonly before: Element | null
  readonly name: string
}
/** The view as it stands on the page: what a full panel covers, and no more, so that the frame still names the source. */
export function measureFull(): void {
  const box = document.querySelector('.stage')?.getBoundingClientRect()
  if (!box) return
  const { style } = document.documentElement
  for (const side of ['left', 'top', 'width', 'height'] as const) style.setProperty(`--full-${side}`, `${box[side]}px`)
}
/** The panel that fills the view. */
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

/** The panel with the focus or under the pointer. @returns whether there is one */
export function turnFull(): boolean {
  if (full.value !== null) return leaveFull()
  const panel = aimedAt(PANEL)
  if (panel === null) return false
  const before = focusedElement()
  measureFull()
  full.value = { panel, before, name: nameOf(panel) }
  panel.setAttribute('data-full', '')
  if (before === null || !panel.contains(before)) {
    const first = panel.querySelector<HTMLElement | SVGElement>(FOCUSABLE)
    first?.focus({ preventScroll: true })
  }
  return true
}
