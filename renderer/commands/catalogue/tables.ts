/**
 * Commands of tables. They act on the table that has the focus, else on the one under the pointer, else on the view's
 * main table. Sort letters are those of ltop, for the columns present; each column header shows its letter.
 */
import type { CommandEntry } from '../command.ts'

export const tablesCommands = [
  { id: 'tables.next', title: 'Next row', scope: 'everywhere', group: 'Tables', keys: ['j'] },
  { id: 'tables.previous', title: 'Previous row', scope: 'everywhere', group: 'Tables', keys: ['k'] },
  {
    id: 'tables.open',
    title: 'Open row',
    scope: 'everywhere',
    group: 'Tables',
    keys: ['Enter'],
    isFixed: true,
  },
  { id: 'tables.tag', title: 'Tag or untag the row', scope: 'everywhere', group: 'Tables', keys: ['x'] },
  { id: 'tables.untag', title: 'Clear all tags', scope: 'everywhere', group: 'Tables', keys: ['Shift+x'] },
  {
    id: 'tables.copy',
    title: 'Copy the row or command as text, or the chart as an image',
    scope: 'everywhere',
    group: 'Tables',
    keys: ['y'],
  },
  { id: 'tables.sort-read', title: 'Sort by reads', scope: 'everywhere', group: 'Tables', keys: ['s r'] },
  { id: 'tables.sort-write', title: 'Sort by writes', scope: 'everywhere', group: 'Tables', keys: ['s w'] },
  { id: 'tables.sort-rpc', title: 'Sort by IOPS or RPC/s', scope: 'everywhere', group: 'Tables', keys: ['s i'] },
  {
    id: 'tables.sort-locks',
    title: 'Sort by locks or waiters',
    scope: 'everywhere',
    group: 'Tables',
    keys: ['s l'],
  },
  {
    id: 'tables.sort-grants',
    title: 'Sort by grants or tokens lent',
    scope: 'everywhere',
    group: 'Tables',
    keys: ['s g'],
  },
  { id: 'tables.sort-ops', title: 'Sort by metadata operations', scope: 'everywhere', group: 'Tables', keys: ['s o'] },
  { id: 'tables.sort-use', title: 'Sort by use', scope: 'everywhere', group: 'Tables', keys: ['s u'] },
  { id: 'tables.sort-name', title: 'Sort by name', scope: 'everywhere', group: 'Tables', keys: ['s n'] },
  { id: 'tables.group-user', title: 'Group by user', scope: 'everywhere', group: 'Tables', keys: ['g u'] },
  { id: 'tables.group-account', title: 'Group by account', scope: 'everywhere', group: 'Tables', keys: ['g a'] },
  { id: 'tables.group-exe', title: 'Group by executable', scope: 'everywhere', group: 'Tables', keys: ['g e'] },
  { id: 'tables.group-node', title: 'Group by node', scope: 'everywhere', group: 'Tables', keys: ['g n'] },
  { id: 'tables.group-job', title: 'Ungroup', scope: 'everywhere', group: 'Tables', keys: ['g j'] },
] as const satisfies readonly CommandEntry[]
