/**
 * What a bench declares and how it is measured: a warm-up, then medians of at least five runs with the lowest and the highest, beside a
 * baseline that did the same work in the same run of the program. How a cost grows is fitted through three sizes or more.
 */
import { median } from '#core/base/statistics.ts'
import { fitted, type Axis } from './growth.ts'

/** What must hold of a cost, in its unit. */
export interface Budget {
  readonly most?: number
  readonly least?: number
}

/** What is said of a cost beside its figure. */
export interface Facts {
  /** Stable: what compares runs over years looks for it. */
  readonly id: string
  readonly unit: string
  /** What is measured, and on how much. */
  readonly note?: string
  /** What the baseline is. */
  readonly beside?: string
  readonly must?: Budget
  /** The figure of the paper or of a peer, with where it is from. */
  readonly paper?: string
  /** What keeps the cost from being lower; of a budget that is missed, why. */
  readonly limit?: string
}

type Clock = () => number

/** One cost; `now` is in ms. */
export interface Bench extends Facts {
  /** One timed measurement. */
  run(now: Clock): number | Promise<number>
  /** The same work done the plain way, in the same process. */
  baseline?(now: Clock): number | Promise<number>
  /** Timed runs, at least five; seven where nothing is said. */
  readonly runs?: number
}

/** How a cost grows: the exponent of its best fit over the sizes. */
export interface Growth extends Facts {
  readonly sizes: readonly number[]
  /** One timed measurement at a size; in what unit, the exponent does not care. */
  cost(now: Clock, size: number): number | Promise<number>
  readonly axis: Axis
  readonly runs?: number
}

/** Several costs of one set-up that is too dear to make for each: a browser, a day of history. */
export interface Suite {
  /** Starts the id of each of its costs. */
  readonly id: string
  run(): Promise<Measured[]>
}

/** What is told of a cost: `value` and `baseline` are medians of `n` runs, `spread` the lowest and the highest of the value's. */
export interface Measured extends Facts {
  readonly value: number
  readonly spread: readonly [number, number]
  readonly n: number
  /** Share of the processor time wanted meanwhile that other machines on the hardware took; absent where it is below a hundredth. */
  readonly stolen?: number
  /** A step of a plain loop before and after, ns: how fast the core was. */
  readonly coreNs?: number
  readonly baseline?: number
  readonly ratio?: number
  /** Whether what must hold holds; absent where nothing must. */
  readonly holds?: boolean
  /** Of a growth: each size with the median of its cost. */
  readonly points?: readonly (readonly [size: number, cost: number])[]
}

const RUNS = 7
const now = (): number => performance.now()

const round = (v: number): number => Number(v.toPrecision(4))

const holds = (value: number, { most = Infinity, least = -Infinity }: Budget): boolean =>
  value <= most && value >= least

/** What is told of a cost whose figures were taken elsewhere, as a browser takes them. */
export function told(facts: Facts, values: readonly number[], baselines: readonly number[] = []): Measured {
  const { id, unit, note, beside, must, paper, limit } = facts
  const value = round(median(values))
  const baseline = baselines.length > 0 ? round(median(baselines)) : undefined
  return {
    ...{ id, unit, value, spread: [round(Math.min(...values)), round(Math.max(...values))], n: values.length },
    // Nothing can be told as a multiple of nothing.
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

/** Its runs, then those of its baseline. */
export async function measure(bench: Bench | Growth): Promise<Measured> {
  if ('sizes' in bench) return measureGrowth(bench)
  const plain = bench.baseline?.bind(bench)
  const values = await runs((t) => bench.run(t), bench.runs)
  // After the runs: a note may tell of what they found, the size of a file for one.
  return told(bench, values, plain ? await runs((t) => plain(t), bench.runs) : [])
}

/** Each round measures all sizes, so that a busy moment of the machine is shared by them; the spread is that of the rounds' exponents. */
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

/** What must hold, in words. */
export function budgetOf({ most, least }: Budget): string {
  return [most === undefined ? '' : `at most ${most}`, least === undefined ? '' : `at least ${least}`]
    .filter((words) => words !== '')
    .join(', ')
}

/** A line of a terminal. */
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
