/**
 * V-C as a fluid model: operations are a quantity, a second is one step, and unserved operations wait in an unbounded
 * backlog. Cycle: finished jobs leave, new jobs join, rates are computed from the usage since the cycle before, then
 * the second is served.
 *
 * Source: spec/padll 10.2, 10.3. Not modeled: buckets of 10 ms, whole operations, messages.
 */
import type { Forecast } from '../../padll/algorithms/algorithm.ts'
import { allocate } from '../../padll/algorithms/allocate.ts'
import { ArrivalHistory, sumOfForecasts, weightOf } from '../../padll/algorithms/psfa-adaptive.ts'
import { invariant } from '../../base/result.ts'
import { type Control, JOIN_S, MAX_RATE, type ScenarioJob, STAGES } from './scenarios.ts'

/** Split of a job's rate over its stages in the fluid model. Source: spec/padll 5 [R]. */
interface StageSplit {
  /** Part of the job's load that each stage submits; they sum to 1. */
  readonly load: readonly number[]
  /** Equal parts, parts by the operations that each stage was served in the second before, or by its forecast. */
  readonly by: 'equal' | 'usage' | 'forecast'
}

/** Splits into whole rates that sum to floor(rate); the first stages get the remainder, 1 op/s each. */
export function splitRate(rate: number, by: StageSplit['by'], usage: ArrayLike<number>): number[] {
  const parts = Array.from({ length: usage.length }, (_, s) => (by === 'equal' ? 1 : Math.max(1, usage[s]!)))
  const all = parts.reduce((sum, part) => sum + part, 0)
  const cut = parts.map((part) => Math.floor((rate * part) / all))
  let rest = Math.floor(rate) - cut.reduce((sum, part) => sum + part, 0)
  for (let s = 0; rest > 0; s = (s + 1) % cut.length, rest--) cut[s]!++
  return cut
}

export interface FluidSetup {
  readonly jobs: readonly ScenarioJob[]
  /** Total op/s of each second of a job's life, before its share of the load. */
  readonly trace: ArrayLike<number>
  /** null for no limits. */
  readonly control: Control | null
  /** Distribution of load and rates over a job's stages; absent: a single stage. */
  readonly stages?: StageSplit
}

export interface ScenarioRun {
  readonly jobs: readonly ScenarioJob[]
  /** Served op/s of each job, second by second from the start of the run to its end. */
  readonly served: readonly (readonly number[])[]
  /** Rates in force, likewise; Infinity without a limit, 0 before and after the job. */
  readonly rates: readonly (readonly number[])[]
  /** Waiting operations at the end of each second. */
  readonly backlogs: readonly (readonly number[])[]
  /** Time from join to end of each job, s. */
  readonly durations: readonly number[]
  /** End of the last job, s. */
  readonly makespan: number
}

/** Operations below which a backlog counts as empty: rounding error of hundreds of millions. */
const NOTHING = 1e-3

interface Member {
  readonly job: ScenarioJob
  readonly joinsAt: number
  readonly backlog: Float64Array
  readonly stageUsage: Float64Array
  /** Arrivals of each stage since the last cycle. */
  readonly arrived: Float64Array
  readonly histories: readonly ArrivalHistory[]
  /** Of each stage, from the last cycle; empty before the first. */
  forecasts: readonly Forecast[]
  rate: number
  /** Served since the last cycle; null before the first. */
  usage: number | null
  isDone: boolean
}

