import { expect, it } from 'vitest'
import { retryPause } from './connect.ts'

it('waits longer after every failure, up to ten seconds, never less than half of that', () => {
  const least = [0, 1, 2, 3, 10].map((n) => retryPause(n, () => 0))
  const most = [0, 1, 2, 3, 10].map((n) => retryPause(n, () => 1))
  expect(most).toEqual([500, 1000, 2000, 4000, 10_000])
  expect(least).toEqual(most.map((ms) => ms / 2))
})
