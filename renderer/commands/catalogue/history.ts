/** Commands of the History view. */
import type { CommandEntry } from '../command.ts'

export const historyCommands = [
  { id: 'history.next', title: 'Next row in Top movers', scope: 'history', keys: ['j'] },
  { id: 'history.previous', title: 'Previous row in Top movers', scope: 'history', keys: ['k'] },
  { id: 'history.open', title: 'Open job', scope: 'history', keys: ['Enter'], isFixed: true },
  { id: 'history.against-before', title: 'Set A to the preceding period', scope: 'history', keys: ['c'] },
  { id: 'history.closer', title: 'Zoom in', scope: 'history', keys: ['w'] },
  { id: 'history.wider', title: 'Zoom out', scope: 'history', keys: ['s'] },
  { id: 'history.earlier', title: 'Earlier', scope: 'history', keys: ['a'] },
  { id: 'history.later', title: 'Later', scope: 'history', keys: ['d'] },
  { id: 'history.values', title: 'Show the day as a table', scope: 'history', keys: ['v'] },
  { id: 'history.record', title: 'Record a range', scope: 'history', keys: ['r'] },
  {
    id: 'history.span',
    title: 'In the day chart: move the selected range; with Shift, its end',
    scope: 'history',
    keys: ['ArrowLeft', 'ArrowRight'],
    isLocal: true,
  },
  {
    id: 'history.span-length',
    title: 'In the day chart: move the range by its own length',
    scope: 'history',
    keys: ['PageUp', 'PageDown'],
    isLocal: true,
  },
  {
    id: 'history.span-away',
    title: 'In the day chart: remove the range',
    scope: 'history',
    keys: ['Delete'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
