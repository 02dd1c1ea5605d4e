/** Commands of the jobs. */
import type { CommandEntry } from '../command.ts'

export const jobsCommands = [
  { id: 'jobs.filter', title: 'Filter the jobs', scope: 'jobs', keys: ['/'] },
  { id: 'jobs.next', title: 'Next job', scope: 'jobs', keys: ['j'] },
  { id: 'jobs.previous', title: 'Job before', scope: 'jobs', keys: ['k'] },
  { id: 'jobs.open', title: 'Open the job', scope: 'jobs', keys: ['Enter'], isFixed: true },
  { id: 'jobs.close', title: 'Close the inspector', scope: 'jobs', keys: ['Backspace'] },
  {
    id: 'jobs.filter-leave',
    title: 'In the filter: clear and leave it',
    scope: 'jobs',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
