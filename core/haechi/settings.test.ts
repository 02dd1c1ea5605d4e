import { describe, expect, it } from 'vitest'
import { MAX_RESERVATION } from './report-word.ts'
import {
  checkProfile,
  checkReservation,
  checkSettings,
  DEFAULT_SETTINGS,
  PAPER_PROFILE,
  PRESETS,
  type HaechiSettings,
} from './settings.ts'

const code = (change: Partial<HaechiSettings>): string => {
  const checked = checkSettings({ ...DEFAULT_SETTINGS, ...change })
  return checked.ok ? 'ok' : checked.error.code
}
const estimator = (change: Partial<HaechiSettings['estimator']>): Partial<HaechiSettings> => ({
  estimator: { ...DEFAULT_SETTINGS.estimator, ...change },
})

describe('settings', () => {
  it.each(PRESETS.map((p) => [p.name, p] as const))('of the preset %s are accepted', (_, preset) => {
    expect(checkSettings(preset).ok).toBe(true)
  })

  it.each<[string, Partial<HaechiSettings>]>([
    ['E_PERIOD', { periodNs: 0 }],
    ['E_PERIOD', { periodNs: -1 }],
    ['E_PERIOD', { periodNs: 1.5 }],
    ['E_PERIOD', { periodNs: NaN }],
    ['E_PERIOD', { periodNs: 1e18 }],
    ['E_INTERVAL', { tickNs: 0 }],
    ['E_INTERVAL', { checkNs: 0 }],
    ['E_INTERVAL', { retryNs: 0.5 }],
    ['E_INTERVAL', { tickNs: 2e9 }],
    ['E_BATCH', { batch: 0 }],
    ['E_BATCH', { batch: -1000 }],
    ['E_BATCH', { batch: 999.5 }],
    ['E_WINDOW', { window: 0 }],
    ['E_WINDOW', { window: 1e6 }],
    ['E_WINDOW', { phase2Window: 65 }],
    ['E_ALERT', { alertAfter: 0 }],
    ['E_ALERT', { missedReports: -1 }],
    ['E_RULE', { decay: 'toString' as 'none' }],
    ['E_RULE', { conversion: '' as 'none' }],
    ['E_ESTIMATOR', estimator({ history: 0 })],
    ['E_ESTIMATOR', estimator({ sigma: -0.1 })],
    ['E_ESTIMATOR', estimator({ increment: NaN })],
    ['E_ESTIMATOR', estimator({ omegaMin: 1.5 })],
    ['E_ESTIMATOR', estimator({ slack: -1 })],
  ])('are refused with %s: %o', (expected, change) => expect(code(change)).toBe(expected))

  it('refuses a reservation that no report can carry', () => {
    expect(checkReservation(MAX_RESERVATION)).toBeNull()
    expect(checkReservation(MAX_RESERVATION + 1)?.code).toBe('E_TOKENS')
  })

  it('refuses a profile without capacity', () => {
    for (const iops of [0, -1, 0.5, Infinity]) {
      for (const field of ['globalIops', 'localIops'] as const) {
        const checked = checkProfile({ ...PAPER_PROFILE, [field]: iops })
        expect(checked.ok ? 'ok' : checked.error.code).toBe('E_CAPACITY')
      }
    }
  })
})
