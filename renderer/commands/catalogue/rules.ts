/** Commands of the rules of the token bucket filter. */
import type { CommandEntry } from '../command.ts'

export const rulesCommands = [
  { id: 'rules.new', title: 'New rule', scope: 'rules', keys: ['n'] },
  { id: 'rules.filter', title: 'Filter the rules', scope: 'rules', keys: ['/'] },
  { id: 'rules.next', title: 'Next rule', scope: 'rules', keys: ['j'] },
  { id: 'rules.previous', title: 'Rule before', scope: 'rules', keys: ['k'] },
  { id: 'rules.edit', title: 'Edit the rule', scope: 'rules', keys: ['e'] },
  { id: 'rules.open', title: 'Edit the rule', scope: 'rules', keys: ['Enter'], isFixed: true },
  {
    id: 'rules.up',
    title: 'Stage a place further up for the rule',
    scope: 'rules',
    keys: ['Alt+ArrowUp'],
    needs: 'servers',
  },
  {
    id: 'rules.down',
    title: 'Stage a place further down for the rule',
    scope: 'rules',
    keys: ['Alt+ArrowDown'],
    needs: 'servers',
  },
  { id: 'rules.stage', title: 'Stage the draft', scope: 'rules', keys: ['mod+Enter'], needs: 'servers' },
  { id: 'rules.undo-list', title: 'Undo list of rules', scope: 'rules', keys: ['z'] },
  { id: 'rules.paste', title: 'A line of lctl becomes a draft', scope: 'rules', keys: ['mod+v'], isLocal: true },
  {
    id: 'rules.filter-leave',
    title: 'In the filter: clear and leave it',
    scope: 'rules',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
