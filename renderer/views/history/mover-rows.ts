/** Rows of the movers table: changes from A to B, largest first, and the sum of the rest. */
import type { HistoryFrame } from '#core/api/history.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatSigned, plural } from '../../format/units.ts'
import { rateScale } from './measure-model.ts'

type Movers = HistoryFrame['movers']
export interface MoverRow {
  readonly id: string
  readonly name: string
  /** User and account of a job. */
  readonly who: string
  readonly colour: number
  readonly a: string
  readonly b: string
  readonly change: string
  /** Share of the largest change, -1..1. */
  readonly share: number
}

const NOUNS = { job: 'job', user: 'user', account: 'account', exe: 'executable' } as const
export const nounOf = (by: Movers['by']): string => NOUNS[by]

export function moverRows(movers: Movers): { unit: string; rows: MoverRow[]; rest: MoverRow | null } {
  const { unit, divisor, decimals } = rateScale([...movers.a, ...movers.b, movers.rest.a, movers.rest.b])
  const changes = movers.name.map((_, i) => (movers.b[i] ?? 0) - (movers.a[i] ?? 0))
  const largest = Math.max(1e-9, ...changes.map(Math.abs))
  const text = (value: number): string => formatNumber(value / divisor, decimals)
  const values = (a: number, b: number) => ({
    a: text(a),
    b: text(b),
    change: formatSigned((b - a) / divisor, decimals),
    share: Math.max(-1, Math.min(1, (b - a) / largest)),
  })
  const rows = movers.name.map((id, i) => ({
    id,
    name: plainText(id) || '(none)',
    colour: movers.colour[i] ?? 0,
    who: [movers.user[i], movers.account[i]]
      .filter(Boolean)
      .map((s) => plainText(s ?? ''))
      .join(' \u00B7 '),
    ...values(movers.a[i] ?? 0, movers.b[i] ?? 0),
  }))
  const { names, a, b } = movers.rest
  const rest =
    names > 0
      ? { id: '', name: `${plural(names, `other ${nounOf(movers.by)}`)}`, who: '', colour: 0, ...values(a, b) }
      : null
  return { unit, rows, rest }
}
