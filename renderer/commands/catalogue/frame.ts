/** Global commands: views, palette, and actions available in every view. */
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
  { id: 'frame.go-to', title: 'Go to a view or name', scope: 'everywhere', keys: [':'] },
  { id: 'frame.help', title: 'Keyboard shortcuts', scope: 'everywhere', keys: ['?'] },
  {
    id: 'frame.dry-run',
    title: 'Test in sandbox: run a copy of the current state on the model',
    scope: 'everywhere',
    keys: ['d', 'Shift+d'],
    needs: 'host',
  },
  {
    id: 'frame.propose',
    title: 'Propose a limit for the selected job, or the busiest',
    keywords: 'cap throttle',
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
  {
    id: 'frame.export',
    title: 'Preview and export bundle',
    scope: 'everywhere',
    keywords: 'zip download share',
    keys: ['mod+e'],
  },
  {
    id: 'frame.stop-all',
    title: 'Stop and remove all Sluice rules',
    keywords: 'kill emergency panic',
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
