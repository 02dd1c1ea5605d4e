/** Helper of a node in C (resources/haechi), built on the machine that runs the node: its monitor, its clients, its profile. */
import type { Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { ConversionRule } from '#core/controllers/settings.ts'
import { estimatorRule } from '#core/haechi/capacity-estimate.ts'
import { profiledTokens, type CapacityProfile, type HaechiSettings } from '#core/haechi/settings.ts'
import { nativeProgram, type NativeBuild } from '../files/native-build.ts'

/** Path of the helper. Codes: those of `nativeProgram` with the prefix HAECHI. */
export const haechiHelper = (build: NativeBuild = {}): Promise<Result<string>> =>
  nativeProgram(
    {
      folder: 'haechi',
      what: 'the helper of Haechi nodes',
      code: 'HAECHI',
      name: ['sluice-haechi-', ''],
      flags: ['-O2', '-std=gnu11'],
      libraries: ['-lm'],
    },
    build,
  )

const DECAY = ['none', 'literal', 'demand'] as const
const CONVERSION: readonly ConversionRule[] = ['none', 'literal', 'ledger', 'budget']

/** Settings of engine and monitor in the helper's options: [name, value]. The helper has no advances. */
export function helperSettings(s: HaechiSettings, profile: CapacityProfile): readonly (readonly [string, number])[] {
  const rule = estimatorRule(s, profile)
  return [
    ['period', s.periodNs],
    ['tick', s.tickNs],
    ['check', s.checkNs],
    ['retry', s.retryNs],
    ['batch', s.batch],
    ['backlog', s.batchRule === 'backlog' ? 1 : 0],
    ['window', s.window],
    ['phase2', s.phase2Window],
    ['decay', DECAY.indexOf(s.decay)],
    ['conversion', CONVERSION.indexOf(s.conversion)],
    ['missed', s.missedReports],
    ['alert', s.alertAfter],
    ['estimate', s.estimator.enabled ? 1 : 0],
    ['literal-estimate', rule.rule === 'literal' ? 1 : 0],
    ['clear', rule.clearOnIncrease ? 1 : 0],
    ['slack', rule.slack],
    ['omega-min', rule.omegaMin],
    ['history', rule.history],
    ['increment', rule.increment],
    ['omega', profiledTokens(profile, s.periodNs)],
    ['local', profile.localIops],
  ]
}

/** Whole I/Os per period of a throughput. */
export const perPeriod = (iops: number, periodNs: number): number => Math.floor((iops * periodNs) / NS_PER_S)
