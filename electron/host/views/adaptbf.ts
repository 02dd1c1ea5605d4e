/** AdapTBF in the window's frame: its settings, the cost of its cycles, and the changes that a window requests. */
import type { AdaptbfChange, CycleFrame } from '#core/api/adaptbf.ts'
import type { StatusFrame } from '#core/api/frames.ts'
import { type LoopOptions, measuresOf } from '#core/adaptbf/loop-options.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { CYCLE_COLUMNS, TOTAL } from '../../cluster/state/recent.ts'
import { rateSamples } from '../position.ts'

export function adaptbfStatus(monitor: ClusterMonitor): StatusFrame['adaptbf'] {
  const { controllers, clearing } = monitor.loop
  const { lag } = controllers
  return {
    options: controllers.options,
    measures: [...measuresOf(monitor.knowledge)],
    maxRates: monitor.targets.map(({ target }) => ({ target, ratePerSec: controllers.maxRate(target) })),
    clearing: { isOn: clearing.isOn, clears: clearing.clears },
    lag: lag ? { ageMs: lag.ageNs / NS_PER_MS, inForceMs: lag.write ? lag.write.mostNs / NS_PER_MS : null } : null,
  }
}

/** Mean over the cycles of the last second up to a sample. */
export function cycleFrame(monitor: ClusterMonitor, sample: number): CycleFrame | null {
  const { cycles } = monitor.recent
  const of = (name: string): number[] => CYCLE_COLUMNS.map((_, c) => cycles.mean(name, c, sample, rateSamples(monitor)))
  const parts = ([collect = 0, parse = 0, allocate = 0, apply = 0]: number[]) => ({ collect, parse, allocate, apply })
  const all = of(TOTAL)
  if (sample === 0 || all.some(Number.isNaN)) return null
  return {
    ...parts(all),
    total: all.reduce((sum, v) => sum + v, 0),
    nodes: monitor.allServers.flatMap((node) => {
      const values = of(node)
      return values.some(Number.isNaN) ? [] : [{ node, ...parts(values) }]
    }),
  }
}

/** Named settings as controller options; values are validated by `checkLoopOptions`, which knows the ranges. */
export function changeOf(change: AdaptbfChange): Partial<LoopOptions> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}
