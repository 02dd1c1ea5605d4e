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
/** While two instants are compared, what each of these was, is, and what changed takes the room of the spared ones. */
export const comparedColumns = ['rpcs', 'readBps', 'writeBps', 'mdops', 'throttled', 'record'] as const
export type ComparedColumn = (typeof comparedColumns)[number]
const isCompared = (id: string): boolean => (comparedColumns as readonly string[]).includes(id)
/** Below this width of the table, px, a compared column shows B and the change; A is told by its title. */
export const NARROW_COMPARED_PX = 1180
const comparedWidth = (c: Column, isNarrow: boolean): string =>
  isCompared(c.id) ? (isNarrow ? '104px' : '148px') : c.id === 'rule' ? (isNarrow ? '86px' : '100px') : c.width

/** For `grid-template-columns` of head, rows and foot. */
export const template = (isNarrow: boolean, isComparing = false): string =>
  columns
    .filter((c) => !(isNarrow || isComparing) || !spared.has(c.id))
    .map((c) => (isComparing ? comparedWidth(c, isNarrow) : c.width))
    .join(' ')
