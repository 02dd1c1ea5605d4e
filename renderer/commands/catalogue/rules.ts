/** Commands of the rules of the token bucket filter. */
import type { CommandEntry } from '../command.ts'

export const rulesCommands = [
  { id: 'rules.new', title: 'New rule', scope: 'rules', keys: ['n'] },
  { id: 'rules.next', title: 'Next rule', scope: 'rules', keys: ['j'] },
  { id: 'rules.previous', title: 'Rule before', scope: 'rules', keys: ['k'] },
  { id: 'rules.edit', title: 'Edit the rule', scope: 'rules', keys: ['e'] },
  { id: 'rules.open', title: 'Edit the rule', scope: 'rules', keys: ['Enter'], isFixed: true },
  { id: 'rules.up', title: 'Stage a place further up for the rule', scope: 'rules', keys: ['Alt+ArrowUp'] },
  { id: 'rules.down', title: 'Stage a place further down for the rule', scope: 'rules', keys: ['Alt+ArrowDown'] },
  { id: 'rules.stage', title: 'Stage the draft', scope: 'rules', keys: ['mod+Enter'] },
  { id: 'rules.undo-list', title: 'Undo list of rules', scope: 'rules', keys: ['z'] },
  { id: 'rules.paste', title: 'A line of lctl becomes a draft', scope: 'rules', keys: ['mod+v'], isLocal: true },
] as const satisfies readonly CommandEntry[]
