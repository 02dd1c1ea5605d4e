/**
 * The grammar of the jobs filter for rows of any table: what its words, numbers and states are called is told by the table, how
 * terms are joined, turned round and refused is the same everywhere.
 */
import type { Result } from '#core/base/result.ts'
import { comparison, entry, glob, parseFilter, type FilterError, type RowTest } from './job-filter.ts'

/** What a term can ask of a row. */
export interface FilterFields<R> {
  /** Where a bare word is looked for. */
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
    if (!of) return `${name} cannot be compared; numbers are ${Object.keys(fields.number).join(', ')}`
    const passes = comparison(op, value)
    return typeof passes === 'string' ? passes : (row) => passes(of(row))
  }
  const field = /^([a-z]+):(.*)$/.exec(word)
  const [, name = '', value = ''] = field ?? []
  if (field && value === '') return `${name}: needs a value`
  if (field && name === 'is') return entry(fields.state, value) ?? `is: knows ${Object.keys(fields.state).join(', ')}`
  const of = field ? entry(fields.text, name) : fields.word
  if (!of) return `${name}: is not a field; fields are ${[...Object.keys(fields.text), 'is'].join(', ')}`
  const has = glob(field ? value : word)
  return (row) => of(row).some(has)
}

/** Reads a filter of rows that have these fields; an empty one lets everything pass. */
export const parseRowFilter = <R>(text: string, fields: FilterFields<R>): Result<RowTest<R>, FilterError> =>
  parseFilter(text, (word) => termOf(fields, word))

/** A filter as a frame tells of it: what it was, or where it could not be read. An empty one tells nothing. */
export interface ReadFilter<R> {
  /** undefined: all pass, because it is empty or could not be read. */
  readonly test: RowTest<R> | undefined
  readonly error: { readonly filterError?: FilterError }
}

/** The filter of a query; one that cannot be read hides nothing. */
export function readFilter<R>(text: string | undefined, fields: FilterFields<R>): ReadFilter<R> {
  if (text === undefined || text.trim() === '') return { test: undefined, error: {} }
  const read = parseRowFilter(text, fields)
  return read.ok ? { test: read.value, error: {} } : { test: undefined, error: { filterError: read.error } }
}
