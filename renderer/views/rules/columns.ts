/** Columns of the rule list. */
import { plainText } from '../../format/plain-text.ts'
import type { TableColumn } from '../../widgets/data-table.ts'
import type { RuleRow, RuleRowModel } from './rule-row-model.ts'

/** Row of the list with what is shown of it. */
export interface ListedRule {
  readonly row: RuleRow
  readonly model: RuleRowModel
  /** Position in match order, from 1. */
  readonly rank: number
  /** The rule has gone since the order was paused. */
  readonly isGone: boolean
}

/** Glyph and word of a staged change, the same as in a diff. */
export const marks = {
  '': { glyph: '', word: '' },
  add: { glyph: '+', word: 'staged: start' },
  mod: { glyph: '~', word: 'staged: change' },
  del: { glyph: '\u2212', word: 'staged: stop' },
} as const

/** True if the expiry is shown also if there is none: of a rule that Sluice manages. */
export const hasExpiry = ({ row, model }: ListedRule): boolean =>
  model.left !== null || row.owner === 'sluice' || row.owner === 'operator'

/** Names need the space: columns that the inspector or a wider window shows are hidden first. */
export const columns: readonly TableColumn<ListedRule>[] = [
  {
    id: 'rank',
    title: '#',
    label: 'Rank',
    isNumber: true,
    isFixed: true,
    width: 42,
    explain: 'rules.rank',
    value: ({ rank }) => rank,
    text: ({ rank }) => String(rank),
  },
  {
    id: 'staged',
    title: '',
    label: 'Staged',
    isFixed: true,
    width: 12,
    explain: 'rules.staged',
    text: ({ row }) => marks[row.staged].word,
  },
  {
    id: 'name',
    title: 'Name and conditions',
    width: 152,
    flex: 5,
    canHide: false,
    explain: 'rules.name',
    text: ({ row }) => plainText(`${row.name} ${row.conditions}`),
  },
  {
    id: 'rate',
    title: 'Rate',
    unit: 'RPC/s',
    isNumber: true,
    width: 104,
    flex: 1,
    explain: 'rules.rate',
    text: ({ model }) => model.rate,
  },
  {
    id: 'matching',
    title: 'Classes (ref)',
    width: 76,
    maxWidth: 104,
    explain: 'rules.matching',
    cellClass: 'row',
    text: ({ model }) => model.matching,
  },
  {
    id: 'used',
    title: 'Tokens used',
    width: 96,
    flex: 1,
    priority: 1,
    explain: 'rules.used',
    cellClass: 'row',
    value: ({ row }) => row.used,
    text: ({ model }) => model.used,
  },
  {
    id: 'expires',
    title: 'Expires',
    width: 92,
    flex: 1,
    explain: 'rules.expires',
    cellClass: 'row',
    text: (rule) => (hasExpiry(rule) ? rule.model.expires : ''),
  },
  {
    id: 'servers',
    title: 'Servers',
    isNumber: true,
    width: 62,
    priority: 1,
    explain: 'rules.servers',
    text: ({ model }) => model.servers,
    cellAttributes: ({ model }) => ({ title: model.missing }),
  },
]
