/** Script of a bundle's README.html: replaces its static pictures by the replay. */
import { charts } from './charts.ts'
import { count, data } from './data.ts'
import { el } from './elements.ts'
import { events } from './events.ts'
import { jobs } from './jobs.ts'
import { goTo, step, toEvent, togglePlay } from './cursor.ts'
import { localClock } from './measures.ts'
import { rules } from './rules.ts'
import { strip } from './strip.ts'
import { targets } from './targets.ts'
import { redraw } from './sheet.ts'
import { planes } from './planes.ts'
import { tiles } from './tiles.ts'

/** Device pixels per pixel of the pictures on paper. */
const PRINT_RATIO = 3

/** Dark or light theme of the system, until a button overrides it; print is light. */
function themes(): void {
  const root = document.documentElement
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const isDark = (): boolean => (root.dataset['theme'] ?? (dark.matches ? 'dark' : 'light')) === 'dark'
  const button = el('button', { type: 'button', class: 'btn' })
  function show(): void {
    button.textContent = isDark() ? 'Light' : 'Dark'
    redraw()
  }
  button.addEventListener('click', () => {
    root.dataset['theme'] = isDark() ? 'light' : 'dark'
    show()
  })
  dark.addEventListener('change', show)
  matchMedia('(forced-colors: active)').addEventListener('change', show)
  let chosen = root.dataset['theme']
  addEventListener('beforeprint', () => {
    chosen = root.dataset['theme']
    root.dataset['theme'] = 'light'
    redraw(PRINT_RATIO)
  })
  addEventListener('afterprint', () => {
    if (chosen === undefined) delete root.dataset['theme']
    else root.dataset['theme'] = chosen
    redraw()
  })
  show()
  document.getElementById('themes')?.append(button)
}

/** Shortcuts shown in the status bar. */
const SHOWN: readonly (readonly [key: string, text: string])[] = [
  ['\u2190 \u2192', 'sample'],
  ['Shift', '10'],
  ['[ ]', 'event'],
  ['Home End', 'start, end'],
  ['Space', 'play'],
  ['/', 'filter'],
]

const ACTIONS: Readonly<Record<string, (isShift: boolean) => void>> = {
  ArrowLeft: (isShift) => step(isShift ? -10 : -1),
  ArrowRight: (isShift) => step(isShift ? 10 : 1),
  Home: () => goTo(0),
  End: () => goTo(count - 1),
  '[': () => toEvent(-1),
  ']': () => toEvent(1),
  ' ': () => togglePlay(),
  '/': () => document.getElementById('filter')?.focus(),
}

/** Keyboard shortcuts: active when no field has the focus, without modifiers except Shift. */
function keys(): void {
  addEventListener('keydown', (event) => {
    const on = event.target instanceof Element ? event.target : document.body
    if (event.key === 'Escape' && on instanceof HTMLInputElement) on.blur()
    if (event.ctrlKey || event.metaKey || event.altKey || on.matches('input, select, textarea')) return
    // Space on a focused button or link activates it.
    if (event.key === ' ' && on.matches('button, a, summary')) return
    const act = Object.hasOwn(ACTIONS, event.key) ? ACTIONS[event.key] : undefined
    if (!act) return
    event.preventDefault()
    act(event.shiftKey)
  })
  const place = document.getElementById('keys')
  for (const [key, text] of SHOWN) place?.append(el('kbd', {}, key), ` ${text} `)
}

/** Shows the time span in the reader's time zone. */
function localSpan(): void {
  const from = localClock(data.fromMs)
  const place = document.querySelector('.local')
  if (place && from !== '') place.textContent = `${from.slice(0, 8)} to ${localClock(data.toMs)} here`
}

themes()
localSpan()
if (count > 0) {
  const replay = document.getElementById('replay')
  document.getElementById('still')?.remove()
  strip()
  replay?.append(
    tiles(),
    el('div', { class: 'cols' }, el('div', {}, targets(), charts()), el('div', {}, events(), rules())),
    jobs(),
    ...planes(),
  )
  keys()
} else {
  const text = 'The bundle has no samples of this range: nothing to replay.'
  document.getElementById('still')?.prepend(el('p', { class: 'callout' }, text))
}
