/** Commands of the Connections view. */
import type { CommandEntry } from '../command.ts'

export const connectionsCommands = [
  { id: 'connections.next', title: 'Next cluster', scope: 'connections', keys: ['j'] },
  { id: 'connections.previous', title: 'Previous cluster', scope: 'connections', keys: ['k'] },
  {
    id: 'connections.open',
    title: 'Switch to the cluster',
    scope: 'connections',
    keys: ['Enter'],
    isFixed: true,
    needs: 'host',
  },
  { id: 'connections.test', title: 'Test the cluster (read-only)', scope: 'connections', keys: ['t'], needs: 'host' },
  {
    id: 'connections.connect',
    title: 'Connect or disconnect the cluster',
    scope: 'connections',
    keys: ['c'],
    needs: 'host',
  },
  { id: 'connections.add', title: 'Add cluster', scope: 'connections', keys: ['n'] },
  { id: 'connections.edit', title: 'Edit cluster', scope: 'connections', keys: ['e'] },
  {
    id: 'connections.panel-leave',
    title: 'In the panel: close it and keep the input',
    scope: 'connections',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
