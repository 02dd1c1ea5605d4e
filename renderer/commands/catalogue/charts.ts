/**
 * Commands of charts. They act on the chart that has the focus, else on the one under the pointer. Locks and History have zoom
 * keys of their own, which hold there wherever the pointer is, unless it is in a table.
 */
import type { CommandEntry } from '../command.ts'

export const chartsCommands = [
  {
    ...{ id: 'charts.values', title: 'Values of the chart as a table, at the cursor' },
    ...{ scope: 'everywhere', group: 'Charts', keys: ['v'] },
  },
  {
    ...{ id: 'charts.full', title: 'The panel fills the view; again, or Esc, puts it back' },
    ...{ scope: 'everywhere', group: 'Charts', keys: ['f'] },
  },
  { id: 'charts.closer', title: 'On a chart: half the window', scope: 'chart', group: 'Charts', keys: ['w'] },
  { id: 'charts.wider', title: 'On a chart: twice the window', scope: 'chart', group: 'Charts', keys: ['s'] },
  {
    ...{ id: 'charts.earlier', title: 'On a chart: half a window back' },
    ...{ scope: 'chart', group: 'Charts', keys: ['a'] },
  },
  { id: 'charts.later', title: 'On a chart: half a window on', scope: 'chart', group: 'Charts', keys: ['d'] },
] as const satisfies readonly CommandEntry[]
