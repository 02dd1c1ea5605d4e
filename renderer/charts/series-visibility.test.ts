import { describe, expect, it } from 'vitest'
import { useSeriesVisibility } from './series-visibility.ts'

const ALL = ['a', 'b', 'c']

describe('the visibility of series', () => {
  it('isolates the clicked series, and shows all at the second click', () => {
    const { hidden, choose } = useSeriesVisibility()
    choose('b', ALL, false)
    expect([...hidden.value]).toEqual(['a', 'c'])
    choose('a', ALL, false)
    expect([...hidden.value]).toEqual(['b', 'c'])
    choose('a', ALL, false)
    expect(hidden.value.size).toBe(0)
  })
  it('toggles one with a modifier, and never hides the last one', () => {
    const { hidden, choose } = useSeriesVisibility()
    choose('a', ALL, true)
    choose('b', ALL, true)
    expect([...hidden.value]).toEqual(['a', 'b'])
    choose('c', ALL, true)
    expect(hidden.value.size).toBe(0)
  })
})
