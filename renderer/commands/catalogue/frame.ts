/** Commands of the frame: views, palette, what can be done from every view. */
import type { CommandEntry } from '../command.ts'

export const frameCommands = [
  { id: 'frame.overview', title: 'Go to Overview', scope: 'everywhere', group: 'Views', keys: ['1'] },
  { id: 'frame.jobs', title: 'Go to Jobs', scope: 'everywhere', group: 'Views', keys: ['2'] },
  { id: 'frame.rules', title: 'Go to Rules', scope: 'everywhere', group: 'Views', keys: ['3'] },
  { id: 'frame.locks', title: 'Go to Locks', scope: 'everywhere', group: 'Views', keys: ['4'] },
  { id: 'frame.metadata', title: 'Go to Metadata QoS', scope: 'everywhere', group: 'Views', keys: ['5'] },
  { id: 'frame.tokens', title: 'Go to Tokens', scope: 'everywhere', group: 'Views', keys: ['6'] },
  { id: 'frame.sandbox', title: 'Go to Sandbox', scope: 'everywhere', group: 'Views', keys: ['7'] },
  { id: 'frame.history', title: 'Go to History', scope: 'everywhere', group: 'Views', keys: ['8'] },
  { id: 'frame.incidents', title: 'Go to Incidents', scope: 'everywhere', group: 'Views', keys: ['9'] },
  { id: 'frame.connections', title: 'Go to Connections', scope: 'everywhere', group: 'Views', keys: ['0'] },
  { id: 'frame.papers', title: 'Go to Papers', scope: 'everywhere', group: 'Views', keys: [] },
  { id: 'frame.settings', title: 'Settings', scope: 'everywhere', group: 'Views', keys: [','] },
  { id: 'frame.palette', title: 'Command palette', scope: 'everywhere', keys: ['mod+k'] },
  { id: 'frame.go-to', title: 'Go to, by a line of text', scope: 'everywhere', keys: [':'] },
  { id: 'frame.help', title: 'Keys and help', scope: 'everywhere', keys: ['?'] },
  {
    id: 'frame.dry-run',
    title: 'Dry run: fork what is on screen and run it on the model',
    scope: 'everywhere',
    keys: ['d', 'Shift+d'],
  },
  {
    id: 'frame.propose',
    title: 'Propose a limit for the selected job, or the busiest',
    scope: 'everywhere',
    keys: ['p'],
  },
  {
    id: 'frame.incident',
    title: 'New incident at the cursor',
    scope: 'everywhere',
    keys: ['n'],
  },
  { id: 'frame.note', title: 'Note at the cursor, or a new incident', scope: 'everywhere', keys: ['Shift+n'] },
  { id: 'frame.export', title: 'Export a bundle, after what leaves is shown', scope: 'everywhere', keys: ['mod+e'] },
  { id: 'frame.stop-all', title: 'Stop and remove all my rules', scope: 'everywhere', keys: [], isDangerous: true },
  { id: 'frame.unlock', title: 'Unlock writing on this cluster', scope: 'everywhere', keys: [], isDangerous: true },
  { id: 'frame.lock', title: 'Lock writing on this cluster', scope: 'everywhere', keys: [] },
  { id: 'frame.clear', title: 'Clear the selection', scope: 'everywhere', keys: ['Escape'], isFixed: true },
] as const satisfies readonly CommandEntry[]
