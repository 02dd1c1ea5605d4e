/** Commands of the frame: views, palette, what can be done from every view. */
import type { CommandEntry } from '../command.ts'
import { visitedViews, type VisitedView } from '../views.ts'

const goToViews = visitedViews.map(
  ({ id, title, key, place }): CommandEntry & { readonly id: `frame.${VisitedView}` } => ({
    id: `frame.${id}`,
    title: place === 'foot' ? title : `Go to ${title}`,
    scope: 'everywhere',
    group: 'Views',
    keys: key === undefined ? [] : [key],
  }),
)

export const frameCommands = [
  ...goToViews,
  { id: 'frame.palette', title: 'Command palette', scope: 'everywhere', keys: ['mod+k'] },
  { id: 'frame.go-to', title: 'Go to, by a line of text', scope: 'everywhere', keys: [':'] },
  { id: 'frame.help', title: 'Keys and help', scope: 'everywhere', keys: ['?'] },
  {
    id: 'frame.dry-run',
    title: 'Dry run: fork what is on screen and run it on the model',
    scope: 'everywhere',
    keys: ['d', 'Shift+d'],
    needs: 'host',
  },
  {
    id: 'frame.propose',
    title: 'Propose a limit for the selected job, or the busiest',
    scope: 'everywhere',
    keys: ['p'],
    needs: 'host',
  },
  {
    id: 'frame.incident',
    title: 'New incident at the cursor',
    scope: 'everywhere',
    keys: ['n'],
  },
  { id: 'frame.note', title: 'Note at the cursor, or a new incident', scope: 'everywhere', keys: ['Shift+n'] },
  { id: 'frame.export', title: 'Export a bundle, after what leaves is shown', scope: 'everywhere', keys: ['mod+e'] },
  {
    id: 'frame.stop-all',
    title: 'Stop and remove all my rules',
    scope: 'everywhere',
    keys: [],
    isDangerous: true,
    needs: 'host',
  },
  {
    id: 'frame.unlock',
    title: 'Unlock writing on this cluster',
    scope: 'everywhere',
    keys: [],
    isDangerous: true,
    needs: 'servers',
  },
  { id: 'frame.lock', title: 'Lock writing on this cluster', scope: 'everywhere', keys: [], needs: 'host' },
  { id: 'frame.clear', title: 'Clear the selection', scope: 'everywhere', keys: ['Escape'], isFixed: true },
] as const satisfies readonly CommandEntry[]
