/**
 * Filter grammar for rows of any table: the table defines words, numbers and states; joining, negation and faults of
 * terms are shared.
 */
import type { Result } from '#core/base/result.ts'
import { comparison, entry, glob, parseFilter, type FilterError, type RowTest } from './job-filter.ts'

/** Fields of a row that filter terms can use. */
export interface FilterFields<R> {
  /** Texts that a bare word is searched for in. */
  readonly word: (row: R) => readonly string[]
  readonly text: Readonly<Record<string, (row: R) => readonly string[]>>
  readonly number: Readonly<Record<string, (row: R) => number | null>>
  readonly state: Readonly<Record<string, RowTest<R>>>
}

function termOf<R>(fields: FilterFields<R>, word: string): RowTest<R> | string {
  const number = /^([a-z]+)(>=|<=|>|<|=)(.*)$/.exec(word)
  if (number) {
    const [, name = '', op = '', value = ''] = number
    const of = entry(fields.number, name)
    if (!of) return `${name} is not numeric; numeric fields are ${Object.keys(fields.number).join(', ')}`
    const passes = comparison(op, value)
    return typeof passes === 'string' ? passes : (row) => passes(of(row))
  }
  const field = /^([a-z]+):(.*)$/.exec(word)
  const [, name = '', value = ''] = field ?? []
  if (field && value === '') return `${name}: needs a value`
  if (field && name === 'is')
    return entry(fields.state, value) ?? `is: must be one of ${Object.keys(fields.state).join(', ')}`
  const of = field ? entry(fields.text, name) : fields.word
  if (!of) return `${name}: is not a field; fields are ${[...Object.keys(fields.text), 'is'].join(', ')}`
  const has = glob(field ? value : word)
  return (row) => of(row).some(has)
}

/** Parses a filter of rows with these fields; an empty one matches everything. */
export const parseRowFilter = <R>(text: string, fields: FilterFields<R>): Result<RowTest<R>, FilterError> =>
  parseFilter(text, (word) => termOf(fields, word))

/** Filter as reported by a frame: its text, or its fault. An empty one reports nothing. */
export interface ReadFilter<R> {
  /** undefined: all rows pass, because the filter is empty or faulty. */
  readonly test: RowTest<R> | undefined
  readonly error: { readonly filterError?: FilterError }
}

/** Parses the filter of a query; a faulty one hides nothing. */
export function readFilter<R>(text: string | undefined, fields: FilterFields<R>): ReadFilter<R> {
  if (text === undefined || text.trim() === '') return { test: undefined, error: {} }
  const read = parseRowFilter(text, fields)
  return read.ok ? { test: read.value, error: {} } : { test: undefined, error: { filterError: read.error } }
}
