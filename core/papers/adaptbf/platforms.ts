/**
 * Platforms on which every figure is measured: the paper's model, and the server as shipped at the default period of
 * live clusters and at the paper's.
 */
import { DEFAULT_LOOP_OPTIONS } from '../../adaptbf/loop-options.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Part } from '../experiment.ts'
import { type AdapTbfSetup, constantLag } from './control.ts'
import type { Controllers } from './figures.ts'
import { runPart, runsOf } from './part.ts'
import type { Run, RunSetup, ShippedSetup } from './run.ts'
import { adaptbf, CLIENT_SETUP, MODEL_SETUP, type Scene } from './setups.ts'

/** Default period of live clusters, s. */
export const LIVE_PERIOD_S = 1
/** Period of the paper, s. */
const PAPER_PERIOD_S = 0.1
/** Time from a reading until its rules are in force, s: what the paper measured for the whole framework. */
const LAG_S = 0.025

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
  '(at least 5/s, at most halved or quadrupled in a period); rule commands in force 25 ms after the reading; T = capacity.'

export const SHIPPED: Platform = {
  suffix: '-shipped',
  title: 'As shipped, 1 s: ',
  setup: [CLIENT_SETUP, SHIPPED_SERVER, SHIPPED_CONTROL, 'Period: 1 s, the default of live clusters.'],
  isShipped: true,
  dtSeconds: LIVE_PERIOD_S,
}

export const SHIPPED_100MS: Platform = {
  suffix: '-shipped-100ms',
  title: 'As shipped, 100 ms: ',
  setup: [
    CLIENT_SETUP,
    SHIPPED_SERVER,
    SHIPPED_CONTROL,
    'Period: 100 ms as in the paper; live clusters permit 200 ms and more, emulated ones 100 ms.',
  ],
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
  adaptbf(scene, { dtSeconds, lag: constantLag(LAG_S * 1000), demand: DEFAULT_LOOP_OPTIONS.demand, ...changes })

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
