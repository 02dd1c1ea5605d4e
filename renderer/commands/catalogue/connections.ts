/** Commands of the connections. */
import type { CommandEntry } from '../command.ts'

export const connectionsCommands = [
  { id: 'connections.next', title: 'Next cluster', scope: 'connections', keys: ['j'] },
  { id: 'connections.previous', title: 'Cluster before', scope: 'connections', keys: ['k'] },
  {
    id: 'connections.open',
    title: 'Put the cluster on screen',
    scope: 'connections',
    keys: ['Enter'],
    isFixed: true,
    needs: 'host',
  },
  { id: 'connections.test', title: 'Test the cluster, read only', scope: 'connections', keys: ['t'], needs: 'host' },
  {
    id: 'connections.connect',
    title: 'Connect the cluster, or disconnect it',
    scope: 'connections',
    keys: ['c'],
    needs: 'host',
  },
  { id: 'connections.add', title: 'Add a cluster', scope: 'connections', keys: ['n'] },
  { id: 'connections.edit', title: 'Edit the cluster', scope: 'connections', keys: ['e'] },
  {
    id: 'connections.panel-leave',
    title: 'In the panel: close it and keep what was typed',
    scope: 'connections',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
