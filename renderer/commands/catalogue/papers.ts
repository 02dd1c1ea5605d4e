/** Commands of the papers. */
import type { CommandEntry } from '../command.ts'

export const papersCommands = [
  { id: 'papers.next', title: 'Next experiment', scope: 'papers', keys: ['j'] },
  { id: 'papers.previous', title: 'Experiment before', scope: 'papers', keys: ['k'] },
  { id: 'papers.run', title: 'Run the experiment', scope: 'papers', keys: ['r'], needs: 'host' },
] as const satisfies readonly CommandEntry[]
