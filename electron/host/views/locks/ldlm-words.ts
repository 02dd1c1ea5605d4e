/** How a lock namespace of a real server is doing, as a level and in words. */
import type { Level } from '#core/api/parts.ts'
import { grouped } from '#core/control/sentence.ts'
import { ldlmColumn, type LdlmMeasure, type LdlmSeries } from '../../../cluster/locks/ldlm-series.ts'

/** What came to pass within this is told, rows of a second. */
const LATELY = 60
/** Cancels of the last seconds are held against those of the minutes before. */
const NOW = 5
const USUAL = 300
/** What is usual is not known before so many rows. */
const KNOWN = 30
/** Far above usual: so many times as many, and no less than this a second. */
const FAR = 4
const FAR_PER_S = 20
/** Parts of the pool's limit. */
const NEAR = 0.75
const FULL = 0.9

export interface Condition {
  readonly level: Level
  readonly why: string
}

/** By how much a count has risen over the last minute; a count that fell began anew. */
function risen(series: LdlmSeries, key: string, m: LdlmMeasure, row: number): number {
  const { table } = series
  let sum = 0
  let before = NaN
  for (let r = Math.max(table.oldest, row - LATELY); r <= row; r++) {
    const v = table.value(key, ldlmColumn(m), r)
    if (Number.isNaN(v)) continue
    if (v > before) sum += v - before
    before = v
  }
  return sum
}

/** The condition of a namespace at a row of its series, worst first. */
export function conditionOf(series: LdlmSeries, key: string, row: number): Condition {
  const at = (m: LdlmMeasure): number => series.value(series.table, key, ldlmColumn(m), row)
  const timeouts = risen(series, key, 'timeouts', row)
  if (timeouts > 0) {
    const callbacks = timeouts === 1 ? '1 callback was' : `${grouped(timeouts)} callbacks were`
    return { level: 'bad', why: `${callbacks} not answered in time in the last minute: clients are evicted` }
  }
  const used = at('granted') / at('limit')
  if (used >= NEAR) {
    const why = `${grouped(used * 100)} % of the pool's limit is granted: clients must give locks back`
    return { level: used >= FULL ? 'bad' : 'watch', why }
  }
  const contended = risen(series, key, 'contentions', row)
  if (contended > 0) {
    return { level: 'watch', why: `resources were contended ${grouped(contended)} × in the last minute` }
  }
  const column = ldlmColumn('cancelRate')
  const cancels = series.table.mean(key, column, row, NOW)
  const usual = series.table.mean(key, column, row - NOW, USUAL)
  const isKnown = row - NOW - KNOWN >= 1 && !Number.isNaN(series.table.value(key, column, row - NOW - KNOWN))
  if (isKnown && cancels >= FAR_PER_S && cancels > FAR * usual) {
    return {
      level: 'watch',
      why: `${grouped(cancels)} cancels/s, usually ${usual < 10 ? usual.toFixed(1) : grouped(usual)}`,
    }
  }
  const moves = at('grantRate') + at('cancelRate')
  if (moves === 0) return { level: 'idle', why: 'no lock comes or goes' }
  return { level: 'ok', why: '' }
}
