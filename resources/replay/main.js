/** Replaces the static pictures by the replay. */
import { charts } from './charts.js'
import { data, N } from './data.js'
import { events } from './events.js'
import { local } from './figures.js'
import { jobs } from './jobs.js'
import { keys } from './keys.js'
import { el } from './make.js'
import { rules } from './rules.js'
import { strip } from './strip.js'
import { targets } from './targets.js'
import { tiles } from './tiles.js'

/** Dark or light theme of the system, until a button overrides it; print is light. */
function themes() {
  const root = document.documentElement
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const isDark = () => (root.dataset['theme'] ?? (dark.matches ? 'dark' : 'light')) === 'dark'
  const button = el('button', { type: 'button', class: 'btn' })
  const name = () => (button.textContent = isDark() ? 'Light' : 'Dark')
  button.addEventListener('click', () => {
    root.dataset['theme'] = isDark() ? 'light' : 'dark'
    name()
  })
  dark.addEventListener('change', name)
  let chosen = root.dataset['theme']
  addEventListener('beforeprint', () => {
    chosen = root.dataset['theme']
    root.dataset['theme'] = 'light'
  })
  addEventListener('afterprint', () => {
    if (chosen === undefined) delete root.dataset['theme']
    else root.dataset['theme'] = chosen
  })
  name()
  document.getElementById('themes')?.append(button)
}

/** Time span in the reader's time zone. */
function localSpan() {
  const from = local(data.fromMs)
  const to = local(data.toMs)
  const place = document.querySelector('.local')
  if (place && from !== '') place.textContent = `${from.slice(0, 8)} to ${to} here`
}

themes()
localSpan()
if (N > 0) {
  const replay = document.getElementById('replay')
  document.getElementById('still')?.remove()
  strip()
  replay?.append(
    tiles(),
    el('div', { class: 'cols' }, el('div', {}, targets(), charts()), el('div', {}, events(), rules())),
    jobs(),
  )
  keys()
} else {
  const words = 'No sample of this span is in the bundle: there is nothing to replay.'
  document.getElementById('still')?.prepend(el('p', { class: 'callout' }, words))
}
