/** Commands of the Rules view. */
import type { CommandEntry } from '../command.ts'

export const rulesCommands = [
  { id: 'rules.new', title: 'New rule', scope: 'rules', keys: ['n'] },
  { id: 'rules.filter', title: 'Filter rules', scope: 'rules', keys: ['/'] },
  { id: 'rules.next', title: 'Next rule', scope: 'rules', keys: ['j'] },
  { id: 'rules.previous', title: 'Previous rule', scope: 'rules', keys: ['k'] },
  { id: 'rules.edit', title: 'Edit rule', scope: 'rules', keys: ['e'] },
  { id: 'rules.open', title: 'Edit rule', scope: 'rules', keys: ['Enter'], isFixed: true },
  {
    id: 'rules.up',
    title: 'Stage moving the rule up',
    scope: 'rules',
    keys: ['Alt+ArrowUp'],
    needs: 'servers',
  },
  {
    id: 'rules.down',
    title: 'Stage moving the rule down',
    scope: 'rules',
    keys: ['Alt+ArrowDown'],
    needs: 'servers',
  },
  { id: 'rules.stage', title: 'Stage draft', scope: 'rules', keys: ['mod+Enter'], needs: 'servers' },
  {
    id: 'rules.review',
    title: 'Review staged changes',
    scope: 'rules',
    keywords: 'commit send apply',
    keys: ['r'],
    needs: 'host',
  },
  {
    id: 'rules.undo-list',
    title: 'Change history',
    scope: 'rules',
    keywords: 'rollback roll back revert undo',
    keys: ['z'],
  },
  { id: 'rules.paste', title: 'Paste an lctl line as a draft', scope: 'rules', keys: ['mod+v'], isLocal: true },
  {
    id: 'rules.filter-leave',
    title: 'In the filter: clear and close',
    scope: 'rules',
    keys: ['Escape'],
    isLocal: true,
  },
] as const satisfies readonly CommandEntry[]
