/** Keyboard shortcuts: active when no field has the focus, without modifiers except Shift. */
import { N } from './data.js'
import { el } from './make.js'
import { goTo, step, toEvent, togglePlay } from './time.js'

/** Shortcuts shown in the status bar. */
const SHOWN = /** @type {const} */ ([
  ['\u2190 \u2192', 'sample'],
  ['Shift', '10'],
  ['[ ]', 'event'],
  ['Home End', 'ends'],
  ['Space', 'play'],
  ['/', 'filter'],
])

/** @type {Record<string, (isShift: boolean) => void>} */
const ACTS = {
  ArrowLeft: (isShift) => step(isShift ? -10 : -1),
  ArrowRight: (isShift) => step(isShift ? 10 : 1),
  Home: () => goTo(0),
  End: () => goTo(N - 1),
  '[': () => toEvent(-1),
  ']': () => toEvent(1),
  ' ': () => togglePlay(),
  '/': () => document.getElementById('filter')?.focus(),
}

export function keys() {
  addEventListener('keydown', (event) => {
    const on = event.target instanceof Element ? event.target : document.body
    if (event.key === 'Escape' && on instanceof HTMLInputElement) on.blur()
    if (event.ctrlKey || event.metaKey || event.altKey || on.matches('input, select, textarea')) return
    // Space on a focused button or link activates it.
    if (event.key === ' ' && on.matches('button, a, summary')) return
    const act = Object.hasOwn(ACTS, event.key) ? ACTS[event.key] : undefined
    if (!act) return
    event.preventDefault()
    act(event.shiftKey)
  })
  const place = document.getElementById('keys')
  for (const [key, words] of SHOWN) place?.append(el('kbd', {}, key), ` ${words} `)
}
