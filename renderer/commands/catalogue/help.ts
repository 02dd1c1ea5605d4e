/** Commands of help: explanations, pages, the tour. */
import type { CommandEntry } from '../command.ts'

export const helpCommands = [
  {
    id: 'frame.explain',
    title: 'Explain the next number; Esc closes',
    scope: 'everywhere',
    group: 'Help',
    keys: ['F1'],
  },
  {
    id: 'frame.explain-back',
    title: 'Explain the previous number',
    scope: 'everywhere',
    group: 'Help',
    keys: ['Shift+F1'],
  },
  { id: 'frame.manual', title: 'Help for this view', scope: 'everywhere', group: 'Help', keys: ['h'] },
  {
    id: 'frame.tour',
    title: 'Start the tour: first ten minutes, on the emulator',
    scope: 'everywhere',
    group: 'Help',
    keys: [],
  },
] as const satisfies readonly CommandEntry[]
