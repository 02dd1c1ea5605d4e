/** Locks, metadata and tokens at the cursor: charts of their main measures, and the leading series of each table. */
import { formatNumber } from '#core/base/figure-text.ts'
import { valueAt } from '#core/snapshot/column.ts'
import type { Column, ReplayPlane, ReplaySeries } from '#core/snapshot/replay-data.ts'
import { inkVar } from '../theme/palette.ts'
import { planeCharts } from './charts.ts'
import { convoys } from './convoys.ts'
import { follow } from './cursor.ts'
import { data } from './data.ts'
import { colored, el, panel } from './elements.ts'
import { rankedTable, type Field } from './ranked-table.ts'

const PLANES: readonly (readonly [plane: ReplayPlane['plane'], title: string])[] = [
  ['locks', 'Locks'],
  ['metadata', 'Metadata QoS'],
  ['tokens', 'Tokens'],
]

/** Decimals for a column: whole numbers from 100 on, two decimals below 10. */
function textOf(value: number | null): string {
  const size = Math.abs(value ?? 0)
  return formatNumber(value, size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2)
}

const sentenceCase = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

function tableOf(table: ReplayPlane): HTMLElement {
  const { title, nameIs, placeIs, hasJob, columns, series, others } = table
  const mainColumn = columns[table.main]
  const mean: Field<ReplaySeries> = {
    title: `Mean ${mainColumn?.title.toLowerCase() ?? ''}`,
    unit: mainColumn?.unit ?? '',
    value: (s) => s.mean,
    text: textOf,
  }
  const at = (of: Column | undefined, i: number): number | null => valueAt(of ?? null, i)
  const fields = columns.map(({ title: name, unit }, c): Field<ReplaySeries> => ({
    title: name,
    unit,
    value: (s, i) => at(s.values[c], i),
    ofOthers: others === null ? undefined : (i) => at(others[c], i),
    text: textOf,
  }))
  const heads = [nameIs, ...(placeIs === '' ? [] : [placeIs]), ...(hasJob ? ['job'] : [])].map(sentenceCase)
  const swatch = (ink: number): HTMLElement => colored(el('i', { class: 'sw' }), inkVar(ink))
  const word = (text: string): HTMLElement => el('td', { class: 'word' }, el('bdi', {}, text))
  const made = rankedTable({
    heads,
    rows: series,
    cells: (s) => [
      el('th', { scope: 'row' }, swatch(s.ink), el('bdi', {}, s.name)),
      ...(placeIs === '' ? [] : [word(s.place)]),
      ...(hasJob ? [word(s.job)] : []),
    ],
    others:
      others === null
        ? undefined
        : [el('th', { scope: 'row' }, swatch(0), 'All others'), ...heads.slice(1).map(() => el('td'))],
    fields: [mean, ...fields],
    first: mean,
    label: `${title} at the cursor`,
    nothing: 'No series.',
  })
  const detail = `${others === null ? '' : 'leading '}${series.length} in the range, at the cursor`
  const { element } = panel(title, detail, made.element)
  element.classList.add('plane')
  follow(made.show)
  return element
}

/** One section for each of locks, metadata and tokens that has rows. */
export function planes(): HTMLElement[] {
  return PLANES.flatMap(([plane, title]) => {
    const tables = data.planes.filter((table) => table.plane === plane)
    const kept = plane === 'locks' ? convoys() : []
    if (tables.length === 0 && kept.length === 0) return []
    return [
      el(
        'section',
        { class: 'planes', id: plane, 'aria-label': title },
        el('h2', {}, title),
        el('div', { class: 'charts even' }, ...planeCharts(plane)),
        ...tables.map(tableOf),
        ...kept,
      ),
    ]
  })
}
