/** Rows of the jobs table as text and shares, computed once per frame from the host's columns. */
import type { JobsFrame } from '#core/api/frames.ts'
import { formatBytes, formatNumber, formatPercent, formatSigned, NOTHING, rateUnit } from '../../format/units.ts'
import { comparedValue, type Compared } from '../compared.ts'
import { jobName } from '../job-name.ts'
import { debtTexts } from './pairs.ts'

/** Columns with A, B and the change while two instants are compared. */
export const comparedColumns = ['rpcs', 'readBps', 'writeBps', 'mdops', 'throttled', 'record'] as const
export type ComparedColumn = (typeof comparedColumns)[number]

export interface Row {
  readonly id: string
  /** Values of the host, and the row's place in them. */
  readonly source: JobsFrame['rows']
  readonly at: number
  readonly head: string
  readonly tail: string
  readonly who: string
  readonly account: string
  readonly nodes: string
  /** Set if no resource manager reported its nodes; the controller counts one. */
  readonly isUnmapped: boolean
  readonly colour: number
  readonly rpcs: string
  readonly isIdle: boolean
  /** Set if some of its targets were not measured; its rates are lower bounds. */
  readonly isPartial: boolean
  readonly read: string
  readonly write: string
  readonly mdops: string
  readonly ioBytes: string
  readonly topOp: string
  /** Throttled share, 0..1; null: not measured. */
  readonly throttled: number | null
  readonly throttledText: string
  readonly rule: string
  readonly ruleTitle: string
  /** Record on a square-root scale, -1..1. */
  readonly record: number
  readonly recordText: string
  /** Tooltip text of its open debts. */
  readonly recordTitle: string
  /** Set while two instants are compared. */
  readonly compared?: Readonly<Record<ComparedColumn, Compared>> | undefined
}

type Format = (value: number | null) => string
const formats: Readonly<Record<ComparedColumn, { format: Format; step: number }>> = {
  rpcs: { format: (v) => formatNumber(v), step: 1 },
  readBps: { format: (v) => megabytes(v), step: 1e5 },
  writeBps: { format: (v) => megabytes(v), step: 1e5 },
  mdops: { format: (v) => formatNumber(v), step: 1 },
  throttled: { format: (v) => formatPercent(v), step: 0.01 },
  record: { format: (v) => formatSigned(v), step: 1 },
}
/** Formats A, B and the change, in the precision of the column. */
export function comparedFigure(column: ComparedColumn, a: number | null, b: number | null): Compared {
  const { format, step } = formats[column]
  return comparedValue(a, b, format, step)
}

/** Formats MB/s or MiB/s, always with one decimal, so that the column keeps its width. */
export const megabytes = (bps: number | null): string => formatNumber(bps === null ? null : bps / rateUnit().divisor, 1)

function comparedOf({ rows }: JobsFrame, i: number): Row['compared'] {
  const { against } = rows
  if (against === undefined) return undefined
  const figure = (column: ComparedColumn) =>
    [column, comparedFigure(column, against[column][i] ?? null, rows[column][i] ?? null)] as const
  return Object.fromEntries(comparedColumns.map(figure)) as Record<ComparedColumn, Compared>
}

/**
 * @param largestRecord  record that fills the bar.
 * @param isCompared     true to include the values at A.
 */
export function rowsOf(frame: JobsFrame, largestRecord: number, isCompared = false): Row[] {
  const { rows } = frame
  const debts = debtTexts(frame.pairs)
  const root = Math.sqrt(Math.max(1, largestRecord))
  return rows.jobId.map((id, i) => {
    const name = jobName(id)
    const record = rows.record[i] ?? null
    const rule = rows.rule[i] ?? 'default'
    const rate = rows.ruleRate[i] ?? null
    const throttled = rows.throttled[i] ?? null
    const rpcs = rows.rpcs[i] ?? null
    const isPartial = rows.partial?.[i] === true
    const atLeast = (text: string): string => (isPartial ? `\u2265 ${text}` : text)
    return {
      id,
      source: rows,
      at: i,
      head: name.head,
      tail: name.tail,
      who: `${id}${rows.user[i] ? `, ${rows.user[i]}` : ''}`,
      account: rows.account[i] || NOTHING,
      nodes: formatNumber(rows.nodes[i] ?? 1),
      isUnmapped: rows.nodes[i] === null,
      colour: rows.colour[i] ?? 0,
      rpcs: atLeast(formatNumber(rpcs)),
      isIdle: rpcs === 0 && rows.mdops[i] === 0,
      isPartial,
      mdops: formatNumber(rows.mdops[i] ?? null),
      read: atLeast(megabytes(rows.readBps[i] ?? null)),
      write: atLeast(megabytes(rows.writeBps[i] ?? null)),
      ioBytes: formatBytes(rows.ioBytes[i] ?? null),
      topOp: rows.topOp[i] || NOTHING,
      throttled,
      throttledText: formatPercent(throttled),
      rule,
      ruleTitle: rate === null ? rule : `${rule}: ${formatNumber(rate)} RPC/s over all nodes`,
      record: record === null ? 0 : (Math.sign(record) * Math.sqrt(Math.abs(record))) / root,
      recordText: formatSigned(record),
      recordTitle: debts.get(id) ?? '',
      compared: isCompared ? comparedOf(frame, i) : undefined,
    }
  })
}
