/** Rows of the movers table: changes from A to B, largest first, and the sum of the rest. */
import type { HistoryFrame } from '#core/api/history.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatSigned, plural } from '../../format/units.ts'
import { rateScale } from './measure-model.ts'

type Movers = HistoryFrame['movers']
export interface MoverRow {
  /** Unique among the rows; of a job or a group its name. */
  readonly id: string
  readonly name: string
  /** User and account of a job; place and job of a series of a plane. */
  readonly who: string
  /** Names as recorded, which the rows link to. */
  readonly source: { readonly name: string; readonly place: string; readonly jobId: string }
  readonly colour: number
  readonly a: string
  readonly b: string
  readonly change: string
  /** Share of the largest change, -1..1. */
  readonly share: number
}

const NOUNS: Readonly<Record<Movers['by'], string>> = {
  job: 'job',
  user: 'user',
  account: 'account',
  exe: 'executable',
  lock_resources: 'resource',
  metadata_channels: 'channel',
  metadata_jobs: 'job and scope',
  token_clients: 'client',
}
export const nounOf = (by: Movers['by']): string => NOUNS[by]

export function moverRows(movers: Movers): { unit: string; rows: MoverRow[]; rest: MoverRow | null } {
  const { unit, divisor, decimals } = rateScale([...movers.a, ...movers.b, movers.rest.a, movers.rest.b], movers.unit)
  const changes = movers.name.map((_, i) => (movers.b[i] ?? 0) - (movers.a[i] ?? 0))
  const largest = Math.max(1e-9, ...changes.map(Math.abs))
  const text = (value: number): string => formatNumber(value / divisor, decimals)
  const values = (a: number, b: number) => ({
    a: text(a),
    b: text(b),
    change: formatSigned((b - a) / divisor, decimals),
    share: Math.max(-1, Math.min(1, (b - a) / largest)),
  })
  const rows = movers.name.map((name, i) => {
    const source = { name, place: movers.place[i] ?? '', jobId: movers.jobId[i] ?? '' }
    // A channel or a scope alone says little: the job stands before it.
    const isOfJob = movers.by === 'metadata_channels' || movers.by === 'metadata_jobs'
    const shown = isOfJob && source.jobId !== '' ? `${source.jobId} \u00B7 ${name}` : name
    return {
      id: source.place === '' && source.jobId === '' ? name : JSON.stringify(source),
      name: plainText(shown) || '(none)',
      colour: movers.colour[i] ?? 0,
      who: [source.place, isOfJob ? '' : source.jobId, movers.user[i], movers.account[i]]
        .filter(Boolean)
        .map((s) => plainText(s ?? ''))
        .join(' \u00B7 '),
      source,
      ...values(movers.a[i] ?? 0, movers.b[i] ?? 0),
    }
  })
  const { names, a, b } = movers.rest
  const rest =
    names > 0
      ? {
          id: '',
          name: `${plural(names, `other ${nounOf(movers.by)}`)}`,
          who: '',
          colour: 0,
          source: { name: '', place: '', jobId: '' },
          ...values(a, b),
        }
      : null
  return { unit, rows, rest }
}
