/**
 * Commands of tables. They act on the table that has the focus, else on the one under the pointer, else on the view's main
 * table. Letters of sorting are those of ltop, on the columns that are there: each head says its own.
 */
import type { CommandEntry } from '../command.ts'

export const tablesCommands = [
  { id: 'tables.next', title: 'Next row of the table', scope: 'everywhere', group: 'Tables', keys: ['j'] },
  { id: 'tables.previous', title: 'Row of the table before', scope: 'everywhere', group: 'Tables', keys: ['k'] },
  {
    ...{ id: 'tables.open', title: 'Open the row', scope: 'everywhere', group: 'Tables' },
    ...{ keys: ['Enter'], isFixed: true },
  },
  { id: 'tables.tag', title: 'Tag the row, or take its tag', scope: 'everywhere', group: 'Tables', keys: ['x'] },
  { id: 'tables.untag', title: 'Clear all tags', scope: 'everywhere', group: 'Tables', keys: ['Shift+x'] },
  {
    ...{ id: 'tables.copy', title: 'Copy the row as text, the command, or the chart as a picture' },
    ...{ scope: 'everywhere', group: 'Tables', keys: ['y'] },
  },
  { id: 'tables.sort-read', title: 'Sort by what is read', scope: 'everywhere', group: 'Tables', keys: ['s r'] },
  { id: 'tables.sort-write', title: 'Sort by what is written', scope: 'everywhere', group: 'Tables', keys: ['s w'] },
  { id: 'tables.sort-rpc', title: 'Sort by IOPS or RPC/s', scope: 'everywhere', group: 'Tables', keys: ['s i'] },
  {
    id: 'tables.sort-locks',
    title: 'Sort by locks, or who waits',
    scope: 'everywhere',
    group: 'Tables',
    keys: ['s l'],
  },
  {
    ...{ id: 'tables.sort-grants', title: 'Sort by grants, or tokens lent' },
    ...{ scope: 'everywhere', group: 'Tables', keys: ['s g'] },
  },
  { id: 'tables.sort-ops', title: 'Sort by metadata operations', scope: 'everywhere', group: 'Tables', keys: ['s o'] },
  { id: 'tables.sort-use', title: 'Sort by use', scope: 'everywhere', group: 'Tables', keys: ['s u'] },
  { id: 'tables.sort-name', title: 'Sort by name', scope: 'everywhere', group: 'Tables', keys: ['s n'] },
  { id: 'tables.group-user', title: 'Group by user', scope: 'everywhere', group: 'Tables', keys: ['g u'] },
  { id: 'tables.group-account', title: 'Group by account', scope: 'everywhere', group: 'Tables', keys: ['g a'] },
  { id: 'tables.group-exe', title: 'Group by executable', scope: 'everywhere', group: 'Tables', keys: ['g e'] },
  { id: 'tables.group-node', title: 'Group by node', scope: 'everywhere', group: 'Tables', keys: ['g n'] },
  { id: 'tables.group-job', title: 'No groups: job by job', scope: 'everywhere', group: 'Tables', keys: ['g j'] },
] as const satisfies readonly CommandEntry[]
