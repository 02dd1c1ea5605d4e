/** Commands of the Overview. */
import type { CommandEntry } from '../command.ts'

export const overviewCommands = [
  { id: 'overview.next', title: 'Next job in Top movers', scope: 'overview', keys: ['j'] },
  { id: 'overview.previous', title: 'Previous job in Top movers', scope: 'overview', keys: ['k'] },
  { id: 'overview.open', title: 'Open job', scope: 'overview', keys: ['Enter'], isFixed: true },
] as const satisfies readonly CommandEntry[]
