/** Commands of the time cursor and of the comparison. */
import type { CommandEntry } from '../command.ts'

export const timeCommands = [
  {
    id: 'time.pause',
    title: 'Pause on this sample, or live again',
    scope: 'everywhere',
    group: 'Time',
    keys: ['Space'],
  },
  {
    id: 'time.live',
    title: 'Back to live, also out of what was recorded',
    scope: 'everywhere',
    group: 'Time',
    keys: ['l'],
  },
  { id: 'time.back', title: 'One sample back', scope: 'everywhere', group: 'Time', keys: ['ArrowLeft'] },
  { id: 'time.on', title: 'One sample on', scope: 'everywhere', group: 'Time', keys: ['ArrowRight'] },
  { id: 'time.back-10', title: 'Ten samples back', scope: 'everywhere', group: 'Time', keys: ['Shift+ArrowLeft'] },
  { id: 'time.on-10', title: 'Ten samples on', scope: 'everywhere', group: 'Time', keys: ['Shift+ArrowRight'] },
  { id: 'time.back-minute', title: 'One minute back', scope: 'everywhere', group: 'Time', keys: ['Alt+ArrowLeft'] },
  { id: 'time.on-minute', title: 'One minute on', scope: 'everywhere', group: 'Time', keys: ['Alt+ArrowRight'] },
  { id: 'time.event-before', title: 'Event before', scope: 'everywhere', group: 'Time', keys: ['['] },
  { id: 'time.event-next', title: 'Next event', scope: 'everywhere', group: 'Time', keys: [']'] },
  {
    id: 'time.pin-a',
    title: 'Compare: pin A at the cursor, which is then B; again moves A',
    scope: 'everywhere',
    group: 'Time',
    keys: ['c'],
  },
  { id: 'time.unpin-a', title: 'Compare: end', scope: 'everywhere', group: 'Time', keys: ['Shift+c'] },
  { id: 'time.zoom-out', title: 'Out of the zoomed window', scope: 'everywhere', group: 'Time', keys: ['Backspace'] },
  {
    id: 'time.drag',
    title: 'On the strip: show that stretch; a double click goes back',
    scope: 'everywhere',
    group: 'Time',
    keys: ['Drag'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
