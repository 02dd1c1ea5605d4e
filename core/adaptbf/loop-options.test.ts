import { describe, expect, it } from 'vitest'
import { checkLoopOptions, DEFAULT_LOOP_OPTIONS, type LoopOptions, measuresOf } from './loop-options.ts'

const live = { backlog: false, deviceBusy: false }
const all = { backlog: true, deviceBusy: true }
const check = (more: Partial<LoopOptions>, known = live) =>
  checkLoopOptions({ ...DEFAULT_LOOP_OPTIONS, ...more }, known)

describe('checkLoopOptions', () => {
  it('accepts the defaults, and every measure that the source supports', () => {
    for (const known of [live, all]) {
      expect(check({}, known).ok).toBe(true)
      for (const demand of measuresOf(known)) expect(check({ demand }, known).ok).toBe(true)
    }
    expect(check({ deadbandPercent: 50, overdraft: 1, coefficient: 'min' }).ok).toBe(true)
    expect(check({ autoT: true }, all).ok).toBe(true)
  })

  it.each<[string, string, Partial<LoopOptions>]>([
    ['BAD_DEADBAND', '0 to 50 %', { deadbandPercent: 51 }],
    ['BAD_DEADBAND', '0 to 50 %', { deadbandPercent: -1 }],
    ['BAD_DEADBAND', '0 to 50 %', { deadbandPercent: NaN }],
    ['BAD_OVERDRAFT', '0 to 1', { overdraft: 1.01 }],
    ['BAD_OVERDRAFT', '0 to 1', { overdraft: NaN }],
    ['BAD_COEFFICIENT', 'max, min', { coefficient: 'mean' as 'min' }],
    ['BAD_DEMAND_MEASURE', 'served, dispatched', { demand: 'toString' as 'served' }],
  ])('refuses %s and names the range: %s', (code, range, more) => {
    for (const known of [live, all]) {
      const checked = check(more, known)
      expect(checked).toMatchObject({ ok: false, error: { code, unaffected: expect.any(String) as string } })
      expect(!checked.ok && checked.error.what).toContain(range)
    }
  })

  it.each(['dispatched', 'arrivals', 'backlog'] as const)('refuses demand %s where no queue can be read', (demand) => {
    expect(check({ demand })).toMatchObject({ ok: false, error: { code: 'DEMAND_NOT_MEASURED' } })
  })

  it('refuses autoT without the time of the device, and spill everywhere', () => {
    expect(check({ autoT: true })).toMatchObject({ ok: false, error: { code: 'NO_DEVICE_TIME' } })
    for (const known of [live, all]) {
      expect(check({ spill: true }, known)).toMatchObject({ ok: false, error: { code: 'ONLY_IN_SERVER' } })
    }
  })
})
