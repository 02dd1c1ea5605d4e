/** Commands of the tokens. */
import type { CommandEntry } from '../command.ts'

export const tokensCommands = [
  { id: 'tokens.filter', title: 'Filter the clients', scope: 'tokens', keys: ['/'] },
  { id: 'tokens.next', title: 'Next client', scope: 'tokens', keys: ['j'] },
  { id: 'tokens.previous', title: 'Client before', scope: 'tokens', keys: ['k'] },
  { id: 'tokens.edit', title: 'Edit reservation and limit of the client', scope: 'tokens', keys: ['e'] },
  { id: 'tokens.open', title: 'The client in full', scope: 'tokens', keys: ['Enter'], isFixed: true },
  { id: 'tokens.close', title: 'Close the inspector', scope: 'tokens', keys: ['Backspace'] },
  {
    id: 'tokens.form-leave',
    title: 'In the form: put it away and keep what was typed',
    scope: 'tokens',
    keys: ['Escape'],
    isLocal: true,
  },
  {
    id: 'tokens.filter-leave',
    title: 'In the filter: clear and leave it',
    scope: 'tokens',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
