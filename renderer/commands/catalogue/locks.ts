/** Commands of the Locks view. */
import type { CommandEntry } from '../command.ts'

export const locksCommands = [
  { id: 'locks.filter', title: 'Filter resources', scope: 'locks', keys: ['/'] },
  { id: 'locks.next', title: 'Next resource', scope: 'locks', keys: ['j'] },
  { id: 'locks.previous', title: 'Previous resource', scope: 'locks', keys: ['k'] },
  { id: 'locks.event-before', title: 'Previous event or message', scope: 'locks', keys: [','] },
  { id: 'locks.event-next', title: 'Next event or message', scope: 'locks', keys: ['.'] },
  { id: 'locks.shorter', title: 'Shorter time range', scope: 'locks', keys: ['w'] },
  { id: 'locks.longer', title: 'Longer time range', scope: 'locks', keys: ['s'] },
  { id: 'locks.earlier', title: 'Half a range back', scope: 'locks', keys: ['a'] },
  { id: 'locks.later', title: 'Half a range forward', scope: 'locks', keys: ['d'] },
  { id: 'locks.peak', title: 'Back to the longest queue', scope: 'locks', keys: ['b'] },
  { id: 'locks.messages', title: 'Step through messages', scope: 'locks', keys: ['m'] },
  { id: 'locks.play', title: 'Play or pause messages', scope: 'locks', keys: ['Enter'], isFixed: true },
  { id: 'locks.values', title: 'Show the timeline as a table', scope: 'locks', keys: ['v'] },
  { id: 'locks.compare', title: 'Compare the lock managers on the model', scope: 'locks', keys: ['r'], needs: 'host' },
  {
    id: 'locks.lane-event',
    title: 'In the timeline: step by event; in the overview: move the range',
    scope: 'locks',
    keys: ['ArrowLeft', 'ArrowRight'],
    isLocal: true,
  },
  {
    id: 'locks.lane-peak',
    title: 'In the timeline: back to the longest queue',
    scope: 'locks',
    keys: ['Escape'],
    isLocal: true,
  },
  {
    id: 'locks.filter-leave',
    title: 'In the filter: clear and close',
    scope: 'locks',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
