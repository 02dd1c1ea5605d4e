/** Tiles: each value of the whole source at the cursor, with a sparkline over the span. */
import { valueAt, valuesOf } from '#core/snapshot/column.ts'
import type { ClusterMeasureName } from '#core/snapshot/replay-data.ts'
import { largest } from '../charts/scale.ts'
import { sparkline } from './charts.ts'
import { follow } from './cursor.ts'
import { count, data } from './data.ts'
import { el, setText } from './elements.ts'
import { scaled, scaleOf, type Kind } from './measures.ts'

interface Tile {
  readonly title: string
  readonly measure: ClusterMeasureName
  readonly kind: Kind
  readonly unit: string
  readonly ink: number
}

const TILES: readonly Tile[] = [
  { title: 'RPCs', measure: 'rpcs', kind: 'count', unit: 'RPC/s', ink: 4 },
  { title: 'Read', measure: 'readBps', kind: 'bytes', unit: '', ink: 4 },
  { title: 'Write', measure: 'writeBps', kind: 'bytes', unit: '', ink: 4 },
  { title: 'Metadata', measure: 'mdops', kind: 'count', unit: 'op/s', ink: 4 },
  { title: 'Service time', measure: 'serviceMs', kind: 'ms', unit: 'ms mean', ink: 2 },
  { title: 'Queued RPCs', measure: 'queued', kind: 'count', unit: '', ink: 2 },
  { title: 'Rules', measure: 'rules', kind: 'plain', unit: 'in force', ink: 4 },
  { title: 'Tokens lent', measure: 'onLoan', kind: 'count', unit: 'tokens', ink: 4 },
]

function tileOf({ title, measure, kind, unit, ink }: Tile): HTMLElement {
  const column = data.cluster[measure]
  const values = valuesOf(column, count)
  const scale = scaleOf(largest(values), kind, unit)
  const value = el('b')
  follow((i) => setText(value, scaled(valueAt(column, i), scale)))
  const isNone = values.every((v) => v === null)
  return el(
    'div',
    { class: 'card tile' },
    el('p', { class: 't2' }, title),
    el('p', {}, value, el('span', { class: 't3' }, isNone ? 'not measured' : scale.unit)),
    sparkline(column, ink),
  )
}

export const tiles = (): HTMLElement => el('div', { class: 'tiles' }, ...TILES.map(tileOf))
