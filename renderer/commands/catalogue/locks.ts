/** Commands of the locks. */
import type { CommandEntry } from '../command.ts'

export const locksCommands = [
  { id: 'locks.filter', title: 'Filter the resources', scope: 'locks', keys: ['/'] },
  { id: 'locks.next', title: 'Next resource', scope: 'locks', keys: ['j'] },
  { id: 'locks.previous', title: 'Resource before', scope: 'locks', keys: ['k'] },
  { id: 'locks.event-before', title: 'One event or message back', scope: 'locks', keys: [','] },
  { id: 'locks.event-next', title: 'One event or message on', scope: 'locks', keys: ['.'] },
  { id: 'locks.shorter', title: 'Shorter moment', scope: 'locks', keys: ['w'] },
  { id: 'locks.longer', title: 'Longer moment', scope: 'locks', keys: ['s'] },
  { id: 'locks.earlier', title: 'Half a moment back', scope: 'locks', keys: ['a'] },
  { id: 'locks.later', title: 'Half a moment on', scope: 'locks', keys: ['d'] },
  { id: 'locks.peak', title: 'Back to the longest queue', scope: 'locks', keys: ['b'] },
  { id: 'locks.messages', title: 'Messages one by one', scope: 'locks', keys: ['m'] },
  { id: 'locks.play', title: 'Play the messages, or hold them', scope: 'locks', keys: ['Enter'], isFixed: true },
  { id: 'locks.values', title: 'The lanes as a table', scope: 'locks', keys: ['v'] },
  { id: 'locks.compare', title: 'Compare the lock managers on the model', scope: 'locks', keys: ['r'], needs: 'host' },
  {
    id: 'locks.lane-event',
    title: 'In the lanes: event by event; in the overview: the moment',
    scope: 'locks',
    keys: ['ArrowLeft', 'ArrowRight'],
    isLocal: true,
  },
  {
    id: 'locks.lane-peak',
    title: 'In the lanes: back to the longest queue',
    scope: 'locks',
    keys: ['Escape'],
    isLocal: true,
  },
  {
    id: 'locks.filter-leave',
    title: 'In the filter: clear and leave it',
    scope: 'locks',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
