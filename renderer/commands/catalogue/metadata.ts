/** Commands of metadata QoS. */
import type { CommandEntry } from '../command.ts'

export const metadataCommands = [
  { id: 'metadata.filter', title: 'Filter stages, channels and jobs', scope: 'metadata', keys: ['/'] },
  { id: 'metadata.next', title: 'Next row of the hierarchy', scope: 'metadata', keys: ['j'] },
  { id: 'metadata.previous', title: 'Row of the hierarchy before', scope: 'metadata', keys: ['k'] },
  { id: 'metadata.edit', title: 'Edit the policies, or put them away', scope: 'metadata', keys: ['e'] },
  {
    id: 'metadata.apply',
    title: 'Apply the draft of the policies',
    scope: 'metadata',
    keys: ['mod+Enter'],
    isDangerous: true,
    needs: 'servers',
  },
  {
    id: 'metadata.row-fold',
    title: 'In the hierarchy: close and open a row',
    scope: 'metadata',
    keys: ['ArrowLeft', 'ArrowRight'],
    isLocal: true,
  },
  {
    id: 'metadata.row-open',
    title: 'In the hierarchy: channels of the row',
    scope: 'metadata',
    keys: ['Enter'],
    isLocal: true,
  },
  {
    id: 'metadata.editor-leave',
    title: 'In the policies: put them away and keep the draft',
    scope: 'metadata',
    keys: ['Escape'],
    isLocal: true,
  },
  {
    id: 'metadata.filter-leave',
    title: 'In the filter: clear and leave it',
    scope: 'metadata',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
