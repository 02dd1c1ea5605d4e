/** Busiest jobs at the cursor, sortable, and the sum of all other jobs. */
import { at, data } from './data.js'
import { number } from './figures.js'
import { el, panel, setText } from './make.js'
import { cursorAt, follow } from './time.js'

/**
 * @typedef {typeof data.jobs[number]} Job
 * @typedef {{ title: string, unit: string, value: (job: Job, i: number) => number | null, text: (v: number | null) => string }} Field
 */

/** @param {number | null} v */
const megabytes = (v) => number(v === null ? null : v / 1e6, 1)

/** @type {readonly Field[]} */
const FIELDS = [
  { title: 'Mean', unit: 'RPC/s', value: (j) => j.mean, text: (v) => number(v) },
  { title: 'RPCs', unit: 'RPC/s', value: (j, i) => at(j.rpcs, i), text: (v) => number(v) },
  { title: 'Read', unit: 'MB/s', value: (j, i) => at(j.readBps, i), text: megabytes },
  { title: 'Write', unit: 'MB/s', value: (j, i) => at(j.writeBps, i), text: megabytes },
  { title: 'Metadata', unit: 'op/s', value: (j, i) => at(j.mdops, i), text: (v) => number(v) },
  {
    title: 'Throttled',
    unit: '%',
    value: (j, i) => at(j.throttled, i),
    text: (v) => number(v === null ? null : v * 100),
  },
  { title: 'Record', unit: 'tokens', value: (j, i) => at(j.record, i), text: (v) => number(v) },
]

/** @param {Job} j */
const wordsOf = (j) => `${j.name} ${j.user} ${j.account}`.toLowerCase()

export function jobs() {
  let sorted = 0
  let isUp = false
  let wanted = ''
  const rows = data.jobs.map((job) => {
    const cells = FIELDS.map(() => el('td', {}))
    const name = el('th', { scope: 'row' }, el('i', { class: `sw k${job.ink}` }), el('bdi', {}, job.name))
    return {
      job,
      cells,
      words: wordsOf(job),
      row: el('tr', {}, name, el('td', { class: 'word' }, el('bdi', {}, job.user)), ...cells),
    }
  })
  const { other } = data
  const otherCells = FIELDS.map(() => el('td', {}))
  const otherName = el('th', { scope: 'row' }, el('i', { class: 'sw k0' }), `other, ${number(other.jobs)} jobs`)
  const last = el('tr', { class: 'other' }, otherName, el('td', {}), ...otherCells)
  const body = el('tbody', {})
  const heads = FIELDS.map((f, k) => {
    const button = el('button', { type: 'button', click: () => sortBy(k) }, f.title, el('small', {}, f.unit))
    return el('th', { scope: 'col' }, button)
  })
  const head = el(
    'tr',
    {},
    el('th', { scope: 'col' }, 'Job'),
    el('th', { scope: 'col', class: 'word' }, 'User'),
    ...heads,
  )
  const table = el('table', { class: 'jobs' }, el('thead', {}, head), body)
  const nothing = el('p', { class: 't3 pad', hidden: true }, 'No job of these has that in its name, user or account.')
  const box = el(
    'div',
    { class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': 'Jobs at the cursor' },
    table,
    nothing,
  )

  /** @param {number} k */
  function sortBy(k) {
    isUp = sorted === k ? !isUp : false
    sorted = k
    arrange(cursorAt())
  }
  /** @type {Element[]} */
  let order = []
  /** @param {number} i */
  function arrange(i) {
    const { value } = /** @type {Field} */ (FIELDS[sorted])
    const shown = rows.filter((r) => wanted.split(/\s+/).every((w) => r.words.includes(w)))
    // Gaps come last in both directions; equal values keep their order.
    shown.sort((a, b) => {
      const x = value(a.job, i)
      const y = value(b.job, i)
      if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0)
      return isUp ? x - y : y - x
    })
    const next = [...shown.map((r) => r.row), ...(other.jobs > 0 && wanted === '' ? [last] : [])]
    if (next.length !== order.length || next.some((r, k) => r !== order[k])) body.replaceChildren(...(order = next))
    nothing.hidden = shown.length > 0
    heads.forEach((h, k) => {
      if (k === sorted) h.setAttribute('aria-sort', isUp ? 'ascending' : 'descending')
      else h.removeAttribute('aria-sort')
    })
  }
  /** @param {number} i */
  function show(i) {
    for (const { job, cells } of rows)
      FIELDS.forEach((f, k) => setText(/** @type {Node} */ (cells[k]), f.text(f.value(job, i))))
    const rest = [null, at(other.rpcs, i), at(other.readBps, i), at(other.writeBps, i), at(other.mdops, i), null, null]
    rest.forEach((v, k) =>
      setText(/** @type {Node} */ (otherCells[k]), k === 0 || k > 4 ? '' : (FIELDS[k]?.text(v) ?? '')),
    )
    if (sorted > 0) arrange(i)
  }
  const filter = el('input', {
    type: 'search',
    id: 'filter',
    placeholder: 'Filter jobs',
    'aria-label': 'Filter jobs (/)',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  filter.addEventListener('input', () => {
    wanted = filter.value.trim().toLowerCase()
    arrange(cursorAt())
  })
  const detail = `${data.jobs.length} busiest of the span, at the cursor`
  const { element, heading } = panel(
    'Jobs',
    detail,
    data.jobs.length > 0 ? box : el('p', { class: 't3 pad' }, 'No job was seen in this span.'),
  )
  heading.append(filter)
  arrange(0)
  follow(show)
  return element
}
