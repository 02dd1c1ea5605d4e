/** The filter of the namespace table: `ns:OST0000 node:oss granted>10k cancels>=5`. */
import type { Result } from '#core/base/result.ts'
import type { LdlmMeasure } from '../../../cluster/locks/ldlm-series.ts'
import { comparison, entry, glob, parseFilter, type FilterError, type RowTest } from '../../job-filter.ts'

type LdlmRow = Readonly<Record<LdlmMeasure, number>> & { readonly namespace: string; readonly node: string }

const TEXT: Readonly<Record<string, (r: LdlmRow) => string>> = { ns: (r) => r.namespace, node: (r) => r.node }
/** NaN, a gap, passes no comparison. */
const NUMBER: Readonly<Record<string, (r: LdlmRow) => number>> = {
  locks: (r) => r.locks,
  resources: (r) => r.resources,
  granted: (r) => r.granted,
  grants: (r) => r.grantRate,
  cancels: (r) => r.cancelRate,
  timeouts: (r) => r.timeouts,
  contentions: (r) => r.contentions,
}

function term(word: string): RowTest<LdlmRow> | string {
  const number = /^([a-z]+)(>=|<=|>|<|=)(.*)$/.exec(word)
  if (number) {
    const [, name = '', op = '', value = ''] = number
    const of = entry(NUMBER, name)
    if (!of) return `${name} cannot be compared; numbers are ${Object.keys(NUMBER).join(', ')}`
    const passes = comparison(op, value)
    return typeof passes === 'string' ? passes : (r) => passes(of(r))
  }
  const [, name = '', value = ''] = /^([a-z]+):(.*)$/.exec(word) ?? []
  if (name === '') {
    const has = glob(word)
    return (r) => has(r.namespace) || has(r.node)
  }
  if (value === '') return `${name}: needs a value`
  const of = entry(TEXT, name)
  if (!of) return `${name}: is not a field; fields are ${Object.keys(TEXT).join(', ')}`
  const has = glob(value)
  return (r) => has(of(r))
}

/** Reads a filter; an empty one lets everything pass. */
export const parseLdlmFilter = (text: string): Result<RowTest<LdlmRow>, FilterError> => parseFilter(text, term)
