/** Heat strip: one cell per target, by node, in cividis colors; the same values as a table. */
import { all, at, data, largest } from './data.js'
import { number, scaled, scaleOf } from './figures.js'
import { el, panel, seg, setText } from './make.js'
import { niceEnd } from './plot.js'
import { cursorAt, follow } from './time.js'

/** @typedef {'serviceMs' | 'queued' | 'rpcs'} Measure */

const UNIT = { serviceMs: 'ms', queued: 'RPCs', rpcs: 'RPC/s' }
const SHADES = 10

/** @param {Measure} measure */
const endOf = (measure) => niceEnd(data.targets.reduce((m, t) => Math.max(m, largest(all(t[measure]))), 0)).max

export function targets() {
  /** @type {Measure} */
  let measure = 'serviceMs'
  let end = endOf(measure)
  let pointed = -1
  const cells = data.targets.map((_, k) => el('i', { 'data-k': k }))
  /** @type {Map<string, HTMLElement[]>} */
  const nodes = new Map()
  data.targets.forEach((t, k) => {
    const own = nodes.get(t.node) ?? []
    own.push(/** @type {HTMLElement} */ (cells[k]))
    nodes.set(t.node, own)
  })
  const groups = [...nodes].map(([node, own]) => {
    const group = el(
      'div',
      { class: 'node' },
      el('div', {}, ...own),
      el('bdi', {}, node === '' ? 'node unknown' : node),
    )
    group.style.flexGrow = String(own.length)
    return group
  })
  const heat = el('div', { class: 'heat', 'aria-hidden': 'true' }, ...groups)
  const low = el('span', {})
  const high = el('span', {})
  const said = el('span', { class: 't2 said' })
  const ramp = el('span', { class: 'ramp' }, ...Array.from({ length: SHADES }, (_, q) => el('i', { class: `q${q}` })))
  const foot = el('p', { class: 'foot t3' }, low, ramp, high, said)

  const rows = data.targets.map((t) => {
    const values = [el('td', {}), el('td', {}), el('td', {})]
    return {
      t,
      values,
      row: el(
        'tr',
        {},
        el('th', { scope: 'row' }, el('bdi', {}, t.name)),
        el('td', { class: 'word' }, t.node),
        ...values,
      ),
    }
  })
  const heads = ['Service time, ms', 'Queued RPCs', 'RPC/s'].map((h) => el('th', { scope: 'col' }, h))
  const head = el(
    'tr',
    {},
    el('th', { scope: 'col' }, 'Target'),
    el('th', { scope: 'col', class: 'word' }, 'Node'),
    ...heads,
  )
  const table = el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows.map((r) => r.row)))
  const words = el(
    'details',
    {},
    el('summary', {}, 'As a table'),
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Targets at the cursor' }, table),
  )

  /** @param {number} i */
  function show(i) {
    data.targets.forEach((t, k) => {
      const v = at(t[measure], i)
      const shade = v === null ? 'gap' : `q${Math.min(SHADES - 1, Math.floor((v / end) * SHADES))}`
      const cell = cells[k]
      if (cell && cell.className !== shade) cell.className = shade
    })
    const t = data.targets[pointed]
    const scale = scaleOf(end, measure === 'serviceMs' ? 'ms' : 'plain', UNIT[measure])
    /** @param {number | null} v */
    const figure = (v) => `${scaled(v, scale)} ${UNIT[measure]}`
    const worst = data.targets.reduce(
      (b, x, k) => ((at(x[measure], i) ?? -1) > (at(data.targets[b]?.[measure] ?? null, i) ?? -1) ? k : b),
      0,
    )
    const told = t ?? data.targets[worst]
    setText(
      said,
      told ? `${t ? '' : 'highest: '}${told.name} ${figure(at(told[measure], i))}` : 'No targets were kept.',
    )
    if (words.open) fillTable(i)
  }
  /** @param {number} i */
  function fillTable(i) {
    for (const { t, values } of rows) {
      const texts = [number(at(t.serviceMs, i), 2), number(at(t.queued, i)), number(at(t.rpcs, i))]
      texts.forEach((text, c) => setText(/** @type {Node} */ (values[c]), text))
    }
  }
  function scale() {
    end = endOf(measure)
    setText(low, '0')
    setText(high, `${number(end)} ${UNIT[measure]}`)
    show(cursorAt())
  }
  heat.addEventListener('pointerover', (event) => {
    pointed = Number(event.target instanceof HTMLElement ? (event.target.dataset['k'] ?? -1) : -1)
    show(cursorAt())
  })
  heat.addEventListener('pointerleave', () => {
    pointed = -1
    show(cursorAt())
  })
  words.addEventListener('toggle', () => show(cursorAt()))
  const { element, heading } = panel('Targets', 'at the cursor, shades over the whole span', heat, foot, words)
  /** @type {[Measure, string][]} */
  const choices = [
    ['serviceMs', 'Service'],
    ['queued', 'Queued'],
    ['rpcs', 'RPC/s'],
  ]
  heading.append(
    seg('Measure of the targets', choices, measure, (m) => {
      measure = m
      scale()
    }),
  )
  scale()
  follow(show)
  return element
}
