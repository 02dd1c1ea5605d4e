/** Events of the span; the list follows the cursor, and a click on a row moves the cursor. */
import type { Mark } from '#core/api/history.ts'
import { formatClock } from '#core/base/clock-text.ts'
import { formatNumber } from '#core/base/figure-text.ts'
import { markShapes } from '../charts/mark-shape.ts'
import { follow, goTo } from './cursor.ts'
import { data, indexAt } from './data.ts'
import { colored, el, panel, scrollBox, svg } from './elements.ts'

const isKind = (kind: string): kind is Mark['kind'] => Object.hasOwn(markShapes, kind)
/** Kind of an event; one that this version does not know is drawn as a job's. */
export const kindOf = (kind: string): Mark['kind'] => (isKind(kind) ? kind : 'job')

/** Shape of an event around the origin. */
export function glyph(kind: Mark['kind']): SVGElement {
  const { path, ink, isStroke } = markShapes[kind]
  return colored(svg('path', { d: path, class: isStroke === true ? 'glyph stroked' : 'glyph' }), `var(--${ink})`)
}

export function events(): HTMLElement {
  const rows = data.events.map(({ atMs, kind, subject, text, where }) =>
    el(
      'button',
      { type: 'button', class: 'event', click: () => goTo(indexAt(atMs)) },
      el('time', {}, formatClock(atMs)),
      svg('svg', { viewBox: '-6 -6 12 12', width: 12, height: 12, 'aria-hidden': 'true' }, glyph(kindOf(kind))),
      el('span', { class: 't2' }, subject),
      el('span', { class: 'what' }, el('bdi', {}, text), ' ', el('bdi', { class: 't3' }, where)),
    ),
  )
  const list = scrollBox('List of events', 'events', ...rows)
  const places = data.events.map(({ atMs }) => indexAt(atMs))
  let before = -2
  follow((i) => {
    const last = places.findLastIndex((place) => place <= i)
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
  const more = data.eventsMore > 0 ? `, ${formatNumber(data.eventsMore)} earlier events in csv/events.csv` : ''
  const none = el('p', { class: 't3 pad' }, 'No events in this range.')
  return panel('Events', `${formatNumber(data.events.length)}${more}`, rows.length > 0 ? list : none).element
}
