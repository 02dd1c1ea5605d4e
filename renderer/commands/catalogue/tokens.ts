/** Commands of the Tokens view. */
import type { CommandEntry } from '../command.ts'

export const tokensCommands = [
  { id: 'tokens.filter', title: 'Filter clients', scope: 'tokens', keys: ['/'] },
  { id: 'tokens.next', title: 'Next client', scope: 'tokens', keys: ['j'] },
  { id: 'tokens.previous', title: 'Previous client', scope: 'tokens', keys: ['k'] },
  { id: 'tokens.edit', title: 'Edit reservation and limit', scope: 'tokens', keys: ['e'] },
  { id: 'tokens.open', title: 'Open client', scope: 'tokens', keys: ['Enter'], isFixed: true },
  { id: 'tokens.close', title: 'Close inspector', scope: 'tokens', keys: ['Backspace'] },
  {
    id: 'tokens.form-leave',
    title: 'Close form, keep draft',
    scope: 'tokens',
    keys: ['Escape'],
    isLocal: true,
  },
  {
    id: 'tokens.filter-leave',
    title: 'In the filter: clear and close',
    scope: 'tokens',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
