/**
 * One run: a scenario under one variant and one seed, from its start for a number of simulated seconds.
 *
 * Pure and synchronous: the same input gives the same report, byte for byte. The emulator simulates the cluster RPC by
 * RPC, without the counters that only lctl parameters show; controllers act on it directly, not through shell commands.
 */
import { fail, InvariantError, ok, type Failure, type Result } from '../base/result.ts'
import { NS_PER_MS, sToNs } from '../base/units.ts'
import { EmulatedCluster } from '../emulator/cluster.ts'
import type { Scenario } from '../emulator/scenario.ts'
import { checkLoopOptions, DEFAULT_LOOP_OPTIONS } from '../adaptbf/loop-options.ts'
import { checkPeriod } from '../adaptbf/period.ts'
import { CONTROLLER_NAMES } from '../controllers/registry.ts'
import { ModelControl } from './control-model.ts'
import { metadataLimitOf } from './measure-planes.ts'
import { Measures } from './measure.ts'
import type { RunReport } from './run-report.ts'
import { thinned, thinnedVariant } from './thinning.ts'
import type { RunTask } from './run-task.ts'
import { variedScenario } from './varied-scenario.ts'

export type { RunTask } from './run-task.ts'

/** Longest run, s: virtual time stays exact up to it, and a scenario defines nothing later. */
const SECONDS_MAX = 1e6
/** Data that the emulator provides to a controller beyond `job_stats`. */
const MODEL_KNOWLEDGE = { backlog: true, deviceBusy: true } as const

/** Validates a run's task before it starts; returns the task, or the reason that it cannot be run. */
export function checkRun(task: RunTask): Result<RunTask, string> {
  const { seconds, seed, variant } = task
  const { maxRate, periodMs, onS, controller, adaptbf } = variant
  if (!(seconds > 0 && seconds <= SECONDS_MAX)) return fail(`a length of ${seconds} s; expected up to ${SECONDS_MAX}`)
  if (!Number.isSafeInteger(seed)) return fail(`the seed ${seed} is not a whole number`)
  if (!CONTROLLER_NAMES.includes(controller)) return fail(`unknown controller ${String(controller)}`)
  if (!(onS >= 0 && Number.isFinite(onS))) return fail(`the variant cannot start at ${onS} s`)
  if (maxRate !== null && !(maxRate > 0 && maxRate <= 1e9)) {
    return fail(`a maximum token rate of ${maxRate} RPC/s; expected above 0 and up to 1e9`)
  }
  const period = periodMs === null ? undefined : checkPeriod(periodMs * NS_PER_MS)
  if (period && !period.ok) return fail(`${period.error.what}: ${period.error.why ?? ''}`)
  const options = checkLoopOptions({ ...DEFAULT_LOOP_OPTIONS, ...adaptbf }, MODEL_KNOWLEDGE)
  return options.ok ? ok(task) : fail(`${options.error.what}: ${options.error.why ?? ''}`)
}

const EVENTS_MAX = 50e6
/** I/Os of a data node that cost as much time as one event of the rest. */
const IOS_PER_EVENT = 8
/** Maximum length and number of remarks. */
const REMARK = { length: 400, count: 50 } as const

/**
 * Runs a scenario under a variant. Rules of the variant that a server refuses become remarks in the report.
 *
 * Failures: SANDBOX_CANNOT_RUN, with the reason; SANDBOX_TOO_LARGE if the run exceeds its number of events.
 *
 * @param scenario  with its `thinning`: time is compressed by this factor, and counts are scaled back (see `thinned`).
 */
export function runVariant(scenario: Scenario, task: RunTask): Result<RunReport> {
  const checked = checkRun(task)
  if (!checked.ok) return cannotRun(checked.error)
  try {
    return run(scenario, task)
  } catch (e) {
    // A violated invariant of the model ends this run only.
    if (e instanceof InvariantError) return cannotRun(e.message)
    throw e
  }
}

function run(scenario: Scenario, task: RunTask): Result<RunReport> {
  const { seed, seconds, eventsMax = EVENTS_MAX } = task
  const { thinning: k } = scenario
  const varied = variedScenario(scenario, task.variant)
  const cluster = new EmulatedCluster(thinned(varied.scenario, k), { seed, counters: false })
  const remarks = new Set<string>()
  const remark = (text: string): void => {
    if (remarks.size < REMARK.count) remarks.add(text.slice(0, REMARK.length))
  }
  varied.remarks.forEach(remark)
  const control = new ModelControl(cluster, thinnedVariant(task.variant, k), { thinning: k, remark })
  const measures = new Measures(cluster, { seconds, thinning: k, metadataLimit: metadataLimitOf(scenario) })
  const { sim } = cluster
  const endNs = sToNs(seconds / k)
  while (sim.now < endNs) {
    const nextNs = Math.min(endNs, control.nextNs, measures.nextNs)
    const isReached = sim.runUntil(nextNs, Math.max(0, eventsMax - sim.executed))
    if (!isReached || eventsOf(cluster) > eventsMax) return tooLarge(eventsMax, (sim.now / 1e9) * k)
    if (nextNs >= measures.nextNs || nextNs === endNs) measures.sample(nextNs)
    if (nextNs >= control.nextNs) control.step(nextNs)
  }
  return ok({
    variant: task.index,
    seed,
    seconds,
    thinning: k,
    ...measures.report(task.sloWaitMs, control.records()),
    remarks: [...remarks],
    events: eventsOf(cluster),
  })
}

/** Data nodes have a clock and events of their own. */
function eventsOf({ sim, dataNodes }: EmulatedCluster): number {
  const ios = dataNodes.reduce((n, d) => n + (d.run(sim.now)?.node.counters().dataIos ?? 0), 0)
  return sim.executed + Math.ceil(ios / IOS_PER_EVENT)
}

const cannotRun = (why: string): { readonly ok: false; readonly error: Failure } =>
  fail({
    code: 'SANDBOX_CANNOT_RUN',
    what: 'The scenario cannot be run',
    why,
    unaffected: 'Other variants and seeds still run.',
    next: 'Correct the scenario or the variant, and run it again.',
  })

const tooLarge = (events: number, atS: number): { readonly ok: false; readonly error: Failure } =>
  fail({
    code: 'SANDBOX_TOO_LARGE',
    what: `The run was stopped after ${events} events, at ${atS.toFixed(1)} s`,
    why: 'it would take minutes, and more runs are waiting',
    unaffected: 'Other variants and seeds still run.',
    next: 'Run fewer seconds, or set thinning in the scenario: 4 simulates a quarter of the time at the same rates.',
  })
