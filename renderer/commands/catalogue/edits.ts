/** Taking edits of the window back. Changes of a cluster are none of them: those are undone in Rules. */
import type { CommandEntry } from '../command.ts'

export const editsCommands = [
  { id: 'edits.undo', title: 'Undo the last edit', scope: 'everywhere', group: 'Edits', keys: ['mod+z'] },
  {
    id: 'edits.redo',
    title: 'Redo the edit that was undone',
    scope: 'everywhere',
    group: 'Edits',
    keys: ['mod+Shift+z', 'mod+y'],
  },
  {
    id: 'edits.undo-list',
    title: 'Undo list of rules: the last changes of the cluster',
    scope: 'everywhere',
    group: 'Edits',
    keys: ['z'],
  },
] as const satisfies readonly CommandEntry[]
