import { beforeEach, expect, it } from 'vitest'
import { storedLayouts } from './stored-layouts.ts'

const KEY = 'sluice.tables'
const layout = { order: ['b', 'a'], widths: { a: 90 }, shown: { c: false } }
beforeEach(() => localStorage.clear())

it('stores layouts by table, and removes them', () => {
  const layouts = storedLayouts()
  layouts.write('jobs', layout)
  layouts.write('rules', layout)
  layouts.write('rules', null)
  expect(storedLayouts().read('jobs')).toEqual(layout)
  expect(storedLayouts().read('rules')).toBeUndefined()
})

it('begins without layouts if the storage holds something else', () => {
  for (const broken of ['{', '3', 'null', '[]']) {
    localStorage.setItem(KEY, broken)
    expect(storedLayouts().read('jobs')).toBeUndefined()
  }
})
