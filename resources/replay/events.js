/** Events of the span; the list follows the cursor, and a click on a row moves the cursor. */
import { data, indexAt } from './data.js'
import { clock, number } from './figures.js'
import { el, panel, svg } from './make.js'
import { glyph } from './strip.js'
import { follow, goTo } from './time.js'

export function events() {
  const rows = data.events.map((e) =>
    el(
      'button',
      { type: 'button', class: 'event', click: () => goTo(indexAt(e.atMs)) },
      el('time', {}, clock(e.atMs)),
      svg('svg', { viewBox: '-6 -6 12 12', width: 12, height: 12, 'aria-hidden': 'true' }, glyph(e.kind)),
      el('span', { class: 't2' }, e.subject),
      el('span', { class: 'what' }, el('bdi', {}, e.text), ' ', el('bdi', { class: 't3' }, e.where)),
    ),
  )
  const list = el(
    'div',
    { class: 'scroll events', role: 'region', tabindex: 0, 'aria-label': 'List of events' },
    ...rows,
  )
  const places = data.events.map((e) => indexAt(e.atMs))
  let before = -2
  follow((i) => {
    const last = places.findLastIndex((p) => p <= i)
    if (last === before) return
    before = last
    rows.forEach((row, k) => {
      row.classList.toggle('later', k > last)
      row.classList.toggle('on', places[k] === places[last] && k <= last)
      if (k === last) row.setAttribute('aria-current', 'true')
      else row.removeAttribute('aria-current')
    })
    // Scrolls the list only, never the page.
    const row = rows[Math.max(0, last)]
    if (row) list.scrollTop = row.offsetTop - list.offsetTop - list.clientHeight / 2 + row.offsetHeight / 2
  })
  const more = data.eventsMore > 0 ? `, ${number(data.eventsMore)} earlier ones in csv/events.csv` : ''
  const none = el('p', { class: 't3 pad' }, 'No event was kept of this span.')
  return panel('Events', `${number(data.events.length)}${more}`, rows.length > 0 ? list : none).element
}
