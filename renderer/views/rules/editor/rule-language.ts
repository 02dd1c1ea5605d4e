/** Highlighting and completion of a value for `nrs_tbf_rule`. The host validates it. */
import { StreamLanguage, type StreamParser } from '@codemirror/language'
import type { CodeCompletions, CodeOption } from '../../../widgets/code-editor.ts'
import { fields, itemHints } from './conditions.ts'

interface State {
  /** Next word: verb or queue, name, then conditions and pairs. */
  part: 'verb' | 'name' | 'rest'
  isInBraces: boolean
}
const parser: StreamParser<State> = {
  name: 'nrs-tbf-rule',
  startState: () => ({ part: 'verb', isInBraces: false }),
  copyState: (state) => ({ ...state }),
  token(stream, state) {
    if (stream.eatSpace()) return null
    if (state.isInBraces) {
      if (stream.eat('}')) state.isInBraces = false
      else return stream.match(/^[^\s}]+/) ? 'string' : (stream.next(), null)
      return 'brace'
    }
    if (state.part === 'verb') {
      if (stream.match(/^(reg|hp)\b/)) return 'keyword'
      if (stream.match(/^(start|change|stop)\b/)) {
        state.part = 'name'
        return 'keyword'
      }
      state.part = 'rest'
    }
    if (state.part === 'name') {
      stream.match(/^\S+/)
      state.part = 'rest'
      return 'labelName'
    }
    if (stream.match(/^[a-z]+(?=\s*=)/)) return 'propertyName'
    if (stream.eat('{')) {
      state.isInBraces = true
      return 'brace'
    }
    if (stream.match(/^[=&,]/)) return 'punctuation'
    if (stream.match(/^\d+\b/)) return 'number'
    return stream.match(/^[^\s=&,{]+/) ? 'string' : (stream.next(), null)
  },
}
export const ruleLanguage = StreamLanguage.define(parser)

const verbs: readonly CodeOption[] = [
  { label: 'start', detail: 'new rule' },
  { label: 'change', detail: 'rate or position' },
  { label: 'stop', detail: 'remove the rule' },
]
const queues: readonly CodeOption[] = [
  { label: 'reg', detail: 'regular requests' },
  { label: 'hp', detail: 'high-priority requests' },
]
const conditions: readonly CodeOption[] = fields.map((field) => ({
  label: field,
  detail: itemHints[field],
  apply: `${field}={`,
}))
const pairs: readonly CodeOption[] = [
  { label: 'rate', detail: 'RPC/s per class', apply: 'rate=' },
  { label: 'rank', detail: 'name of the rule to precede', apply: 'rank=' },
  { label: 'realtime', detail: '1', apply: 'realtime=1' },
]
/** RPCs that jobs send most. */
const opcodes: readonly CodeOption[] = (
  'ost_read ost_write ost_punch ost_setattr ost_getattr ost_sync ost_statfs ' +
  'mds_getattr mds_getattr_lock mds_reint mds_close mds_readpage mds_getxattr mds_setxattr mds_sync ldlm_enqueue'
)
  .split(' ')
  .map((label) => ({ label }))

/** Options by the text before the word at the caret. */
function optionsAfter(lead: string): readonly CodeOption[] {
  const braces = /([a-z]+)\s*=\s*\{[^{}]*$/.exec(lead)
  if (braces) return braces[1] === 'opcode' ? opcodes : []
  if (/^\s*$/.test(lead)) return [...verbs, ...queues]
  if (/^\s*(reg|hp)\s+$/.test(lead)) return verbs
  if (/^\s*((reg|hp)\s+)?start\s+\S+\s+$/.test(lead) || /[&,]\s*$/.test(lead)) return conditions
  return /\b(start|change)\s+\S+\s.*(?<=\s)$/.test(lead) ? pairs : []
}

/** Completes the word before an offset; without a word only if asked for. */
export function completeRule(text: string, offset: number, isExplicit: boolean): CodeCompletions | null {
  const before = text.slice(0, offset)
  const word = /\w*$/.exec(before)?.[0] ?? ''
  if (word === '' && !isExplicit) return null
  const from = offset - word.length
  const options = optionsAfter(text.slice(0, from)).filter(({ label }) => label.startsWith(word) && label !== word)
  return options.length === 0 ? null : { from, options }
}
