/** Busiest jobs at the cursor, sortable, and the sum of all other jobs. */
import { formatNumber } from '#core/base/figure-text.ts'
import { valueAt } from '#core/snapshot/column.ts'
import type { ReplayJob } from '#core/snapshot/replay-data.ts'
import { inkVar } from '../theme/palette.ts'
import { follow } from './cursor.ts'
import { data } from './data.ts'
import { colored, el, panel } from './elements.ts'
import { rankedTable, type Field } from './ranked-table.ts'

const whole = (value: number | null): string => formatNumber(value)
const megabytes = (value: number | null): string => formatNumber(value === null ? null : value / 1e6, 1)
const percent = (value: number | null): string => formatNumber(value === null ? null : value * 100)

const { other } = data
const MEAN: Field<ReplayJob> = { title: 'Mean', unit: 'RPC/s', value: (job) => job.mean, text: whole }
const FIELDS: readonly Field<ReplayJob>[] = [
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

/** Text that the filter searches. */
const searched = ({ name, user, account }: ReplayJob): string => `${name} ${user} ${account}`.toLowerCase()

export function jobs(): HTMLElement {
  const swatch = (ink: number): HTMLElement => colored(el('i', { class: 'sw' }), inkVar(ink))
  const table = rankedTable({
    heads: ['Job', 'User'],
    rows: data.jobs,
    cells: ({ name, user, ink }) => [
      el('th', { scope: 'row' }, swatch(ink), el('bdi', {}, name)),
      el('td', { class: 'word' }, el('bdi', {}, user)),
    ],
    others:
      other.jobs > 0
        ? [el('th', { scope: 'row' }, swatch(0), `${formatNumber(other.jobs)} other jobs`), el('td')]
        : undefined,
    fields: FIELDS,
    first: MEAN,
    label: 'Jobs at the cursor',
    nothing: 'No job matches the filter.',
  })
  const filter = el('input', {
    type: 'search',
    id: 'filter',
    placeholder: 'Filter jobs',
    'aria-label': 'Filter jobs (/)',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  filter.addEventListener('input', () => {
    const words = filter.value.trim().toLowerCase().split(/\s+/)
    table.filter(words[0] === '' ? undefined : (job) => words.every((word) => searched(job).includes(word)))
  })
  const detail = `${data.jobs.length} busiest jobs of the range, at the cursor`
  const none = el('p', { class: 't3 pad' }, 'No jobs in this range.')
  const { element, heading } = panel('Jobs', detail, data.jobs.length > 0 ? table.element : none)
  heading.append(filter)
  follow(table.show)
  return element
}
