/**
 * Platforms on which every figure is measured: the paper's model, and the server as shipped at the default period of
 * live clusters and at the paper's.
 */
import { DEFAULT_LOOP_OPTIONS } from '../../adaptbf/loop-options.ts'
import { formatNumber } from '../../base/figure-text.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Part } from '../experiment.ts'
import type { AdapTbfSetup } from './control.ts'
import type { Controllers } from './figures.ts'
import { MEASURED_LAG } from './measured-lag.ts'
import { runPart, runsOf } from './part.ts'
import type { Run, RunSetup, ShippedSetup } from './run.ts'
import { adaptbf, CLIENT_SETUP, MODEL_SETUP, type Scene } from './setups.ts'

/** Default period of live clusters, s. */
export const LIVE_PERIOD_S = 1
/** Period of the paper, s. */
const PAPER_PERIOD_S = 0.1

export interface Platform {
  /** Part of the ids of experiments after the section. */
  readonly suffix: '' | '-shipped' | '-shipped-100ms'
  /** Beginning of titles. */
  readonly title: string
  readonly setup: readonly string[]
  /** True for the server as shipped. */
  readonly isShipped: boolean
  /** Period of AdapTBF, s. */
  readonly dtSeconds: number
}

export const MODEL: Platform = {
  suffix: '',
  title: '',
  setup: MODEL_SETUP,
  isShipped: false,
  dtSeconds: PAPER_PERIOD_S,
}

const SHIPPED_SERVER =
  'Server: the emulated Lustre 2.15 OSS with the kernel’s TBF: integer buckets of 3 tokens that start full after every ' +
  'change of a rate, default rule of 10,000/s, timers 50 us late, 16 threads; one device, service time as in the model.'
const SHIPPED_CONTROL =
  `Control: the live step. Demand from job_stats (${DEFAULT_LOOP_OPTIONS.demand}); rates within the fences of live clusters ` +
  '(at least 5/s, at most halved or quadrupled in a period); T = capacity.'
/** Median and largest time from a reading to the end of the read-back, ms. */
const [MEDIAN_MS, MOST_MS] = [MEASURED_LAG.totalMs[10], MEASURED_LAG.totalMs[20]]
const SHIPPED_LAG =
  `Lag: reading, decision, rule commands one after another, read-back, each drawn from ${MEASURED_LAG.commands} commands measured on ` +
  `${MEASURED_LAG.date} on a server with real sshd and sudo; ${formatNumber(MEDIAN_MS)} ms in the median of four commands, at most ${formatNumber(MOST_MS)} ms.`

export const SHIPPED: Platform = {
  suffix: '-shipped',
  title: 'As shipped, 1 s: ',
  setup: [CLIENT_SETUP, SHIPPED_SERVER, SHIPPED_CONTROL, SHIPPED_LAG, 'Period: 1 s, the default of live clusters.'],
  isShipped: true,
  dtSeconds: LIVE_PERIOD_S,
}

export const SHIPPED_100MS: Platform = {
  suffix: '-shipped-100ms',
  title: 'As shipped, 100 ms: ',
  setup: [CLIENT_SETUP, SHIPPED_SERVER, SHIPPED_CONTROL, SHIPPED_LAG, 'Period: 100 ms, as in the paper.'],
  isShipped: true,
  dtSeconds: PAPER_PERIOD_S,
}

/** Scene of a platform in the ids of parts. */
const sceneOn = ({ isShipped }: Platform, scene: string): string => (isShipped ? `${scene}-shipped` : scene)

/** Name of the run with a period; the model's at 100 ms is the one of the main figures. */
const nameOf = ({ isShipped }: Platform, dtSeconds: number): string =>
  !isShipped && dtSeconds === PAPER_PERIOD_S ? ADAPTBF : `dt=${dtSeconds}`

/** AdapTBF with what is shipped, at a period. */
export const shippedAdaptbf = (scene: Scene, dtSeconds: number, changes: Partial<AdapTbfSetup> = {}): AdapTbfSetup =>
  adaptbf(scene, { dtSeconds, lag: MEASURED_LAG.lag, demand: DEFAULT_LOOP_OPTIONS.demand, ...changes })

/** Setup of a scene on the server as shipped. */
export const shippedSetup = (scene: Scene, control: RunSetup['control'], shipped: ShippedSetup = {}): RunSetup => ({
  ...scene,
  control,
  shipped,
})

/** Run of a scene under AdapTBF at a period. */
export function adaptbfPart(platform: Platform, name: string, scene: Scene, dtSeconds: number): Part<Run> {
  const setup = platform.isShipped
    ? shippedSetup(scene, shippedAdaptbf(scene, dtSeconds))
    : { ...scene, control: adaptbf(scene, { dtSeconds }) }
  return runPart(sceneOn(platform, name), nameOf(platform, dtSeconds), setup)
}

/** Returns the run of a part of `adaptbfPart`. */
export const adaptbfRun = (platform: Platform, name: string, runs: ReadonlyMap<string, Run>, dtSeconds: number): Run =>
  runsOf(runs, sceneOn(platform, name))(nameOf(platform, dtSeconds))

/** Runs of a scene under the three controllers of the paper's figures. */
export function controlledParts(platform: Platform, name: string, scene: Scene): Part<Run>[] {
  const server = platform.isShipped ? { shipped: {} } : {}
  const base = { ...scene, ...server }
  const at = sceneOn(platform, name)
  return [
    runPart(at, 'none', { ...base, control: { kind: 'none' } }),
    runPart(at, 'static', { ...base, control: { kind: 'static', maxRatePerSec: scene.capacity } }),
    adaptbfPart(platform, name, scene, platform.dtSeconds),
  ]
}

/** Returns the runs of `controlledParts`. */
export function controlledRuns(platform: Platform, name: string, runs: ReadonlyMap<string, Run>): Controllers {
  const run = runsOf(runs, sceneOn(platform, name))
  return {
    none: run('none'),
    static: run('static'),
    adaptbf: adaptbfRun(platform, name, runs, platform.dtSeconds),
  }
}
