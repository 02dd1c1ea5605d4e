/** What a bench declares, and how it is measured: a warm-up, then medians of at least five runs with the lowest and the highest. */

/** One cost; `now` is in ms. */
export interface Bench {
  /** Stable: what compares runs over years looks for it. */
  readonly id: string
  readonly unit: string
  /** One timed measurement. */
  run(now: () => number): number | Promise<number>
  /** The same work done the plain way, in the same process. */
  baseline?(now: () => number): number | Promise<number>
  readonly note?: string
}

/** What is told of a bench: `value` and `baseline` are medians of `n` runs, `spread` the lowest and the highest of the value's. */
export interface Measured {
  id: string
  unit: string
  value: number
  spread: readonly [number, number]
  n: number
  baseline?: number
  ratio?: number
  note?: string
}

const RUNS = 7
const now = (): number => performance.now()

/** The middle one; of an even number the upper of the two. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] as number

const round = (v: number): number => Number(v.toPrecision(4))

async function runs(run: Bench['run']): Promise<number[]> {
  await run(now)
  const values: number[] = []
  for (let i = 0; i < RUNS; i++) values.push(await run(now))
  return values
}

export async function measure(bench: Bench): Promise<Measured> {
  const values = await runs((t) => bench.run(t))
  const value = round(median(values))
  const spread = [round(Math.min(...values)), round(Math.max(...values))] as const
  const m: Measured = { id: bench.id, unit: bench.unit, value, spread, n: RUNS }
  if (bench.baseline) {
    const plain = bench.baseline.bind(bench)
    m.baseline = round(median(await runs((t) => plain(t))))
    m.ratio = round(value / m.baseline)
  }
  if (bench.note !== undefined) m.note = bench.note
  return m
}

/** A line of a terminal. */
export function lineOf({ id, unit, value, spread: [low, high], baseline, ratio }: Measured): string {
  const beside = baseline === undefined ? '' : `   baseline ${baseline}, ratio ${ratio}`
  return `${id.padEnd(36)}${String(value).padStart(12)} ${unit.padEnd(12)} ${low} to ${high}${beside}`
}
