/** Commands of help: meanings, pages, the tour. */
import type { CommandEntry } from '../command.ts'

export const helpCommands = [
  {
    id: 'frame.explain',
    title: 'What does this number mean: one after the other, Esc ends',
    scope: 'everywhere',
    group: 'Help',
    keys: ['F1'],
  },
  {
    id: 'frame.explain-back',
    title: 'What does the number before it mean',
    scope: 'everywhere',
    group: 'Help',
    keys: ['Shift+F1'],
  },
  { id: 'frame.manual', title: 'Help for this view', scope: 'everywhere', group: 'Help', keys: ['h'] },
  { id: 'frame.tour', title: 'The first ten minutes, on the emulator', scope: 'everywhere', group: 'Help', keys: [] },
] as const satisfies readonly CommandEntry[]
