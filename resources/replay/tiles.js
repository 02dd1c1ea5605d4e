/** Tiles: each value of the whole source at the cursor, with a sparkline over the span. */
import { all, at, data, largest } from './data.js'
import { scaled, scaleOf } from './figures.js'
import { el, setText } from './make.js'
import { sparkline } from './charts.js'
import { follow } from './time.js'

/**
 * @typedef {keyof typeof data.cluster} Measure
 * @typedef {readonly [title: string, measure: Measure, of: 'count' | 'bytes' | 'ms' | 'plain', unit: string, ink: number]} Tile
 */

/** @type {readonly Tile[]} */
const TILES = [
  ['RPCs', 'rpcs', 'count', 'RPC/s', 4],
  ['Read', 'readBps', 'bytes', '', 4],
  ['Write', 'writeBps', 'bytes', '', 4],
  ['Metadata', 'mdops', 'count', 'op/s', 4],
  ['Service time', 'serviceMs', 'ms', 'ms mean', 2],
  ['Queued RPCs', 'queued', 'count', '', 2],
  ['Rules', 'rules', 'plain', 'standing', 4],
  ['On loan', 'onLoan', 'count', 'tokens', 4],
]

/** @param {Tile} tile */
function tile([title, measure, of, unit, ink]) {
  const column = data.cluster[measure]
  const values = all(column)
  const scale = scaleOf(largest(values), of, unit)
  const value = el('b', {})
  follow((i) => setText(value, scaled(at(column, i), scale)))
  const isNone = values.every((v) => v === null)
  return el(
    'div',
    { class: 'card tile' },
    el('p', { class: 't2' }, title),
    el('p', {}, value, el('span', { class: 't3' }, isNone ? 'not measured' : scale.unit)),
    sparkline(column, ink),
  )
}

export const tiles = () => el('div', { class: 'tiles' }, ...TILES.map(tile))
