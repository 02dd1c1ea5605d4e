/** Commands of the Incidents view. */
import type { CommandEntry } from '../command.ts'

export const incidentsCommands = [
  { id: 'incidents.filter', title: 'Filter incidents', scope: 'incidents', keys: ['/'] },
  { id: 'incidents.next', title: 'Next incident', scope: 'incidents', keys: ['j'] },
  { id: 'incidents.previous', title: 'Previous incident', scope: 'incidents', keys: ['k'] },
  { id: 'incidents.open', title: 'Open notebook', scope: 'incidents', keys: ['Enter'], isFixed: true },
  {
    id: 'incidents.values',
    title: 'Show charts as tables; on a chart, only that one',
    scope: 'incidents',
    keys: ['v'],
  },
  { id: 'incidents.note-edit', title: 'On a note: edit it', scope: 'incidents', keys: ['Enter'], isLocal: true },
  { id: 'incidents.note-keep', title: 'In a note: save it', scope: 'incidents', keys: ['mod+Enter'], isLocal: true },
  {
    id: 'incidents.cell-move',
    title: 'On a cell: move it',
    scope: 'incidents',
    keys: ['Alt+ArrowUp', 'Alt+ArrowDown'],
    isLocal: true,
  },
  {
    id: 'incidents.cell-out',
    title: 'On a cell: remove it',
    scope: 'incidents',
    keys: ['Delete'],
    isLocal: true,
  },
  {
    id: 'incidents.paste',
    title: 'Paste transcript',
    scope: 'incidents',
    keys: ['mod+v'],
    isLocal: true,
  },
  {
    id: 'incidents.filter-leave',
    title: 'In the filter: clear and close',
    scope: 'incidents',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
