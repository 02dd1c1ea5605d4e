/** Commands of the Papers view. */
import type { CommandEntry } from '../command.ts'

export const papersCommands = [
  { id: 'papers.next', title: 'Next experiment', scope: 'papers', keys: ['j'] },
  { id: 'papers.previous', title: 'Previous experiment', scope: 'papers', keys: ['k'] },
  { id: 'papers.run', title: 'Run experiment', scope: 'papers', keys: ['r'], needs: 'host' },
] as const satisfies readonly CommandEntry[]
