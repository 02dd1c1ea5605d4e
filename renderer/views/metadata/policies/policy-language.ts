/** Highlighting and completion of policies in the line format. The host validates them; YAML has its own grammar. */
import { StreamLanguage, type StreamParser } from '@codemirror/language'
import { yaml } from '@codemirror/lang-yaml'
import { maskedText } from '../../../format/plain-text.ts'
import type { CodeCompletions, CodeOption } from '../../../widgets/code-editor.ts'
import { FIELDS, type PolicyField } from './policy-lines.ts'

const TOKENS: Readonly<Record<PolicyField, string>> = {
  rule: 'labelName',
  at: 'number',
  kind: 'keyword',
  job: 'string',
  scope: 'propertyName',
  value: 'number',
}
interface State {
  /** Index of the next field of the line. */
  field: number
}
const parser: StreamParser<State> = {
  name: 'policy-lines',
  startState: () => ({ field: 0 }),
  token(stream, state) {
    if (stream.sol()) state.field = 0
    if (stream.eatSpace()) return null
    if (state.field === 0 && stream.peek() === '#') {
      stream.skipToEnd()
      return 'comment'
    }
    stream.match(/^\S+/)
    const field = FIELDS[state.field++]
    return field === undefined ? null : TOKENS[field]
  },
}
export const policyLanguage = StreamLanguage.define(parser)
export const policyYaml = yaml()

const kinds: readonly CodeOption[] = [{ label: 'job' }, { label: 'demand', detail: 'requested rate' }]

/** Completes the word before an offset with the names of a frame; without a word only if asked for. */
export function completePolicy(
  text: string,
  offset: number,
  isExplicit: boolean,
  names: { readonly jobs: readonly string[]; readonly scopes: readonly string[] },
): CodeCompletions | null {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  const words = before.split(/\s+/)
  const word = words.at(-1) ?? ''
  if (/^\s*#/.test(before) || (word === '' && !isExplicit)) return null
  const field = FIELDS[words.length - (words[0] === '' ? 2 : 1)]
  const known: readonly CodeOption[] =
    field === 'kind'
      ? kinds
      : field === 'job'
        ? names.jobs.filter((job) => !/\s/.test(job)).map((job) => ({ label: maskedText(job), apply: job }))
        : field === 'scope'
          ? names.scopes.map((label) => ({ label }))
          : []
  const options = known.filter(({ label }) => label.startsWith(word) && label !== word)
  return options.length === 0 ? null : { from: offset - word.length, options }
}
