import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../tests/any-character.ts'
import { parseRowFilter, readFilter, type FilterFields } from './row-filter.ts'

interface Row {
  readonly name: string
  readonly tags: readonly string[]
  readonly size: number | null
}
const FIELDS: FilterFields<Row> = {
  word: (r) => [r.name, ...r.tags],
  text: { name: (r) => [r.name], tag: (r) => r.tags },
  number: { size: (r) => r.size },
  state: { known: (r) => r.size !== null },
}
const first: Row = { name: 'Alpha.one', tags: ['red', 'wide'], size: 5200 }
const second: Row = { name: 'beta', tags: [], size: null }

function passes(filter: string): boolean[] {
  const read = parseRowFilter(filter, FIELDS)
  if (!read.ok) throw new Error(read.error.message)
  return [first, second].map(read.value)
}

describe('a filter of named fields', () => {
  it.each([
    ['', [true, true]],
    ['ALPHA', [true, false]],
    ['red', [true, false]],
    ['tag:re*', [true, false]],
    ['-tag:red', [false, true]],
    ['size>=5.2k', [true, false]],
    ['-size>1', [false, true]],
    ['is:known wide', [true, false]],
    ['name:a -is:known', [false, true]],
  ])('%j', (filter, expected) => expect(passes(filter)).toEqual(expected))

  it.each([
    ['tag:', 1, 'tag: needs a value'],
    ['a  is:wet', 4, 'is: must be one of known'],
    ['is:constructor', 1, 'is: must be one of known'],
    ['toString:x', 1, undefined],
    ['colour:red', 1, 'colour: is not a field; fields are name, tag, is'],
    ['x width>3', 3, 'width is not numeric; numeric fields are size'],
    ['size>', 1, 'a number is not a number such as 500, 5k or 1.5m'],
  ])('says what is wrong with %j, and where', (filter, column, message) => {
    const read = parseRowFilter(filter, FIELDS)
    if (message === undefined) expect(read.ok && read.value(first)).toBe(false)
    else expect(read).toEqual({ ok: false, error: { column, message } })
  })

  it('hides nothing where it is empty or cannot be read, and tells the fault', () => {
    expect(readFilter('  ', FIELDS)).toEqual({ test: undefined, error: {} })
    expect(readFilter(undefined, FIELDS)).toEqual({ test: undefined, error: {} })
    const { test, error } = readFilter('is:wet', FIELDS)
    expect(test).toBeUndefined()
    expect(error.filterError).toEqual({ column: 1, message: 'is: must be one of known' })
  })

  it('never throws', () => {
    const word = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('is:', 'size>', '*', '-', '__proto__:', ' '),
    )
    fc.assert(
      fc.property(fc.array(word), fc.string(), (words, name) => {
        const read = parseRowFilter(words.join(''), FIELDS)
        if (read.ok) expect(typeof read.value({ ...first, name })).toBe('boolean')
        else expect(read.error.column).toBeGreaterThanOrEqual(1)
      }),
      { numRuns: 200 },
    )
  })
})
