/**
 * V-C through real stages in virtual time: every job runs four processes, each on its own node behind a stage with one
 * metadata channel (token bucket, 10 ms); a `Plane` sets their rates. Whole operations; only the stages' counts are
 * known.
 */
import { invariant } from '../../base/result.ts'
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'
import { Stage } from '../../padll/stage/stage.ts'
import type { ScenarioRun } from './fluid.ts'
import { JOIN_S, MAX_RATE, type ScenarioJob, STAGES } from './scenarios.ts'

/** Control plane of the stages. */
export interface Plane {
  /** Called when the stages of a new job start. */
  join(job: ScenarioJob, stages: readonly Stage[], nowNs: number): void
  leave(job: ScenarioJob, nowNs: number): void
  /** Runs everything due by then; called before the operations of each step arrive. */
  cycle(nowNs: number): void
}

const STEP_NS = 100 * NS_PER_MS
const STEPS = NS_PER_S / STEP_NS
const MOUNT = '/scratch'
/** Limit for a job that a fault of its plane leaves without a rate. */
const LONGEST_S = 6 * 3600

interface Member {
  readonly job: ScenarioJob
  readonly at: number
  readonly joinsAt: number
  readonly stages: readonly Stage[]
  /** Served in the current second. */
  served: number
  waiting: number
  isDone: boolean
}

/** @param plane  null: stages without a layout forward everything. */
export function runStaged(jobs: readonly ScenarioJob[], trace: ArrayLike<number>, plane: Plane | null): ScenarioRun {
  const members = jobs.map((job, at) => memberOf(job, at))
  const run = { served: jobs.map(() => [] as number[]), backlogs: jobs.map(() => [] as number[]) }
  const rates = jobs.map(() => [] as number[])
  const durations = jobs.map(() => NaN)
  for (let t = 0; ; t++) {
    const nowNs = t * NS_PER_S
    for (const member of members) {
      if (member.isDone || t - member.joinsAt < trace.length || member.waiting > 0) continue
      member.isDone = true
      durations[member.at] = t - member.joinsAt
      plane?.leave(member.job, nowNs)
    }
    if (members.every(({ isDone }) => isDone)) break
    invariant(t < LONGEST_S, 'every job ends within six hours')
    for (const member of members) if (member.joinsAt === t) plane?.join(member.job, member.stages, nowNs)
    const active = members.filter(({ joinsAt, isDone }) => joinsAt <= t && !isDone)
    const operations = active.map(({ job, joinsAt }) => Math.round((trace[t - joinsAt] ?? 0) * job.load))
    for (let step = 0; step < STEPS; step++) {
      plane?.cycle(nowNs + step * STEP_NS)
      active.forEach((member, i) => submit(member, operations[i]!, step, nowNs + step * STEP_NS))
    }
    active.forEach((member, i) => {
      // Just before the refill that belongs to the next second.
      for (const stage of member.stages) stage.advance(nowNs + NS_PER_S - 1)
      member.waiting += operations[i]! - member.served
    })
    for (const member of members) {
      run.served[member.at]!.push(member.served)
      run.backlogs[member.at]!.push(member.waiting)
      rates[member.at]!.push(active.includes(member) ? rateOf(member) : 0)
      // Not earlier: a changed rate releases operations, and these belong to the second that begins.
      member.served = 0
    }
  }
  return { jobs, ...run, rates, durations, makespan: run.served[0]!.length }
}

function memberOf(job: ScenarioJob, at: number): Member {
  const member: Member = {
    job,
    at,
    joinsAt: at * JOIN_S,
    served: 0,
    waiting: 0,
    isDone: false,
    stages: Array.from({ length: STAGES }, (_, instance) => {
      const hostname = `node${at * STAGES + instance + 1}`
      const identity = { job: job.id, instance, pid: 1000 + instance, ppid: 1, hostname, user: 'ana' }
      const onRelease = (_ticket: number, count: number): void => void (member.served += count)
      return new Stage({ identity, mounts: [MOUNT], onRelease })
    }),
  }
  return member
}

/** Submits a step's part of a second's operations: whole ones, evenly over steps and stages, none lost. */
function submit(member: Member, operations: number, step: number, nowNs: number): void {
  const upTo = (part: number): number => Math.floor((operations * part) / (STAGES * STEPS))
  for (const [at, stage] of member.stages.entries()) {
    const part = step * STAGES + at
    const count = upTo(part + 1) - upTo(part)
    if (count === 0) continue
    const outcome = stage.submit({ call: 'open', path: `${MOUNT}/file`, count }, nowNs)
    member.served += outcome.kind === 'waits' ? outcome.passed : count
  }
}

function rateOf({ stages }: Member): number {
  let sum = 0
  for (const stage of stages) {
    const [first] = stage.channels
    sum += (first && stage.limitOf(first.channel, first.object)?.rate) ?? Infinity
  }
  return sum
}

/** Maximum excess over the limit in a second: the content of all buckets, 10 ms of it. */
export const BUCKETS = 0.01 * MAX_RATE
