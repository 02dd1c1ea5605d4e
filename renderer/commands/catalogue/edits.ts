/** Undo and redo of edits in the window. Changes of a cluster are not included: those are rolled back in Rules. */
import type { CommandEntry } from '../command.ts'

export const editsCommands = [
  { id: 'edits.undo', title: 'Undo', scope: 'everywhere', group: 'Edits', keys: ['mod+z'] },
  {
    id: 'edits.redo',
    title: 'Redo',
    scope: 'everywhere',
    group: 'Edits',
    keys: ['mod+Shift+z', 'mod+y'],
  },
  {
    id: 'edits.undo-list',
    title: 'Change history: recent changes of the cluster',
    keywords: 'rollback roll back revert undo',
    scope: 'everywhere',
    group: 'Edits',
    keys: ['z'],
  },
] as const satisfies readonly CommandEntry[]
