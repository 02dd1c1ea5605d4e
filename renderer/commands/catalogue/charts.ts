/**
 * Commands of charts. They act on the chart that has the focus, else on the one under the pointer. Locks and History
 * have zoom keys of their own, which apply wherever the pointer is, except in a table.
 */
import type { CommandEntry } from '../command.ts'

export const chartsCommands = [
  {
    id: 'charts.values',
    title: 'Show chart values as a table',
    scope: 'everywhere',
    group: 'Charts',
    keys: ['v'],
  },
  {
    id: 'charts.full',
    title: 'Toggle full-size panel',
    scope: 'everywhere',
    group: 'Charts',
    keys: ['f'],
  },
  { id: 'charts.closer', title: 'On a chart: halve the window', scope: 'chart', group: 'Charts', keys: ['w'] },
  { id: 'charts.wider', title: 'On a chart: double the window', scope: 'chart', group: 'Charts', keys: ['s'] },
  {
    id: 'charts.earlier',
    title: 'On a chart: half a window back',
    scope: 'chart',
    group: 'Charts',
    keys: ['a'],
  },
  { id: 'charts.later', title: 'On a chart: half a window forward', scope: 'chart', group: 'Charts', keys: ['d'] },
] as const satisfies readonly CommandEntry[]
