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
  { id: 'charts.save-png', title: 'Save chart as PNG', scope: 'everywhere', group: 'Charts', keys: ['Shift+p'] },
  { id: 'charts.save-svg', title: 'Save chart as SVG', scope: 'everywhere', group: 'Charts', keys: ['Shift+s'] },
  { id: 'charts.closer', title: 'On a chart: halve the time window', scope: 'chart', group: 'Charts', keys: ['w'] },
  { id: 'charts.wider', title: 'On a chart: double the time window', scope: 'chart', group: 'Charts', keys: ['s'] },
  {
    id: 'charts.earlier',
    title: 'On a chart: half a time window back',
    scope: 'chart',
    group: 'Charts',
    keys: ['a'],
  },
  { id: 'charts.later', title: 'On a chart: half a time window forward', scope: 'chart', group: 'Charts', keys: ['d'] },
] as const satisfies readonly CommandEntry[]
