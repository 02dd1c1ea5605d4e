/** V-A and V-B: limits of single operations and of whole classes, on real stages. */
import { randomStream } from '../../base/random.ts'
import { invariant } from '../../base/result.ts'
import type { PosixCall } from '../../padll/posix-calls.ts'
import type { StageRequest } from '../../padll/stage/request.ts'
import { apportioned, type MixedOp, MIXED_OPS, OP_MIX } from '../../padll/trace/op-mix.ts'
import { generateTrace, TRACE_A } from '../../padll/trace/trace.ts'
import type { Experiment, Part, Timeline } from '../experiment.ts'
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'
import { Stage } from '../../padll/stage/stage.ts'
import type { OperationContext, OperationType } from '../../padll/vocabulary.ts'
import { claimsOf, named } from './expectations.ts'

/** Operations arrive in steps of this, ns. */
const STEP_NS = 100 * NS_PER_MS
/** Steps of a second. */
const STEPS = NS_PER_S / STEP_NS
const REFILL_US = 10_000
const CHANNEL = 1000
/** A descriptor of a file in the managed mount point, for calls that take one. */
const OPEN_FD = 3

interface LimitedSetup {
  /** Number of stages, one per node; each gets an equal part of the limit. */
  readonly stages: number
  readonly channel: { readonly type: OperationType; readonly context: OperationContext }
  /** op/s (byte/s for data), one per period. */
  readonly limits: readonly number[]
  readonly periodS: number
  /** Returns the requests of a stage's process in a step. @param waiting  its waiting operations at that time. */
  offered(stage: number, step: number, waiting: number): readonly StageRequest[]
}

/** Sums over all stages per second, op/s or byte/s. */
interface LimitedRun {
  readonly limits: readonly number[]
  readonly served: readonly number[]
  /** Waiting operations or bytes at the end of the second. */
  readonly waiting: readonly number[]
}

const MOUNT = '/scratch'
const PATH = `${MOUNT}/job/file`
/** Descriptor of `PATH`. */
const FD = OPEN_FD

/**
 * V-A and V-B: one job's stages under static limits that an administrator changes every few minutes. The stages are the
 * real ones, in virtual time: calls go through call table, mount point, channel and token bucket (10 ms).
 */
