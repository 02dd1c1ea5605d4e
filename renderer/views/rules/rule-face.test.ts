import { expect, it } from 'vitest'
import { ruleFace, type RuleRow } from './rule-face.ts'

const row: RuleRow = {
  ...{ name: 'hog', conditions: 'jobid={4690.*}', expressions: [], rateMin: 170, rateMax: 190, ceiling: 360 },
  ...{ ceilingBps: 94_400_000, ref: 2, refZeroMs: null, used: 0.75, spark: [], owner: 'sluice', expiresMs: 60_000 },
  ...{ createdMs: 0, servers: 2, serversTotal: 2 },
}

it('says the ceiling, the spread of rates and what is left of the time', () => {
  const face = ruleFace(row, 45_000)
  expect(face).toMatchObject({ rate: '170\u2013190', light: 'on', matching: 'ref 2', expires: '00:15', left: 0.25 })
  expect(face.ceiling).toBe('up to 360 RPC/s per class \u00B7 about 94.4 MB/s')
})

it('warns of a rule that has matched nothing for a minute, and of one that is not everywhere', () => {
  const idle = ruleFace(
    { ...row, ref: 0, refZeroMs: 6_000, used: null, servers: 1, owner: 'other', expiresMs: null },
    80_000,
  )
  expect(idle).toMatchObject({
    light: 'warn',
    matching: 'ref 0, 1 min 14 s',
    isPartial: true,
    left: null,
    expires: 'no expiry',
  })
  expect(ruleFace({ ...row, ref: 0, refZeroMs: 4_000 }, 9_000).light).toBe('off')
  expect(ruleFace({ ...row, servers: 1 }, 0).isPartial).toBe(false) // the controller decides per server
  expect(ruleFace({ ...row, owner: 'lustre' }, 0).ceiling).toContain('never touched')
})
