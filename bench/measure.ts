/**
 * Benchmark definitions and measurement: a warm-up, then medians of at least five runs with the lowest and the highest, beside
 * a baseline that does the same work in the same process. Growth of a cost is fitted over three sizes or more.
 */
import { median } from '#core/base/statistics.ts'
import { fitted, type Axis } from './growth.ts'

/** Limit on a cost, in its unit. */
export interface Budget {
  readonly most?: number
  readonly least?: number
}

/** Description of a cost. */
export interface Facts {
  /** Stable id, for comparison of runs over years. */
  readonly id: string
  readonly unit: string
  /** Measured operation and its size. */
  readonly note?: string
  /** Description of the baseline. */
  readonly beside?: string
  readonly must?: Budget
  /** Value reported in the paper or for a peer, with its source. */
  readonly paper?: string
  /** Factor that limits the cost; reason for a missed budget. */
  readonly limit?: string
}

type Clock = () => number

/** One cost; `now` is in ms. */
export interface Bench extends Facts {
  /** One timed measurement. */
  run(now: Clock): number | Promise<number>
  /** Plain implementation of the same work, in the same process. */
  baseline?(now: Clock): number | Promise<number>
  /** Number of timed runs, at least five; default seven. */
  readonly runs?: number
}

/** Growth of a cost: the exponent of its best fit over the sizes. */
export interface Growth extends Facts {
  readonly sizes: readonly number[]
  /** One timed measurement at a size, in any unit. */
  cost(now: Clock, size: number): number | Promise<number>
  readonly axis: Axis
  readonly runs?: number
}

/** Several costs that share an expensive set-up: a browser, a day of history. */
export interface Suite {
  /** Prefix of the ids of its costs. */
  readonly id: string
  run(): Promise<Measured[]>
}

/** Result of a cost: `value` and `baseline` are medians of `n` runs, `spread` the lowest and the highest of the value's. */
export interface Measured extends Facts {
  readonly value: number
  readonly spread: readonly [number, number]
  readonly n: number
  /** Share of the requested processor time that other guests on the hardware took; absent below 1 %. */
  readonly stolen?: number
  /** Time per step of a plain loop before and after, ns: speed of the core. */
  readonly coreNs?: number
  readonly baseline?: number
  readonly ratio?: number
  /** True if the budget is met; absent without a budget. */
  readonly holds?: boolean
  /** Points of a growth: each size with the median of its cost. */
  readonly points?: readonly (readonly [size: number, cost: number])[]
}

const RUNS = 7
const now = (): number => performance.now()

const round = (v: number): number => Number(v.toPrecision(4))

const holds = (value: number, { most = Infinity, least = -Infinity }: Budget): boolean =>
  value <= most && value >= least

/** Result of a cost from values measured elsewhere, for example in a browser. */
export function told(facts: Facts, values: readonly number[], baselines: readonly number[] = []): Measured {
  const { id, unit, note, beside, must, paper, limit } = facts
  const value = round(median(values))
  const baseline = baselines.length > 0 ? round(median(baselines)) : undefined
  return {
    id,
    unit,
    value,
    spread: [round(Math.min(...values)), round(Math.max(...values))],
    n: values.length,
    // No ratio to a baseline of 0.
    ...(baseline !== undefined && { baseline, ...(baseline !== 0 && { ratio: round(value / baseline) }) }),
    ...(must && { must, holds: holds(value, must) }),
    ...(note !== undefined && { note }),
    ...(beside !== undefined && { beside }),
    ...(paper !== undefined && { paper }),
    ...(limit !== undefined && { limit }),
  }
}

async function runs(run: (now: Clock) => number | Promise<number>, count = RUNS): Promise<number[]> {
  await run(now)
  const values: number[] = []
  for (let i = 0; i < count; i++) values.push(await run(now))
  return values
}

/** Runs the bench, then its baseline. */
export async function measure(bench: Bench | Growth): Promise<Measured> {
  if ('sizes' in bench) return measureGrowth(bench)
  const plain = bench.baseline?.bind(bench)
  const values = await runs((t) => bench.run(t), bench.runs)
  // After the runs: a note may depend on their results, for example the size of a file.
  return told(bench, values, plain ? await runs((t) => plain(t), bench.runs) : [])
}

/**
 * Each round measures all sizes, so that a busy period of the machine affects all of them; the spread is that of the rounds'
 * exponents.
 */
async function measureGrowth(growth: Growth): Promise<Measured> {
  const rounds: number[][] = []
  for (let i = 0; i <= (growth.runs ?? RUNS); i++) {
    const costs: number[] = []
    for (const size of growth.sizes) costs.push(await growth.cost(now, size))
    if (i > 0) rounds.push(costs)
  }
  const medians = growth.sizes.map((_, s) => median(rounds.map((costs) => costs[s] as number)))
  const exponents = rounds.map((costs) => fitted(growth.sizes, costs, growth.axis))
  return {
    ...told(growth, exponents),
    points: growth.sizes.map((size, s) => [size, round(medians[s] as number)] as const),
  }
}

/** Budget as text. */
export function budgetOf({ most, least }: Budget): string {
  return [most === undefined ? '' : `at most ${most}`, least === undefined ? '' : `at least ${least}`]
    .filter((words) => words !== '')
    .join(', ')
}

/** Result as a terminal line. */
export function lineOf(of: Measured): string {
  const { id, unit, value, baseline, ratio, must, holds: isHeld, points } = of
  const [low, high] = of.spread
  return [
    `${id.padEnd(38)}${String(value).padStart(12)} ${unit.padEnd(12)} ${low} to ${high}`,
    ...(baseline === undefined ? [] : [`baseline ${baseline}${ratio === undefined ? '' : `, ratio ${ratio}`}`]),
    ...(of.stolen === undefined ? [] : [`${Math.round(of.stolen * 100)} % stolen`]),
    ...(of.coreNs === undefined ? [] : [`core ${of.coreNs} ns`]),
    ...(must === undefined ? [] : [`${isHeld === true ? 'holds' : 'MISSED'}: ${budgetOf(must)}`]),
    ...(points === undefined ? [] : [points.map(([size, cost]) => `${size}: ${cost}`).join(', ')]),
  ].join('   ')
}
