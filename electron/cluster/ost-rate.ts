/**
 * Token rate T of the OSTs of a live cluster: what was measured for it, and the notice while controllers distribute a
 * guess.
 */
import { definitionOf } from '#core/controllers/registry.ts'
import { formatNumber } from '#core/base/figure-text.ts'
import type { Failure } from '#core/base/result.ts'
import type { ClusterSource } from '../base/connection.ts'
import type { ControlLoop } from './control/control-loop.ts'
import { TARGET_COLUMNS, type Tier } from './state/recent.ts'

/** Seconds of one mean: shorter bursts are served from caches of the server. */
const MEAN_S = 10
const RPCS = TARGET_COLUMNS.indexOf('rpcs')

const known = new WeakMap<Tier, { readonly at: number; readonly busiest: number | null }>()

/**
 * Largest mean of ten seconds that one of the targets served in the seconds in memory, RPC/s: T is not less than that.
 * null before ten seconds were measured.
 */
export function busiestOst(seconds: Tier, targets: readonly string[]): number | null {
  const { newest, oldest } = seconds.targets
  const means = Math.floor((newest - oldest + 1) / MEAN_S)
  if (newest === 0 || means === 0) return null
  const before = known.get(seconds)
  if (before && newest - before.at < MEAN_S) return before.busiest
  let busiest: number | null = null
  for (const name of targets) {
    for (const mean of seconds.targets.downsample(name, RPCS, newest - means * MEAN_S + 1, newest, MEAN_S)) {
      if (mean !== null && mean > (busiest ?? 0)) busiest = mean
    }
  }
  known.set(seconds, { at: newest, busiest })
  return busiest
}

/** Notice that a controller distributes a token rate that no one has set; none while nothing is distributed. */
export function guessedRate(
  source: ClusterSource,
  loop: Pick<ControlLoop, 'mode' | 'controller' | 'controllers'>,
): Failure[] {
  const { mode, controller, controllers } = loop
  if (source.isRateGuessed !== true || mode === 'observe' || controller === 'none' || controllers.options.autoT)
    return []
  return [
    {
      code: 'RATE_GUESSED',
      what: `${definitionOf(controller).title} distributes a guessed token rate`,
      why: `T of ${source.cluster} is not set: ${formatNumber(source.maxRate)} RPC/s per OST is assumed`,
      unaffected: 'Monitoring and manually committed rules are not affected.',
      next: 'Set T under Connections, from a benchmark or the busiest OST, before you enforce.',
    },
  ]
}
