/** Columns of the jobs table in their order: head, unit, width, and the name the host sorts by. */
import type { JobColumn } from '#core/api/frames.ts'

export interface Column {
  readonly id: string
  readonly title: string
  readonly unit?: string
  readonly width: string
  readonly isNumber: boolean
  readonly sort?: JobColumn
}
const column = (id: string, title: string, width: string, isNumber: boolean, more: Partial<Column> = {}): Column => ({
  ...{ id, title, width, isNumber },
  ...more,
})
const sorted = (id: JobColumn, title: string, width: string, isNumber = true, unit?: string): Column =>
  column(id, title, width, isNumber, { sort: id, ...(unit === undefined ? {} : { unit }) })

export const columns: readonly Column[] = [
  column('rank', '#', '34px', true),
  sorted('jobId', 'Job', 'minmax(140px, 1fr)', false),
  sorted('account', 'Account', '72px', false),
  sorted('nodes', 'Nodes', '50px'),
  sorted('rpcs', 'RPC/s', '114px'),
  sorted('readBps', 'Read', '70px', true, 'MB/s'),
  sorted('writeBps', 'Write', '72px', true, 'MB/s'),
  sorted('mdops', 'Md op/s', '64px'),
  sorted('ioBytes', 'Avg I/O', '68px'),
  column('topOp', 'Top op', '54px', false),
  sorted('throttled', 'Throttled', '80px'),
  sorted('rule', 'Rule', '112px', false),
  sorted('record', 'Record', '148px', true, 'tokens, \u221A'),
]
/** Below this width of the table, px, the columns of `spared` give way: the record must stay in sight. */
export const NARROW_PX = 1064
const spared = new Set(['ioBytes', 'topOp', 'nodes'])
/** For `grid-template-columns` of head, rows and foot. */
export const template = (isNarrow: boolean): string =>
  columns
    .filter((c) => !isNarrow || !spared.has(c.id))
    .map((c) => c.width)
    .join(' ')
