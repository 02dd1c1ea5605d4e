/** Columns of the jobs table, with the letters that sort by them. */
import type { JobColumn } from '#core/api/frames.ts'
import { plainText } from '../../format/plain-text.ts'
import { rateUnit } from '../../format/units.ts'
import type { TableColumn } from '../../widgets/data-table.ts'
import { asCompared } from '../compared.ts'
import type { ComparedColumn, Row } from './rows.ts'

type Column = TableColumn<Row>
type FigureColumn = Exclude<JobColumn, 'jobId' | 'account' | 'rule'>

/** Table width below which a compared column shows only B and the change, px; A is in the tooltip. */
export const NARROW_COMPARED_PX = 1180
const COMPARED_PX = 128
const SHORT_COMPARED_PX = 92

/** Sort keys; the same letters as ltop where it has the column. */
const sortKeys: Readonly<Partial<Record<JobColumn, string>>> = {
  readBps: 'r',
  writeBps: 'w',
  rpcs: 'i',
  mdops: 'o',
  throttled: 'u',
  record: 'g',
  jobId: 'n',
}

/** Columns share the spare width; the job takes the first of it, so that values stay near the names. */
const column = (id: string, title: string, width: number, more: Partial<Column>): Column => ({
  id,
  title,
  width,
  flex: width,
  explain: `jobs.${id}`,
  ...more,
})
const sorted = (id: JobColumn, title: string, width: number, more: Partial<Column>): Column =>
  column(id, title, width, { canSort: true, sortKey: sortKeys[id], ...more })
const figure = (
  id: FigureColumn,
  title: string,
  width: number,
  text: (row: Row) => string,
  more: Partial<Column> = {},
): Column =>
  sorted(id, title, width, { isNumber: true, text, value: ({ source, at }) => source[id][at] ?? null, ...more })

/** @param comparing  set while two instants are compared: `short` in narrow tables. */
export function jobColumns(comparing?: 'short' | 'full'): readonly Column[] {
  const isShort = comparing === 'short'
  const width = isShort ? SHORT_COMPARED_PX : COMPARED_PX
  const compared = (id: ComparedColumn, plain: Column): Column =>
    comparing === undefined
      ? plain
      : asCompared({ ...plain, flex: width }, (row) => row.compared?.[id], { isShort, width })
  return [
    column('rank', '#', 36, { isNumber: true, isFixed: true, flex: undefined, cellClass: 't3' }),
    sorted('jobId', 'Job', 120, {
      flex: 480,
      canHide: false,
      cellClass: 'clip jid',
      text: (row) => plainText(row.id),
      cellAttributes: (row) => ({ title: row.who }),
    }),
    sorted('account', 'Account', 60, {
      priority: 2,
      cellClass: 'clip t2',
      text: (row) => plainText(row.account),
      cellAttributes: (row) => ({ title: row.account }),
    }),
    figure('nodes', 'Nodes', 44, (row) => (row.isUnmapped ? `${row.nodes}?` : row.nodes), {
      priority: 1,
      cellAttributes: (row) =>
        row.isUnmapped
          ? {
              class: 't3',
              title: 'Nodes unknown: the batch system reports none for this job; counted as 1 node',
            }
          : {},
    }),
    compared(
      'rpcs',
      figure('rpcs', 'RPC/s', 96, (row) => row.rpcs, {
        cellClass: 'row',
        cellAttributes: (row) => ({
          title: row.isPartial ? 'Lower bound: some of its targets were not measured' : undefined,
        }),
      }),
    ),
    compared(
      'readBps',
      figure('readBps', 'Read', 58, (row) => row.read, { unit: rateUnit().unit }),
    ),
    compared(
      'writeBps',
      figure('writeBps', 'Write', 60, (row) => row.write, { unit: rateUnit().unit }),
    ),
    compared(
      'mdops',
      figure('mdops', 'MD op/s', 52, (row) => row.mdops, { priority: 3 }),
    ),
    figure('ioBytes', 'Avg I/O', 52, (row) => row.ioBytes, { priority: 1, cellClass: 't2' }),
    column('topOp', 'Top op', 40, {
      priority: 1,
      cellClass: 'clip t2',
      text: (row) => plainText(row.topOp),
      cellAttributes: (row) => ({ title: row.topOp }),
    }),
    compared(
      'throttled',
      figure('throttled', 'Throttled', 68, (row) => row.throttledText, { priority: 5, cellClass: 'row' }),
    ),
    sorted('rule', 'Rule', comparing === undefined ? 92 : 72, {
      priority: 4,
      cellClass: 'clip',
      text: (row) => plainText(row.rule),
      cellAttributes: (row) => ({ title: row.ruleTitle }),
    }),
    compared(
      'record',
      figure('record', 'Balance', 128, (row) => row.recordText, {
        unit: comparing === undefined ? 'tokens, \u221A' : undefined,
        cellClass: 'row',
        cellAttributes: (row) => ({ title: row.recordTitle }),
      }),
    ),
  ]
}
