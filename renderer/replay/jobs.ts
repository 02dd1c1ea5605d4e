/** Busiest jobs at the cursor, sortable, and the sum of all other jobs. */
import { formatNumber } from '#core/base/figure-text.ts'
import { valueAt } from '#core/snapshot/column.ts'
import type { ReplayJob } from '#core/snapshot/replay-data.ts'
import { inkVar } from '../theme/palette.ts'
import { cursorAt, follow } from './cursor.ts'
import { data } from './data.ts'
import { colored, el, panel, scrollBox, setText } from './elements.ts'

interface Field {
  readonly title: string
  readonly unit: string
  readonly value: (job: ReplayJob, i: number) => number | null
  /** Value of the other jobs together; none for a measure of one job. */
  readonly ofOthers?: (i: number) => number | null
  readonly text: (value: number | null) => string
}

const whole = (value: number | null): string => formatNumber(value)
const megabytes = (value: number | null): string => formatNumber(value === null ? null : value / 1e6, 1)
const percent = (value: number | null): string => formatNumber(value === null ? null : value * 100)

const { other } = data
const MEAN: Field = { title: 'Mean', unit: 'RPC/s', value: (job) => job.mean, text: whole }
const FIELDS: readonly Field[] = [
  MEAN,
  {
    title: 'RPCs',
    unit: 'RPC/s',
    value: (job, i) => valueAt(job.rpcs, i),
    ofOthers: (i) => valueAt(other.rpcs, i),
    text: whole,
  },
  {
    title: 'Read',
    unit: 'MB/s',
    value: (job, i) => valueAt(job.readBps, i),
    ofOthers: (i) => valueAt(other.readBps, i),
    text: megabytes,
  },
  {
    title: 'Write',
    unit: 'MB/s',
    value: (job, i) => valueAt(job.writeBps, i),
    ofOthers: (i) => valueAt(other.writeBps, i),
    text: megabytes,
  },
  {
    title: 'Metadata',
    unit: 'op/s',
    value: (job, i) => valueAt(job.mdops, i),
    ofOthers: (i) => valueAt(other.mdops, i),
    text: whole,
  },
  { title: 'Throttled', unit: '%', value: (job, i) => valueAt(job.throttled, i), text: percent },
  { title: 'Token balance', unit: 'tokens', value: (job, i) => valueAt(job.record, i), text: whole },
]

interface Row {
  readonly job: ReplayJob
  readonly cells: readonly HTMLElement[]
  /** Text that the filter searches. */
  readonly text: string
  readonly row: HTMLElement
}

function rowOf(job: ReplayJob): Row {
  const cells = FIELDS.map(() => el('td'))
  const swatch = colored(el('i', { class: 'sw' }), inkVar(job.ink))
  const name = el('th', { scope: 'row' }, swatch, el('bdi', {}, job.name))
  const user = el('td', { class: 'word' }, el('bdi', {}, job.user))
  const text = `${job.name} ${job.user} ${job.account}`.toLowerCase()
  return { job, cells, text, row: el('tr', {}, name, user, ...cells) }
}

export function jobs(): HTMLElement {
  let sorted = MEAN
  let isUp = false
  let wanted = ''
  let order: readonly Element[] = []
  const rows = data.jobs.map(rowOf)
  const otherCells = FIELDS.map(() => el('td'))
  const otherSwatch = colored(el('i', { class: 'sw' }), inkVar(0))
  const otherName = el('th', { scope: 'row' }, otherSwatch, `${formatNumber(other.jobs)} other jobs`)
  const last = el('tr', { class: 'other' }, otherName, el('td'), ...otherCells)
  const body = el('tbody')
  const heads = FIELDS.map((field) => {
    const button = el(
      'button',
      { type: 'button', click: () => sortBy(field) },
      field.title,
      el('small', {}, field.unit),
    )
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
  const nothing = el('p', { class: 't3 pad', hidden: true }, 'No job matches the filter.')
  const box = scrollBox('Jobs at the cursor', 'tall', table, nothing)

  function sortBy(field: Field): void {
    isUp = sorted === field ? !isUp : false
    sorted = field
    arrange(cursorAt())
  }
  function arrange(i: number): void {
    const shown = rows.filter(({ text }) => wanted.split(/\s+/).every((word) => text.includes(word)))
    // Gaps come last in both directions; equal values keep their order.
    shown.sort((a, b) => {
      const x = sorted.value(a.job, i)
      const y = sorted.value(b.job, i)
      if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0)
      return isUp ? x - y : y - x
    })
    const next = shown.map(({ row }) => row)
    if (other.jobs > 0 && wanted === '') next.push(last)
    if (next.length !== order.length || next.some((row, k) => row !== order[k])) body.replaceChildren(...next)
    order = next
    nothing.hidden = shown.length > 0
    heads.forEach((th, k) => {
      if (FIELDS[k] === sorted) th.setAttribute('aria-sort', isUp ? 'ascending' : 'descending')
      else th.removeAttribute('aria-sort')
    })
  }
  function show(i: number): void {
    FIELDS.forEach(({ value, ofOthers, text }, k) => {
      for (const { job, cells } of rows) if (cells[k]) setText(cells[k], text(value(job, i)))
      if (ofOthers && otherCells[k]) setText(otherCells[k], text(ofOthers(i)))
    })
    if (sorted !== MEAN) arrange(i)
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
  const detail = `${data.jobs.length} busiest jobs of the range, at the cursor`
  const none = el('p', { class: 't3 pad' }, 'No jobs in this range.')
  const { element, heading } = panel('Jobs', detail, data.jobs.length > 0 ? box : none)
  heading.append(filter)
  arrange(0)
  follow(show)
  return element
}
