/** Rows of the jobs table as text and shares, made once per frame from the columns the host sent. */
import type { JobsFrame } from '#core/api/frames.ts'
import { formatBytes, formatNumber, formatPercent, formatSigned, NOTHING, rateUnit } from '../../format/units.ts'
import { jobName } from '../job-name.ts'
import { comparedColumns, type ComparedColumn } from './columns.ts'
import { debtWords } from './pairs.ts'

export interface Row {
  readonly id: string
  readonly head: string
  readonly tail: string
  readonly who: string
  readonly account: string
  readonly nodes: string
  /** No resource manager named its nodes: the controller counts one. */
  readonly isUnmapped: boolean
  readonly colour: number
  readonly rpcs: string
  readonly isIdle: boolean
  /** Some of its targets were not measured: its rates are those of the others. */
  readonly isPartial: boolean
  readonly read: string
  readonly write: string
  readonly mdops: string
  readonly ioBytes: string
  readonly topOp: string
  /** null: not measured. */
  readonly throttled: number | null
  readonly throttledText: string
  readonly rule: string
  readonly ruleTitle: string
  /** Record on a square-root scale, -1..1. */
  readonly record: number
  readonly recordText: string
  /** Who owes it and whom it owes, in words. */
  readonly recordTitle: string
  /** Set while two instants are compared. */
  readonly compared?: Readonly<Record<ComparedColumn, Compared>> | undefined
}

/** One figure of a job at two instants. */
export interface Compared {
  readonly a: string
  readonly b: string
  readonly delta: string
  /** Above, below, at zero; null: not known at A. */
  readonly sign: number | null
}
type Words = (value: number | null) => string
const wordsOf: Readonly<Record<ComparedColumn, { words: Words; step: number }>> = {
  rpcs: { words: (v) => formatNumber(v), step: 1 },
  readBps: { words: (v) => megabytes(v), step: 1e5 },
  writeBps: { words: (v) => megabytes(v), step: 1e5 },
  mdops: { words: (v) => formatNumber(v), step: 1 },
  throttled: { words: (v) => formatPercent(v), step: 0.01 },
  record: { words: (v) => formatSigned(v), step: 1 },
}
/** A, B and what changed, in the words and the precision of the column. */
export function comparedFigure(column: ComparedColumn, a: number | null, b: number | null): Compared {
  const { words, step } = wordsOf[column]
  const delta = a === null || b === null ? null : b - a
  // What the column would not show is no change.
  const sign = delta === null ? null : Math.abs(delta) < step / 2 ? 0 : Math.sign(delta)
  const text = sign === 0 ? '0' : words(delta)
  return { a: words(a), b: words(b), sign, delta: sign === 1 && !text.startsWith('+') ? `+${text}` : text }
}

/** The two columns of MB/s or MiB/s: one decimal always, so that a column keeps its form. */
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
 * @param isCompared     whether what the frame says of A is shown.
 */
export function rowsOf(frame: JobsFrame, largestRecord: number, isCompared = false): Row[] {
  const { rows } = frame
  const debts = debtWords(frame.pairs)
  const root = Math.sqrt(Math.max(1, largestRecord))
  return rows.jobId.map((id, i) => {
    const [name, record, rule, rate] = [
      jobName(id),
      rows.record[i] ?? null,
      rows.rule[i] ?? 'default',
      rows.ruleRate[i] ?? null,
    ]
    const throttled = rows.throttled[i] ?? null
    const rpcs = rows.rpcs[i] ?? null
    const isPartial = rows.partial?.[i] === true
    const atLeast = (text: string): string => (isPartial ? `\u2265 ${text}` : text)
    return {
      id,
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
