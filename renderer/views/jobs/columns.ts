/** Columns of the jobs table in order: title, unit, width, and sort key of the host. */
import type { JobColumn } from '#core/api/frames.ts'

export interface Column {
  readonly id: string
  readonly title: string
  readonly unit?: string
  /** Set if the unit is the operator's choice for bytes per second. */
  readonly isRate?: true
  readonly width: string
  readonly isNumber: boolean
  readonly sort?: JobColumn
}
const column = (id: string, title: string, width: string, isNumber: boolean, more: Partial<Column> = {}): Column => ({
  id,
  title,
  width,
  isNumber,
  ...more,
})
const sorted = (id: JobColumn, title: string, width: string, isNumber = true, unit?: string): Column =>
  column(id, title, width, isNumber, { sort: id, ...(unit === undefined ? {} : { unit }) })
const rate = (id: JobColumn, title: string, width: string): Column =>
  column(id, title, width, true, { sort: id, isRate: true })

export const columns: readonly Column[] = [
  column('rank', '#', '34px', true),
  sorted('jobId', 'Job', 'minmax(140px, 1fr)', false),
  sorted('account', 'Account', '72px', false),
  sorted('nodes', 'Nodes', '50px'),
  sorted('rpcs', 'RPC/s', '114px'),
  rate('readBps', 'Read', '70px'),
  rate('writeBps', 'Write', '72px'),
  sorted('mdops', 'Md op/s', '64px'),
  sorted('ioBytes', 'Avg I/O', '68px'),
  column('topOp', 'Top op', '54px', false),
  sorted('throttled', 'Throttled', '80px'),
  sorted('rule', 'Rule', '112px', false),
  sorted('record', 'Record', '148px', true, 'tokens, \u221A'),
]
/** Below this table width, px, the columns in `spared` are hidden, so that the record stays visible. */
export const NARROW_PX = 1064
const spared = new Set(['ioBytes', 'topOp', 'nodes'])
/** Columns hidden below these widths, px, e.g. beside the inspector, which shows the same for one job. */
const further = [
  { below: 906, id: 'account' },
  { below: 834, id: 'mdops' },
  { below: 770, id: 'rule' },
  { below: 658, id: 'throttled' },
] as const
/** Columns hidden at this table width; 0 means that the width is not known yet. */
export const gone = (widthPx: number): readonly string[] =>
  widthPx === 0 || widthPx >= NARROW_PX
    ? []
    : [...spared, ...further.flatMap(({ below, id }) => (widthPx < below ? [id] : []))]
/** Columns with A, B and the change while two instants are compared; the spared columns are hidden then. */
export const comparedColumns = ['rpcs', 'readBps', 'writeBps', 'mdops', 'throttled', 'record'] as const
export type ComparedColumn = (typeof comparedColumns)[number]
const isCompared = (id: string): boolean => (comparedColumns as readonly string[]).includes(id)
/** Below this table width, px, a compared column shows only B and the change; A is in the tooltip. */
export const NARROW_COMPARED_PX = 1180
const comparedWidth = (c: Column, isNarrow: boolean): string =>
  isCompared(c.id) ? (isNarrow ? '104px' : '148px') : c.id === 'rule' ? (isNarrow ? '86px' : '100px') : c.width

/** From this table width, px, all columns share the spare width, so that values stay near the job names. */
export const WIDE_PX = 1600
const wideWidth = (c: Column): string =>
  c.id === 'rank'
    ? c.width
    : c.id === 'jobId'
      ? 'minmax(140px, 300fr)'
      : `minmax(${c.width}, ${parseInt(c.width, 10)}fr)`

/** Value of `grid-template-columns` for header, rows and footer. */
export const template = (
  isNarrow: boolean,
  isComparing = false,
  without: readonly string[] = [],
  isWide = false,
): string =>
  columns
    .filter((c) => !(isNarrow || isComparing) || !spared.has(c.id))
    .filter((c) => isComparing || !without.includes(c.id))
    .map((c) => (isComparing ? comparedWidth(c, isNarrow) : isWide ? wideWidth(c) : c.width))
    .join(' ')

/** Sort keys; the same letters as ltop where it has the column. */
export const sortKeys: Readonly<Partial<Record<JobColumn, string>>> = {
  readBps: 'r',
  writeBps: 'w',
  rpcs: 'i',
  mdops: 'o',
  throttled: 'u',
  record: 'g',
  jobId: 'n',
}
