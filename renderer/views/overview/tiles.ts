/** Contents of the tiles: value, unit, and change against the previous window. */
import type { Level, Tile, TileId } from '#core/api/frames.ts'
import { formatCount, formatNumber, formatRate, formatSigned, formatSpan, type Measure } from '../../format/units.ts'

const labels: Record<TileId, string> = {
  read: 'Read',
  write: 'Write',
  rpc: 'RPC',
  service: 'Service time',
  queued: 'Queued RPCs',
  budget: 'Utilization',
  rules: 'Rules',
  lent: 'Tokens lent',
  locks: 'Locks waiting',
}

function measureOf(id: TileId, value: number | null): Measure {
  if (id === 'read' || id === 'write') return formatRate(value)
  if (id === 'rpc' && Math.abs(value ?? 0) >= 1e6)
    return { text: formatNumber((value ?? 0) / 1e6, 2), unit: 'M/s', divisor: 1e6, decimals: 2 }
  if (id === 'rpc') return formatCount(value, 'RPC/s', 'k/s')
  const [divisor, decimals, unit] =
    id === 'service' ? [1, 1, 'ms'] : id === 'budget' ? [0.01, 0, '%'] : [1, 0, id === 'rules' ? 'active' : '']
  return { text: formatNumber(value === null ? null : value / divisor, decimals), unit, divisor, decimals }
}

/** Formats a tile while comparing: the value at B, the value at A, and the difference. */
export function formatComparedTile(tile: Tile, windowMs: number): TileModel {
  const shown = formatTile(tile, windowMs)
  const { id, value, against = null } = tile
  if (against === null) return { ...shown, change: '', note: 'no data at A', sign: null }
  const measure = measureOf(id, value ?? against)
  const delta = value === null ? null : (value - against) / measure.divisor
  const was = formatNumber(against / measure.divisor, measure.decimals)
  const change = formatSigned(delta, measure.decimals)
  return {
    ...shown,
    change,
    note: `A ${was}`,
    sign: delta === null ? null : /[1-9]/.test(change) ? Math.sign(delta) : 0,
  }
}

export interface TileModel {
  readonly id: TileId
  readonly label: string
  readonly value: string
  readonly unit: string
  readonly level: Level
  readonly change: string
  readonly note: string
  /** Sign of B minus A; set only while comparing. */
  readonly sign?: number | null
}

/** Formats a tile for the `Tile` component. */
export function formatTile(tile: Tile, windowMs: number): TileModel {
  const { id, value, before, level, note } = tile
  const measure = measureOf(id, value)
  const isLoud = level === 'watch' || level === 'bad'
  const against = `vs ${formatSpan(windowMs)}`
  const ratio = isLoud && value !== null && before !== null && before > 0 ? value / before : 0
  const difference = value === null || before === null ? null : (value - before) / measure.divisor
  return {
    id,
    label: labels[id],
    value: tile.partial === true ? `≥ ${measure.text}` : measure.text,
    unit: measure.unit,
    level,
    // A raised tile shows the ratio, any other the difference.
    change:
      ratio >= 1.5
        ? `\u00D7${formatNumber(ratio, 1)}`
        : difference === null
          ? ''
          : formatSigned(difference, measure.decimals),
    note: isLoud && note ? note : difference !== null ? against : value === null ? 'not measured' : 'no earlier data',
  }
}
