/** Rows of the jobs table as text and shares, made once per frame from the columns the host sent. */
import type { JobsFrame } from '#core/api/frames.ts'
import { formatBytes, formatNumber, formatPercent, formatSigned, NOTHING } from '../../widgets/units.ts'
import { jobName } from '../job-name.ts'
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
  readonly read: string
  readonly write: string
  readonly mdops: string
  readonly ioBytes: string
  readonly topOp: string
  readonly throttled: number
  readonly throttledText: string
  readonly rule: string
  readonly ruleTitle: string
  /** Record on a square-root scale, -1..1. */
  readonly record: number
  readonly recordText: string
  /** Who owes it and whom it owes, in words. */
  readonly recordTitle: string
}

/** The two MB/s columns: one decimal always, so that a column keeps its form. */
export const megabytes = (bps: number): string => formatNumber(bps / 1e6, 1)

/** @param largestRecord  record that fills the bar. */
export function rowsOf(frame: JobsFrame, largestRecord: number): Row[] {
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
    const [throttled, rpcs] = [rows.throttled[i] ?? 0, rows.rpcs[i] ?? 0]
    return {
      id,
      head: name.head,
      tail: name.tail,
      who: `${id}${rows.user[i] ? `, ${rows.user[i]}` : ''}`,
      account: rows.account[i] || NOTHING,
      nodes: formatNumber(rows.nodes[i] ?? 1),
      isUnmapped: rows.nodes[i] === null,
      colour: rows.colour[i] ?? 0,
      rpcs: formatNumber(rpcs),
      isIdle: rpcs === 0 && !rows.mdops[i],
      mdops: formatNumber(rows.mdops[i] ?? 0),
      read: megabytes(rows.readBps[i] ?? 0),
      write: megabytes(rows.writeBps[i] ?? 0),
      ioBytes: formatBytes(rows.ioBytes[i] ?? null),
      topOp: rows.topOp[i] || NOTHING,
      throttled,
      throttledText: formatPercent(throttled),
      rule,
      ruleTitle: rate === null ? rule : `${rule}: ${formatNumber(rate)} RPC/s over all nodes`,
      record: record === null ? 0 : (Math.sign(record) * Math.sqrt(Math.abs(record))) / root,
      recordText: formatSigned(record),
      recordTitle: debts.get(id) ?? '',
    }
  })
}
