/** Commands of the time cursor and of the comparison. */
import type { CommandEntry } from '../command.ts'

export const timeCommands = [
  {
    id: 'time.pause',
    title: 'Pause on this sample, or resume live',
    scope: 'everywhere',
    group: 'Time',
    keys: ['Space'],
  },
  {
    id: 'time.live',
    title: 'Back to live, also from a recording',
    scope: 'everywhere',
    group: 'Time',
    keys: ['l'],
  },
  { id: 'time.back', title: 'Previous sample', scope: 'everywhere', group: 'Time', keys: ['ArrowLeft'] },
  { id: 'time.on', title: 'Next sample', scope: 'everywhere', group: 'Time', keys: ['ArrowRight'] },
  { id: 'time.back-10', title: 'Ten samples back', scope: 'everywhere', group: 'Time', keys: ['Shift+ArrowLeft'] },
  { id: 'time.on-10', title: 'Ten samples forward', scope: 'everywhere', group: 'Time', keys: ['Shift+ArrowRight'] },
  { id: 'time.back-minute', title: 'One minute back', scope: 'everywhere', group: 'Time', keys: ['Alt+ArrowLeft'] },
  { id: 'time.on-minute', title: 'One minute forward', scope: 'everywhere', group: 'Time', keys: ['Alt+ArrowRight'] },
  { id: 'time.event-before', title: 'Previous event', scope: 'everywhere', group: 'Time', keys: ['['] },
  { id: 'time.event-next', title: 'Next event', scope: 'everywhere', group: 'Time', keys: [']'] },
  {
    id: 'time.pin-a',
    title: 'Compare: pin A at the cursor; again moves A',
    scope: 'everywhere',
    group: 'Time',
    keys: ['c'],
  },
  { id: 'time.unpin-a', title: 'Compare: end the comparison', scope: 'everywhere', group: 'Time', keys: ['Shift+c'] },
  { id: 'time.zoom-out', title: 'Undo zoom', scope: 'everywhere', group: 'Time', keys: ['Backspace'] },
  {
    id: 'time.drag',
    title: 'On the time strip: zoom to that range; double click zooms out',
    scope: 'everywhere',
    group: 'Time',
    keys: ['Drag'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
