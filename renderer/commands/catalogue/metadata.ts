/** Commands of the Metadata view. */
import type { CommandEntry } from '../command.ts'

export const metadataCommands = [
  { id: 'metadata.filter', title: 'Filter stages, channels and jobs', scope: 'metadata', keys: ['/'] },
  { id: 'metadata.next', title: 'Next row of the hierarchy', scope: 'metadata', keys: ['j'] },
  { id: 'metadata.previous', title: 'Previous row of the hierarchy', scope: 'metadata', keys: ['k'] },
  { id: 'metadata.edit', title: 'Open or close the policy editor', scope: 'metadata', keys: ['e'] },
  {
    id: 'metadata.apply',
    title: 'Apply the policy draft',
    scope: 'metadata',
    keys: ['mod+Enter'],
    isDangerous: true,
    needs: 'servers',
  },
  {
    id: 'metadata.row-fold',
    title: 'In the hierarchy: collapse or expand a row',
    scope: 'metadata',
    keys: ['ArrowLeft', 'ArrowRight'],
    isLocal: true,
  },
  {
    id: 'metadata.row-open',
    title: 'In the hierarchy: show channels of the row',
    scope: 'metadata',
    keys: ['Enter'],
    isLocal: true,
  },
  {
    id: 'metadata.editor-leave',
    title: 'In the policy editor: close, keep draft',
    scope: 'metadata',
    keys: ['Escape'],
    isLocal: true,
  },
  {
    id: 'metadata.filter-leave',
    title: 'In the filter: clear and close',
    scope: 'metadata',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
