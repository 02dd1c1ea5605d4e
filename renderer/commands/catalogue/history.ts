/** Commands of the history. */
import type { CommandEntry } from '../command.ts'

export const historyCommands = [
  { id: 'history.next', title: 'Next job that moved', scope: 'history', keys: ['j'] },
  { id: 'history.previous', title: 'Job that moved before', scope: 'history', keys: ['k'] },
  { id: 'history.open', title: 'Open the job', scope: 'history', keys: ['Enter'], isFixed: true },
  { id: 'history.against-before', title: 'A right before B', scope: 'history', keys: ['c'] },
  { id: 'history.closer', title: 'Closer', scope: 'history', keys: ['w'] },
  { id: 'history.wider', title: 'Wider', scope: 'history', keys: ['s'] },
  { id: 'history.earlier', title: 'Earlier', scope: 'history', keys: ['a'] },
  { id: 'history.later', title: 'Later', scope: 'history', keys: ['d'] },
  { id: 'history.values', title: 'The day as a table', scope: 'history', keys: ['v'] },
  { id: 'history.record', title: 'Record a stretch', scope: 'history', keys: ['r'] },
  {
    id: 'history.span',
    title: 'In the day: move the chosen span; with Shift its end',
    scope: 'history',
    keys: ['ArrowLeft', 'ArrowRight'],
    isLocal: true,
  },
  {
    id: 'history.span-length',
    title: 'In the day: move the span by its own length',
    scope: 'history',
    keys: ['PageUp', 'PageDown'],
    isLocal: true,
  },
  {
    id: 'history.span-away',
    title: 'In the day: take the span away',
    scope: 'history',
    keys: ['Delete'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
