/** Heat strip: one cell per target, by node, in cividis colors; the same values as a table. */
import { formatNumber } from '#core/base/figure-text.ts'
import { niceMax } from '#core/base/scale.ts'
import { valueAt, valuesOf } from '#core/snapshot/column.ts'
import type { TargetMeasureName } from '#core/snapshot/replay-data.ts'
import { largest } from '../charts/scale.ts'
import { cursorAt, follow } from './cursor.ts'
import { count, data } from './data.ts'
import { colored, el, panel, scrollBox, segments, setText } from './elements.ts'
import { scaled, scaleOf } from './measures.ts'

const UNITS: Readonly<Record<TargetMeasureName, string>> = { serviceMs: 'ms', queued: 'RPCs', rpcs: 'RPC/s' }
const CHOICES: readonly (readonly [TargetMeasureName, string])[] = [
  ['serviceMs', 'Service'],
  ['queued', 'Queued'],
  ['rpcs', 'RPC/s'],
]
const SHADES = 10
const shadeVar = (shade: number): string => `var(--seq-${shade})`

/** End of the scale: the same for all targets, over the whole span. */
const endOf = (measure: TargetMeasureName): number =>
  niceMax(Math.max(0, ...data.targets.map((target) => largest(valuesOf(target[measure], count)))))

/** One cell per target, grouped by node. */
function heatCells(): { readonly heat: HTMLElement; readonly cells: readonly HTMLElement[] } {
  const nodes = new Map<string, HTMLElement[]>()
  const cells = data.targets.map(({ node }, k) => {
    const cell = el('i', { 'data-k': k })
    const own = nodes.get(node)
    if (own) own.push(cell)
    else nodes.set(node, [cell])
    return cell
  })
  const groups = [...nodes].map(([node, own]) => {
    const name = el('bdi', {}, node === '' ? 'unknown server' : node)
    const group = el('div', { class: 'node' }, el('div', {}, ...own), name)
    group.style.flexGrow = String(own.length)
    return group
  })
  return { heat: el('div', { class: 'heat', 'aria-hidden': 'true' }, ...groups), cells }
}

/** Values of all targets at the cursor, filled while it is open. */
function targetTable(): { readonly details: HTMLDetailsElement; readonly fill: (i: number) => void } {
  const rows = data.targets.map((target) => {
    const values = [el('td'), el('td'), el('td')]
    const name = el('th', { scope: 'row' }, el('bdi', {}, target.name))
    return { target, values, row: el('tr', {}, name, el('td', { class: 'word' }, target.node), ...values) }
  })
  const heads = ['Service time, ms', 'Queued RPCs', 'RPC/s'].map((text) => el('th', { scope: 'col' }, text))
  const head = el(
    'tr',
    {},
    el('th', { scope: 'col' }, 'Target'),
    el('th', { scope: 'col', class: 'word' }, 'Node'),
    ...heads,
  )
  const table = el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows.map(({ row }) => row)))
  const box = scrollBox('Targets at the cursor', '', table)
  function fill(i: number): void {
    for (const { target, values } of rows) {
      const texts = [
        formatNumber(valueAt(target.serviceMs, i), 2),
        formatNumber(valueAt(target.queued, i)),
        formatNumber(valueAt(target.rpcs, i)),
      ]
      values.forEach((cell, c) => setText(cell, texts[c] ?? ''))
    }
  }
  return { details: el('details', {}, el('summary', {}, 'Table'), box), fill }
}

export function targets(): HTMLElement {
  let measure: TargetMeasureName = 'serviceMs'
  let end = endOf(measure)
  let pointed = -1
  const { heat, cells } = heatCells()
  const { details, fill } = targetTable()
  const low = el('span')
  const high = el('span')
  const reading = el('span', { class: 't2 said' })
  const shades = Array.from({ length: SHADES }, (_, shade) => colored(el('i'), shadeVar(shade)))
  const foot = el('p', { class: 'foot t3' }, low, el('span', { class: 'ramp' }, ...shades), high, reading)
  /** Shade of each cell; -1: a gap. */
  const shown: number[] = []

  function shade(i: number): void {
    data.targets.forEach((target, k) => {
      const value = valueAt(target[measure], i)
      const next = value === null ? -1 : Math.min(SHADES - 1, Math.floor((value / end) * SHADES))
      const cell = cells[k]
      if (!cell || next === shown[k]) return
      shown[k] = next
      cell.className = next < 0 ? 'gap' : ''
      colored(cell, next < 0 ? '' : shadeVar(next))
    })
  }
  function show(i: number): void {
    shade(i)
    const valueOf = (k: number): number | null => valueAt(data.targets[k]?.[measure] ?? null, i)
    const worst = data.targets.reduce((best, _, k) => ((valueOf(k) ?? -1) > (valueOf(best) ?? -1) ? k : best), 0)
    const k = data.targets[pointed] ? pointed : worst
    const target = data.targets[k]
    const scale = scaleOf(end, measure === 'serviceMs' ? 'ms' : 'plain', UNITS[measure])
    const value = `${scaled(valueOf(k), scale)} ${UNITS[measure]}`
    setText(reading, target ? `${k === pointed ? '' : 'highest: '}${target.name} ${value}` : 'No targets recorded.')
    if (details.open) fill(i)
  }
  function rescale(): void {
    end = endOf(measure)
    setText(low, '0')
    setText(high, `${formatNumber(end)} ${UNITS[measure]}`)
    show(cursorAt())
  }
  heat.addEventListener('pointerover', ({ target }) => {
    pointed = Number(target instanceof HTMLElement ? (target.dataset['k'] ?? -1) : -1)
    show(cursorAt())
  })
  heat.addEventListener('pointerleave', () => {
    pointed = -1
    show(cursorAt())
  })
  details.addEventListener('toggle', () => show(cursorAt()))
  const { element, heading } = panel('Targets', 'at the cursor; shades over the whole range', heat, foot, details)
  heading.append(
    segments('Metric of the targets', CHOICES, measure, (key) => {
      measure = key
      rescale()
    }),
  )
  rescale()
  follow(show)
  return element
}
