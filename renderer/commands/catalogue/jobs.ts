/** Commands of the Jobs view. */
import type { CommandEntry } from '../command.ts'

export const jobsCommands = [
  { id: 'jobs.filter', title: 'Filter jobs', scope: 'jobs', keys: ['/'] },
  { id: 'jobs.next', title: 'Next job', scope: 'jobs', keys: ['j'] },
  { id: 'jobs.previous', title: 'Previous job', scope: 'jobs', keys: ['k'] },
  { id: 'jobs.open', title: 'Open job', scope: 'jobs', keys: ['Enter'], isFixed: true },
  { id: 'jobs.close', title: 'Close inspector', scope: 'jobs', keys: ['Backspace'] },
  {
    id: 'jobs.filter-leave',
    title: 'In the filter: clear and close',
    scope: 'jobs',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
