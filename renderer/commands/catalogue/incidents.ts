/** Commands of the incidents. */
import type { CommandEntry } from '../command.ts'

export const incidentsCommands = [
  { id: 'incidents.filter', title: 'Filter the notebooks', scope: 'incidents', keys: ['/'] },
  { id: 'incidents.next', title: 'Next incident', scope: 'incidents', keys: ['j'] },
  { id: 'incidents.previous', title: 'Incident before', scope: 'incidents', keys: ['k'] },
  { id: 'incidents.open', title: 'Into the notebook', scope: 'incidents', keys: ['Enter'], isFixed: true },
  { id: 'incidents.values', title: 'Charts as tables; on a chart that one', scope: 'incidents', keys: ['v'] },
  { id: 'incidents.note-edit', title: 'On a note: edit it', scope: 'incidents', keys: ['Enter'], isLocal: true },
  { id: 'incidents.note-keep', title: 'In a note: keep it', scope: 'incidents', keys: ['mod+Enter'], isLocal: true },
  {
    id: 'incidents.cell-move',
    title: 'On a cell: move it',
    scope: 'incidents',
    keys: ['Alt+ArrowUp', 'Alt+ArrowDown'],
    isLocal: true,
  },
  {
    id: 'incidents.cell-out',
    title: 'On a cell: take it out; it can be undone',
    scope: 'incidents',
    keys: ['Delete'],
    isLocal: true,
  },
  {
    id: 'incidents.paste',
    title: 'Lines that are pasted become a transcript',
    scope: 'incidents',
    keys: ['mod+v'],
    isLocal: true,
  },
  {
    id: 'incidents.filter-leave',
    title: 'In the filter: clear and leave it',
    scope: 'incidents',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
