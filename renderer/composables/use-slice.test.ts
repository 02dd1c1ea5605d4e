import { expect, it } from 'vitest'
import { sliceAround } from './use-slice.ts'

it('asks for the rows in view and some on both sides, in steps, never more than the contract allows', () => {
  expect(sliceAround(0, 25)).toEqual({ offset: 0, limit: 40 })
  expect(sliceAround(197, 226)).toEqual({ offset: 180, limit: 60 })
  expect(sliceAround(198, 227)).toEqual(sliceAround(197, 226))
  expect(sliceAround(0, 900)).toEqual({ offset: 0, limit: 200 })
})