export function runFluid({ jobs, trace, control, stages }: FluidSetup): ScenarioRun {
  const cycleS = control?.cycleS ?? 1
  const delayS = control?.delayS ?? 0
  const weights = stages?.load ?? [1]
  // Whole rates leave a part of an operation at each stage.
  const nothing = stages ? weights.length : NOTHING
  const members = jobs.map((job, i): Member => {
    const backlog = new Float64Array(weights.length)
    const stageUsage = new Float64Array(weights.length)
    const histories = weights.map(() => new ArrivalHistory())
    const arrived = new Float64Array(weights.length)
    const known = { backlog, stageUsage, arrived, histories, forecasts: [] }
    return { job, joinsAt: i * JOIN_S, ...known, rate: Infinity, usage: null, isDone: false }
  })
  const served = jobs.map((): number[] => [])
  const rates = jobs.map((): number[] => [])
  const backlogs = jobs.map((): number[] => [])
  const durations: number[] = jobs.map(() => NaN)
  /** Decided rates that are not yet in force. */
  const due: { readonly atS: number; readonly rates: ReadonlyMap<string, number> }[] = []
  let lastCycle = 0
  for (let t = 0; ; t++) {
    let hasChanged = false
    for (const [i, member] of members.entries()) {
      if (member.isDone || t - member.joinsAt < trace.length || total(member.backlog) > nothing) continue
      member.isDone = true
      durations[i] = t - member.joinsAt
      hasChanged = true
    }
    if (members.every(({ isDone }) => isDone)) break
    const active = members.filter(({ joinsAt, isDone }) => joinsAt <= t && !isDone)
    hasChanged ||= active.some(({ joinsAt }) => joinsAt === t)
    if (control && active.length > 0 && (hasChanged || t - lastCycle >= cycleS)) {
      const decided = decide(control, active, t - lastCycle)
      lastCycle = t
      due.push({ atS: t + delayS, rates: decided })
      // A joining job has a rate at once: its housekeeping rules carry it.
      for (const member of active) {
        if (member.rate === Infinity) member.rate = decided.get(member.job.id)!
      }
    }
    while (due[0] && due[0].atS <= t) {
      for (const [id, rate] of due.shift()!.rates) members.find(({ job }) => job.id === id)!.rate = rate
    }
    for (const [i, member] of members.entries()) {
      const isActive = active.includes(member)
      const got = isActive ? serve(member, (trace[t - member.joinsAt] ?? 0) * member.job.load, stages) : 0
      served[i]!.push(got)
      rates[i]!.push(isActive ? member.rate : 0)
      backlogs[i]!.push(total(member.backlog))
    }
  }
  return { jobs, served, rates, backlogs, durations, makespan: served[0]!.length }
}

function decide(control: Control, active: readonly Member[], elapsedS: number): ReadonlyMap<string, number> {
  for (const member of active) {
    if (member.usage === null) continue
    member.forecasts = member.histories.map((history, s) =>
      history.add(member.arrived[s]! / elapsedS, member.backlog[s]! / elapsedS),
    )
    member.arrived.fill(0)
  }
  const allocated = allocate({
    algorithm: control.algorithm,
    maxRate: MAX_RATE,
    slots: 4,
    epsilon: control.epsilon,
    leftover: control.leftover,
    jobs: active.map(({ job: { id, demand }, usage, forecasts }) => ({
      id,
      demand,
      usage: usage === null ? null : usage / elapsedS,
      forecast: sumOfForecasts(forecasts),
    })),
  })
  invariant(allocated.ok, 'scenarios ask for what can be allocated')
  for (const member of active) member.usage = 0
  return allocated.value
}

/** Serves one second of a job: returns the operations that its stages let through. */
function serve(member: Member, arrivals: number, stages: StageSplit | undefined): number {
  const { backlog, stageUsage, arrived, forecasts, rate } = member
  const load = stages?.load ?? [1]
  const weights = stages?.by === 'forecast' && forecasts.length > 0 ? forecasts.map(weightOf) : stageUsage
  const cut = stages && rate !== Infinity ? splitRate(rate, stages.by, weights) : [rate]
  let all = 0
  for (let s = 0; s < backlog.length; s++) {
    backlog[s]! += arrivals * load[s]!
    arrived[s]! += arrivals * load[s]!
    const got = Math.min(backlog[s]!, cut[s] ?? Infinity)
    backlog[s]! -= got
    stageUsage[s] = got
    all += got
  }
  member.usage = (member.usage ?? 0) + all
  return all
}

function total(values: Float64Array): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

/** Returns loads of a job's stages, evenly spread within `imbalance` of their mean; they sum to 1. */
export const stageLoads = (imbalance: number): number[] =>
  Array.from({ length: STAGES }, (_, s) => (1 + imbalance * ((2 * s) / (STAGES - 1) - 1)) / STAGES)
