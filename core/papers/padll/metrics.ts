/** Metrics of a run of V-C. Windows are in minutes of the run, as in the paper. */
import { MAX_RATE } from './scenarios.ts'
import type { ScenarioRun } from './fluid.ts'

export type Window = readonly [fromMin: number, toMin: number]

const secondsOf = ([fromMin, toMin]: Window): readonly [number, number] => [fromMin * 60, toMin * 60]

/** Mean over the seconds of a window; 0 after the end of a run. */
function meanIn([fromMin, toMin]: Window, valueAt: (second: number) => number): number {
  const [from, to] = secondsOf([fromMin, toMin])
  let sum = 0
  for (let t = from; t < to; t++) sum += valueAt(t)
  return sum / (to - from)
}

const at = (values: readonly number[], t: number): number => values[t] ?? 0

/** Served op/s of all jobs in one second. */
export const totalAt = ({ served }: ScenarioRun, t: number): number =>
  served.reduce((sum, values) => sum + at(values, t), 0)

export const totals = (run: ScenarioRun): number[] => Array.from({ length: run.makespan }, (_, t) => totalAt(run, t))

/** Mean op/s served to one job (from 0). */
export const jobMean = (run: ScenarioRun, job: number, window: Window): number =>
  meanIn(window, (t) => at(run.served[job]!, t))

export const totalMean = (run: ScenarioRun, window: Window): number => meanIn(window, (t) => totalAt(run, t))

/** Mean op/s served to a job above its demand. */
export const aboveDemand = (run: ScenarioRun, job: number, window: Window): number =>
  meanIn(window, (t) => Math.max(0, at(run.served[job]!, t) - run.jobs[job]!.demand))

/**
 * False allocation, as a part of Max_R: unused rate while others wait, at most the waiting operations. Mean over the
 * window.
 */
export const falseAllocation = (run: ScenarioRun, window: Window): number =>
  meanIn(window, (t) => {
    let unused = 0
    let waiting = 0
    for (let job = 0; job < run.jobs.length; job++) {
      unused += Math.max(0, at(run.rates[job]!, t) - at(run.served[job]!, t))
      waiting += at(run.backlogs[job]!, t)
    }
    return Math.min(unused, waiting)
  }) / MAX_RATE

/** Difference of two curves: mean absolute difference of their minute means, relative to the mean of the second. */
export function curveDifference(one: ScenarioRun, other: ScenarioRun, job: number, [fromMin, toMin]: Window): number {
  let difference = 0
  let sum = 0
  for (let minute = fromMin; minute < toMin; minute++) {
    const [a, b] = [one, other].map((run) => jobMean(run, job, [minute, minute + 1]))
    difference += Math.abs(a! - b!)
    sum += b!
  }
  return difference / sum
}

/** Operations served to a job from a minute to its end. */
export const servedFrom = (run: ScenarioRun, job: number, fromMin: number): number =>
  run.served[job]!.slice(fromMin * 60).reduce((sum, rate) => sum + rate, 0)

/** Largest deviation of a job's served rate from `rate`, op/s, from a minute to the second before its last. */
export const unsteadiness = (run: ScenarioRun, job: number, fromMin: number, rate: number): number =>
  run.served[job]!.slice(fromMin * 60, -1).reduce((most, served) => Math.max(most, Math.abs(served - rate)), 0)

/** Part of a job's life with more rate than usage and an empty queue. */
export function overProvisioned(run: ScenarioRun, job: number, window: Window): number {
  return meanIn(window, (t) =>
    at(run.rates[job]!, t) > at(run.served[job]!, t) && at(run.backlogs[job]!, t) < 1e-3 ? 1 : 0,
  )
}

/** Minutes of every job, and of the run. */
export function completion({ durations, makespan }: ScenarioRun): Record<string, number> {
  const minutes = durations.map((seconds, i) => [`job${i + 1}`, seconds / 60] as const)
  return { ...Object.fromEntries(minutes), makespan: makespan / 60 }
}
