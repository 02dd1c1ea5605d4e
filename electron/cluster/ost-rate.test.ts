import { expect, it } from 'vitest'
import type { ClusterSource } from '../base/connection.ts'
import { emulatedCluster, twoJobs } from '../../tests/node/emulated-cluster.ts'
import { busiestOst, guessedRate } from './ost-rate.ts'
import { Recent } from './state/recent.ts'

it('is at least what one target served in ten seconds on average, once they were measured', () => {
  const recent = new Recent(1e9)
  const { targets } = recent.seconds
  const second = (s: number, a: number, b: number): void => {
    targets.push(1000 * s)
    targets.set('fs-OST0000', a)
    targets.set('fs-OST0001', b)
  }
  const names = ['fs-OST0000', 'fs-OST0001']
  for (let s = 1; s < 10; s++) second(s, 100, 5)
  expect(busiestOst(recent.seconds, names)).toBeNull()
  second(10, 100, 5)
  expect(busiestOst(recent.seconds, names)).toBe(100)
  // A burst of one second is not what the device can keep up; 21 seconds are two means.
  for (let s = 11; s <= 20; s++) second(s, 0, s === 15 ? 3000 : 100)
  second(21, 9000, 9000)
  expect(busiestOst(recent.seconds, names)).toBeGreaterThan(300)
  expect(busiestOst(recent.seconds, names)).toBeLessThan(1300)
})

it('is reported while a controller distributes a guess, and not once it is set', async () => {
  const c = emulatedCluster(twoJobs(), { kind: 'LIVE', mode: 'observe', controller: 'adaptbf' })
  await c.run(1)
  const guess: ClusterSource = { ...c.monitor.source, isRateGuessed: true, maxRate: 1000 }
  const { loop } = c.monitor
  expect(guessedRate(guess, loop)).toEqual([])
  c.monitor.setMode('advise')
  const [notice] = guessedRate(guess, loop)
  expect(notice).toMatchObject({ code: 'RATE_GUESSED', what: 'AdapTBF distributes a guessed token rate' })
  expect(notice?.why).toBe('T of small is not set: 1\u202F000 RPC/s per OST is assumed')
  expect(guessedRate({ ...guess, isRateGuessed: false }, loop)).toEqual([])
  c.monitor.setController('none')
  expect(guessedRate(guess, loop)).toEqual([])
})
