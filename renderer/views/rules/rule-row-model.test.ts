import { expect, it } from 'vitest'
import type { Lint } from '#core/api/rule-edits.ts'
import { ruleRowModel } from './rule-row-model.ts'
import { ruleRow } from '#tests/kits/renderer/views/rules-frames.ts'

const row = ruleRow({
  owner: 'sluice',
  rateMin: 170,
  rateMax: 190,
  ceiling: 360,
  ceilingBps: 94_400_000,
  used: 0.75,
  expiresMs: 60_000,
  createdMs: 0,
})

it('formats the ceiling, the range of rates and the time left', () => {
  const model = ruleRowModel(row, { nowMs: 45_000 })
  expect(model).toMatchObject({ rate: '170\u2013190', light: 'on', matching: 'ref 2', expires: '00:15', left: 0.25 })
  expect(model.ceiling).toBe('up to 360 RPC/s per class over 2 servers \u00B7 about 94.4 MB/s')
  expect(model.whose).toBe('managed by the controller')
})

it('warns of a rule that has matched nothing for a minute, and of one that is not everywhere', () => {
  const idle = ruleRowModel(
    { ...row, ref: 0, refZeroMs: 6_000, used: null, servers: 1, owner: 'other', expiresMs: null, missing: ['oss02'] },
    { nowMs: 80_000 },
  )
  expect(idle).toMatchObject({
    light: 'warn',
    matching: 'ref 0, 1 min 14 s',
    isPartial: true,
    left: null,
    expires: 'no expiry',
    missing: 'Missing or different on: oss02',
  })
  expect(ruleRowModel({ ...row, ref: 0, refZeroMs: 4_000 }, { nowMs: 9_000 }).light).toBe('off')
  expect(ruleRowModel({ ...row, servers: 1 }, { nowMs: 0 }).isPartial).toBe(false) // the controller decides per server
  expect(ruleRowModel({ ...row, owner: 'lustre' }, { nowMs: 0 }).whose).toContain('read-only')
})

it('shows a staged rate beside the current one, with the new ceiling', () => {
  const staged = ruleRow({ rateMin: 200, rateMax: 200, ceiling: 9_600, rateStaged: 250, staged: 'mod' })
  const model = ruleRowModel({ ...staged, owner: 'operator', reason: 'HPC-2291' }, { nowMs: 0 })
  expect([model.rate, model.was]).toEqual(['250', '200'])
  expect(model.ceiling).toBe('up to 12\u202F000 RPC/s per class over 2 servers, was 9\u202F600')
  expect(model.whose).toBe('manual: HPC-2291')
  expect(ruleRowModel({ ...staged, rateStaged: 200 }, { nowMs: 0 }).was).toBeNull() // only its place is staged
})

it('shows the matches and the expiry of a rule that is only staged', () => {
  const fresh = ruleRow({ staged: 'add', would: 48, ref: 0, servers: 0, refZeroMs: 0 })
  const item = { expiresS: 1800, reason: 'queue' }
  expect(ruleRowModel({ ...fresh, owner: 'operator' }, { nowMs: 90_000, item })).toMatchObject({
    light: 'would',
    matching: '48 expected',
    expires: '30:00',
    left: 1,
    servers: 'new',
    isPartial: false,
    whose: 'manual: queue',
  })
  expect(ruleRowModel(fresh, { nowMs: 0 })).toMatchObject({ expires: 'no expiry', left: null })
})

it('shows the most severe lint of a rule, and omits mere remarks', () => {
  const lint = (level: Lint['level'], text: string): Lint => ({ code: 'X', level, rule: 'hog', text })
  const lints = [lint('info', 'wide'), lint('watch', 'shadowed by a'), lint('ok', 'fine')]
  expect(ruleRowModel(row, { nowMs: 0, lints }).lint?.text).toBe('shadowed by a')
  expect(ruleRowModel(row, { nowMs: 0, lints: [lint('ok', 'fine'), lint('info', 'wide')] }).lint).toBeNull()
})
