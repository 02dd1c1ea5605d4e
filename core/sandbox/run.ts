/**
 * One run: a scenario under one variant and one seed, from its start for so many simulated seconds.
 *
 * Pure and synchronous: the same input gives the same report, byte for byte. The world is the emulator's, RPC by RPC, without
 * the books that only its parameters show; controllers act on it without a shell between.
 */
import { fail, InvariantError, ok, type Failure, type Result } from '../base/result.ts'
import { sToNs } from '../base/units.ts'
import { EmulatedCluster } from '../emulator/cluster.ts'
import type { Scenario } from '../emulator/scenario.ts'
import { checkRun } from './run-check.ts'
import { variedScenario } from './run-scenario.ts'
import { ModelControl } from './control-model.ts'
import { Measures } from './measure.ts'
import type { RunReport } from './run-report.ts'
import { thinned, thinnedVariant } from './thinning.ts'
import type { RunTask } from './run-task.ts'

export type { RunTask } from './run-task.ts'

const EVENTS_MAX = 50e6
/** I/Os of a data node that take as long as one event of the rest. */
const IOS_PER_EVENT = 8
/** Longest remark, and most of them. */
const REMARK = { length: 400, count: 50 } as const

/**
 * Runs a scenario under a variant. What a server refuses of the variant is a remark in the report.
 *
 * Failures: SANDBOX_CANNOT_RUN, with the reason; SANDBOX_TOO_LARGE when the run takes more events than it may.
 *
 * @param scenario  with its `thinning`: time is compressed so many times, and counts are stretched back (see `thinned`).
 */
export function runVariant(scenario: Scenario, task: RunTask): Result<RunReport> {
  const checked = checkRun(task)
  if (!checked.ok) return cannotRun(checked.error)
  try {
    return run(scenario, task)
  } catch (e) {
    // A promise that the model broke to itself ends this run and no other.
    if (e instanceof InvariantError) return cannotRun(e.message)
    throw e
  }
}

function run(scenario: Scenario, task: RunTask): Result<RunReport> {
  const { seed, seconds, eventsMax = EVENTS_MAX } = task
  const { thinning: k } = scenario
  const varied = variedScenario(scenario, task.variant)
  const cluster = new EmulatedCluster(thinned(varied.scenario, k), { seed, books: false })
  const remarks = new Set<string>()
  const remark = (text: string): void => {
    if (remarks.size < REMARK.count) remarks.add(text.slice(0, REMARK.length))
  }
  varied.remarks.forEach(remark)
  const control = new ModelControl(cluster, thinnedVariant(task.variant, k), { thinning: k, remark })
  const measures = new Measures(cluster, { seconds, thinning: k })
  const { sim } = cluster
  const endNs = sToNs(seconds / k)
  while (sim.now < endNs) {
    const nextNs = Math.min(endNs, control.nextNs, measures.nextNs)
    const isThere = sim.runUntil(nextNs, Math.max(0, eventsMax - sim.executed))
    if (!isThere || eventsOf(cluster) > eventsMax) return tooLarge(eventsMax, (sim.now / 1e9) * k)
    if (nextNs >= measures.nextNs || nextNs === endNs) measures.look(nextNs)
    if (nextNs >= control.nextNs) control.step(nextNs)
  }
  return ok({
    ...{ variant: task.index, seed, seconds, thinning: k },
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
    unaffected: 'Other variants and seeds run.',
    next: 'Correct the scenario or the variant, and run it again.',
  })

const tooLarge = (events: number, atS: number): { readonly ok: false; readonly error: Failure } =>
  fail({
    code: 'SANDBOX_TOO_LARGE',
    what: `The run was ended after ${events} events, ${atS.toFixed(1)} s into it`,
    why: 'it would take minutes, and there are more runs',
    unaffected: 'Other variants and seeds run.',
    next: 'Run fewer seconds, or set thinning in the scenario: 4 simulates a quarter of the time at the same rates.',
  })
