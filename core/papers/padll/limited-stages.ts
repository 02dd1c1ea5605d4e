/**
 * V-A and V-B: one job's stages under static limits that an administrator changes every few minutes. The stages are the real
 * ones, in virtual time: calls go through call table, mount point, channel and token bucket (10 ms).
 */
import { invariant } from '../../base/result.ts'
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'
import { Stage } from '../../padll/stage/stage.ts'
import type { StageRequest } from '../../padll/stage/request.ts'
import type { OperationContext, OperationType } from '../../padll/vocabulary.ts'

/** Operations arrive in steps of this, ns. */
const STEP_NS = 100 * NS_PER_MS
const STEPS = NS_PER_S / STEP_NS
const REFILL_US = 10_000
const CHANNEL = 1000
/** A descriptor of a file in the managed mount point, for calls that take one. */
const OPEN_FD = 3

export interface LimitedSetup {
  /** Stages, one a node; each gets an equal part of the limit. */
  readonly stages: number
  readonly channel: { readonly type: OperationType; readonly context: OperationContext }
  /** op/s (byte/s for data), one a period. */
  readonly limits: readonly number[]
  readonly periodS: number
  /** What a stage's process submits in a step. @param waiting  operations of it that wait at that moment. */
  offered(stage: number, step: number, waiting: number): readonly StageRequest[]
}

/** Second by second, op/s or byte/s, over all stages. */
export interface LimitedRun {
  readonly limits: readonly number[]
  readonly served: readonly number[]
  /** Operations or bytes that wait at the end of the second. */
  readonly waiting: readonly number[]
}

export const MOUNT = '/scratch'
export const PATH = `${MOUNT}/job/file`
/** Of `PATH`. */
export const FD = OPEN_FD

export function runLimited(setup: LimitedSetup): LimitedRun {
  const { limits, periodS } = setup
  const inQueue = Array.from({ length: setup.stages }, () => 0)
  const stages = inQueue.map((_, at) => stageOf(setup, at, (count) => (inQueue[at]! -= count)))
  const run = { limits: [] as number[], served: [] as number[], waiting: [] as number[] }
  const waiting = stages.map(() => 0)
  for (let second = 0; second < limits.length * periodS; second++) {
    const limit = limits[Math.floor(second / periodS)]!
    let served = 0
    for (const [at, stage] of stages.entries()) {
      const startNs = second * NS_PER_S
      const changed = stage.command({ channel: CHANNEL, object: 1, rate: limit / stages.length }, startNs)
      invariant(changed.ok, 'the limits are rates')
      for (let step = 0; step < STEPS; step++) {
        const nowNs = startNs + step * STEP_NS
        stage.advance(nowNs)
        for (const request of setup.offered(at, second * STEPS + step, inQueue[at]!)) {
          const outcome = stage.submit(request, nowNs)
          if (outcome.kind === 'waits') inQueue[at]! += outcome.waiting
        }
      }
      // Right before the refill that belongs to the next second.
      const [counts] = stage.collect(startNs + NS_PER_S - 1)
      served += counts!.served
      waiting[at] = counts!.queued
    }
    run.limits.push(limit)
    run.served.push(served)
    run.waiting.push(waiting.reduce((sum, tokens) => sum + tokens, 0))
  }
  return run
}

function stageOf({ channel, limits, stages }: LimitedSetup, at: number, released: (count: number) => void): Stage {
  const identity = { job: 'replayer', instance: at, pid: 100 + at, ppid: 1, hostname: `node${at}`, user: 'ana' }
  const stage = new Stage({ identity, mounts: [MOUNT], onRelease: (_, count) => released(count) })
  const contextType = channel.type === 'no_op' ? ('posix_meta' as const) : ('posix' as const)
  const bucket = { refillUs: REFILL_US, rate: limits[0]! / stages }
  const of = { channel: CHANNEL, contextType, ...channel }
  const laidOut = [
    stage.housekeeping({ kind: 'create_channel', rule: 1, workflow: 0, ...of }, 0),
    stage.housekeeping({ kind: 'create_object', rule: 2, object: 1, bucket, ...of }, 0),
  ]
  invariant(
    laidOut.every(({ ok }) => ok),
    'one channel with one object is a good layout',
  )
  stage.done({ call: 'open', path: PATH }, { fd: OPEN_FD })
  stage.markReady()
  return stage
}

/** What of a second's operations falls into each of its steps: whole numbers that sum to it. */
export const stepsOf = (operations: number, step: number): number => {
  const at = step % STEPS
  return Math.floor((operations * (at + 1)) / STEPS) - Math.floor((operations * at) / STEPS)
}
export const secondOf = (step: number): number => Math.floor(step / STEPS)
export const STEPS_A_SECOND = STEPS