function runLimited(setup: LimitedSetup): LimitedRun {
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
      // Just before the refill that belongs to the next second.
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

/** Share of a second's operations in a step: whole numbers that sum to it. */
const stepsOf = (operations: number, step: number): number => {
  const at = step % STEPS
  return Math.floor((operations * (at + 1)) / STEPS) - Math.floor((operations * at) / STEPS)
}
const secondOf = (step: number): number => Math.floor(step / STEPS)

const MIB = 2 ** 20
const GIB = 2 ** 30

/** One run, and the same load without a limit. */
interface Compared {
  readonly padll: LimitedRun
  /** op/s or byte/s, second by second. */
  readonly baseline: readonly number[]
}

/** Replayer that submits the trace, independent of waiting operations. */
function replayed(op: 'open' | 'getattr', limits: readonly number[]): Compared {
  const operations = [...generateTrace(TRACE_A)].map((rate) => Math.round(rate * OP_MIX[op]))
  const call: PosixCall = op === 'open' ? 'open' : 'getxattr'
  const padll = runLimited({
    stages: 1,
    limits,
    periodS: 360,
    channel: { type: op === 'open' ? 'open' : 'getxattr', context: 'no_op' },
    offered: (_, step) => lots([[call, stepsOf(operations[secondOf(step)] ?? 0, step)]]),
  })
  return { padll, baseline: operations }
}

const lots = (counts: readonly (readonly [PosixCall, number])[]): StageRequest[] =>
  counts.flatMap(([call, count]) => (count > 0 ? [{ call, path: PATH, newPath: PATH, fd: FD, count }] : []))

/** Benchmark that waits for every transfer: runs at the speed of the file system, which varies, or at its limit. */
function transferred(
  seed: number,
  setup: {
    readonly call: 'read' | 'write'
    readonly stages: number
    readonly scope: 'operation' | 'class'
    /** Mean bandwidth of the shared file system, byte/s, and its variation. */
    readonly mean: number
    readonly variation: number
    readonly limits: readonly number[]
    readonly periodS: number
  },
): Compared {
  const { call, stages, mean, variation, limits, periodS } = setup
  const random = randomStream(seed, `bandwidth/${call}`)
  const perStep = Array.from({ length: limits.length * periodS }, () => {
    const factor = 1 + variation * (2 * random.uniform() - 1)
    return Math.round((mean * factor) / MIB / STEPS / stages)
  })
  const padll = runLimited({
    stages,
    limits,
    periodS,
    channel: setup.scope === 'class' ? { type: 'no_op', context: 'data_op' } : { type: call, context: 'no_op' },
    offered: (_, step, waiting) => {
      const free = perStep[secondOf(step)]! - waiting
      return free > 0 ? [{ call, fd: FD, size: MIB, count: free }] : []
    },
  })
  return { padll, baseline: perStep.map((count) => count * MIB * STEPS * stages) }
}

/** Calls of the replayer for the operations that the monitoring counts. */
const CALL_OF: Readonly<Record<MixedOp, PosixCall>> = {
  getattr: 'getxattr',
  setattr: 'setxattr',
  open: 'open',
  close: 'close',
  rename: 'rename',
  unlink: 'unlink',
  mkdir: 'mkdir',
  rmdir: 'rmdir',
  mknod: 'mknod',
  statfs: 'statfs',
  sync: 'sync',
}
const NODES = 4

/** All kinds of metadata operations from four nodes. `sync` has no path and is never limited, so it is not counted. */
function mixed(limits: readonly number[]): Compared {
  const trace = [...generateTrace(TRACE_A)].map((rate) => Math.round(rate))
  const weights = MIXED_OPS.map((op) => OP_MIX[op])
  const counts = trace.map((operations) => apportioned(operations, weights))
  const padll = runLimited({
    stages: NODES,
    limits,
    periodS: 360,
    channel: { type: 'no_op', context: 'meta_op' },
    offered: (stage, step) =>
      lots(
        MIXED_OPS.map((op, at) => {
          const ofSecond = counts[secondOf(step)]?.[at] ?? 0
          const ofNode = Math.floor((ofSecond * (stage + 1)) / NODES) - Math.floor((ofSecond * stage) / NODES)
          return [CALL_OF[op], stepsOf(ofNode, step)] as const
        }),
      ),
  })
  const sync = MIXED_OPS.indexOf('sync')
  return { padll, baseline: counts.map((ops, t) => trace[t]! - ops[sync]!) }
}

/**
 * Largest excess of a second over the limit in force, in bucket fillings: 10 ms of the limit, or of the previous one if
 * it has just changed, since the bucket's content may pass.
 */
const overLimit = ({ padll: { served, limits } }: Compared): number =>
  Math.max(...served.map((rate, t) => (rate - limits[t]!) / (0.01 * Math.max(limits[t]!, limits[t - 1] ?? 0))))

/** Least use of the limit in seconds that begin and end with waiting operations. */
const leastUse = ({ padll: { served, limits, waiting } }: Compared): number =>
  Math.min(...served.flatMap((rate, t) => (waiting[t - 1]! > 0 && waiting[t]! > 0 ? [rate / limits[t]!] : [])))

const sumIn = (values: readonly number[], fromMin: number, toMin: number): number =>
  values.slice(60 * fromMin, 60 * toMin).reduce((sum, value) => sum + value, 0)

/** Mean difference of the seconds between two minutes, relative to the baseline. */
function difference({ padll, baseline }: Compared, fromMin: number, toMin: number): number {
  const apart = baseline.map((rate, t) => Math.abs((padll.served[t] ?? 0) - rate))
  return sumIn(apart, fromMin, toMin) / sumIn(baseline, fromMin, toMin)
}

/** Minutes in which at least as much is served as without a limit. */
function minutesAtBaseline({ padll, baseline }: Compared): number {
  const minutes = Array.from({ length: Math.floor(baseline.length / 60) }, (_, minute) => minute)
  return minutes.filter((m) => sumIn(padll.served, m, m + 1) >= 0.99 * sumIn(baseline, m, m + 1)).length
}

const timeline = (name: string, title: string, { padll, baseline }: Compared, unit: string, divisor = 1): Timeline => ({
  kind: 'timeline',
  id: `fig6.${name}`,
  title,
  unit,
  binS: 1,
  isStacked: false,
  series: [
    { name: 'baseline', values: baseline.map((rate) => rate / divisor) },
    { name: 'padll', values: padll.served.map((rate) => rate / divisor) },
    { name: 'limit', values: padll.limits.map((rate) => rate / divisor) },
  ],
})

const kilo = (limits: readonly number[]): number[] => limits.map((limit) => 1000 * limit)
const gib = (limits: readonly number[]): number[] => limits.map((limit) => limit * GIB)

/** @param seedless  names of the runs that replay trace A: nothing in them is random. */
function partsOf(
  scene: string,
  seedless: readonly string[],
  runs: Readonly<Record<string, (seed: number) => Compared>>,
): Part<Compared>[] {
  return Object.entries(runs).map(([name, run]) => ({
    id: `padll/${scene}/${name}`,
    ...(seedless.includes(name) ? { isSeedless: true as const } : {}),
    run: (seed) => run(seed),
  }))
}
function runOf(runs: ReadonlyMap<string, Compared>, scene: string, name: string): Compared {
  const run = runs.get(`padll/${scene}/${name}`)
  invariant(run !== undefined, `the part padll/${scene}/${name} has run`)
  return run
}

export const perOperation: Experiment<Compared> = {
  id: 'padll.V-A',
  system: 'padll',
  title: 'Limits of single operations: open, getattr, read, write',
  setup: [
    'Real stages in virtual time, buckets of 10 ms. open and getattr: a replayer submits one kind of operation, its part of ' +
      'trace A, with a limit that changes every 6 min.',
    'read and write: a benchmark that waits for each transfer of 1 MiB on a shared file system of 3 and 2 GiB/s, 15 % up and ' +
      'down; a limit that changes every minute. The limits are chosen here: the paper prints none.',
  ],
  expectations: claimsOf('V-A'),
  parts: partsOf('V-A', ['open', 'getattr'], {
    open: () => replayed('open', kilo([9, 14, 12, 30, 75, 10])),
    getattr: () => replayed('getattr', kilo([12, 60, 45, 90, 30, 60])),
    read: (seed) =>
      transferred(seed, {
        call: 'read',
        stages: 1,
        scope: 'operation',
        mean: 3 * GIB,
        variation: 0.15,
        limits: gib([2, 1, 2.5, 4, 1.5, 0.5, 2, 4]),
        periodS: 60,
      }),
    write: (seed) =>
      transferred(seed, {
        call: 'write',
        stages: 1,
        scope: 'operation',
        mean: 2 * GIB,
        variation: 0.15,
        limits: gib([1, 0.5, 1.5, 3, 0.75, 0.25, 1, 3]),
        periodS: 60,
      }),
  }),
  measure(runs) {
    const ops = ['open', 'getattr', 'read', 'write'] as const
    const run = (op: (typeof ops)[number]): Compared => runOf(runs, 'V-A', op)
    const { padll, baseline } = run('getattr')
    return named('V-A', {
      ...Object.fromEntries(ops.map((op) => [`${op}-never-over`, overLimit(run(op))])),
      'limit-used': Math.min(...ops.map((op) => leastUse(run(op)))),
      'open-follows-baseline': difference(run('open'), 23, 29),
      'getattr-above-baseline': sumIn(padll.served, 8, 12) / sumIn(baseline, 8, 12),
    })
  },
  figures: (runs) => [
    timeline('open', 'open', runOf(runs, 'V-A', 'open'), 'op/s'),
    timeline('getattr', 'getattr', runOf(runs, 'V-A', 'getattr'), 'op/s'),
    timeline('read', 'read', runOf(runs, 'V-A', 'read'), 'GiB/s', GIB),
    timeline('write', 'write', runOf(runs, 'V-A', 'write'), 'GiB/s', GIB),
  ],
}

export const perClass: Experiment<Compared> = {
  id: 'padll.V-B',
  system: 'padll',
  title: 'Limits of classes for a job of four nodes: metadata, data',
  setup: [
    'Real stages in virtual time, one on each of four nodes with a quarter of the limit. Metadata: all eleven kinds of operations ' +
      'of trace A except sync, which has no path and is never limited; the limit changes every 6 min.',
    'Data: four workers that read 1.2 GiB/s together, 15 % up and down; the limit changes every 5 min. The limits are chosen here.',
  ],
  expectations: claimsOf('V-B'),
  parts: partsOf('V-B', ['metadata'], {
    metadata: () => mixed(kilo([60, 110, 100, 150, 80, 200])),
    data: (seed) =>
      transferred(seed, {
        call: 'read',
        stages: NODES,
        scope: 'class',
        mean: 1.2 * GIB,
        variation: 0.15,
        limits: gib([0.8, 0.4, 1.6, 0.6, 1, 1.6]),
        periodS: 300,
      }),
  }),
  measure(runs) {
    const metadata = runOf(runs, 'V-B', 'metadata')
    const data = runOf(runs, 'V-B', 'data')
    return named('V-B', {
      'metadata-never-over': overLimit(metadata),
      'data-never-over': overLimit(data),
      'limit-used': Math.min(leastUse(metadata), leastUse(data)),
      'metadata-at-baseline': minutesAtBaseline(metadata),
      'data-at-baseline': minutesAtBaseline(data),
    })
  },
  figures: (runs) => [
    timeline('metadata', 'metadata', runOf(runs, 'V-B', 'metadata'), 'op/s'),
    timeline('data', 'data', runOf(runs, 'V-B', 'data'), 'MiB/s', MIB),
  ],
}
