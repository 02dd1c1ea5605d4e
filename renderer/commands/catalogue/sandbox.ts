/** Commands of the Sandbox view. */
import type { CommandEntry } from '../command.ts'

export const sandboxCommands = [
  { id: 'sandbox.run', title: 'Run variants', scope: 'sandbox', keys: ['r'], needs: 'host' },
  { id: 'sandbox.filter', title: 'Filter jobs', scope: 'sandbox', keys: ['/'] },
  { id: 'sandbox.next', title: 'Next job', scope: 'sandbox', keys: ['j'] },
  { id: 'sandbox.previous', title: 'Previous job', scope: 'sandbox', keys: ['k'] },
  { id: 'sandbox.open', title: 'Open job', scope: 'sandbox', keys: ['Enter'], isFixed: true },
  {
    id: 'sandbox.scenario-run',
    title: 'In the scenario: run it',
    scope: 'sandbox',
    keys: ['mod+Enter'],
    isLocal: true,
  },
  {
    id: 'sandbox.scenario-leave',
    title: 'In the scenario: leave the editor',
    scope: 'sandbox',
    keys: ['Escape Tab'],
    isLocal: true,
  },
  {
    id: 'sandbox.filter-leave',
    title: 'In the filter: clear and close',
    scope: 'sandbox',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
