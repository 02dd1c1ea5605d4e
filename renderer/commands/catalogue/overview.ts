/** Commands of the overview. */
import type { CommandEntry } from '../command.ts'

export const overviewCommands = [
  { id: 'overview.next', title: 'Next job that moved', scope: 'overview', keys: ['j'] },
  { id: 'overview.previous', title: 'Job that moved before', scope: 'overview', keys: ['k'] },
  { id: 'overview.open', title: 'Open the job', scope: 'overview', keys: ['Enter'], isFixed: true },
] as const satisfies readonly CommandEntry[]
