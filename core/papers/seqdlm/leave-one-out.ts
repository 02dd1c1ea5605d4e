/**
 * Leave-one-out check of the fitted costs. The constants that the micro-benchmarks determine are refitted to all published
 * values but one, and the model with the refitted constants predicts the value left out.
 *
 * A refit is one Gauss-Newton step from the shipped constants in the logarithms of values and constants; it starts where the
 * shipped fit ended, so it cannot find another minimum far away. Table III has a closed form: its six values scale with
 * one constant each.
 */
import { mean } from '../../base/statistics.ts'
import { COSTS, type Costs } from '../../seqdlm/model/costs.ts'
import { spanning, type Downgrade } from './conversion.ts'
import { experimentOf, SEED, seedless } from './expectations.ts'
import { MICRO_FITS } from './fits.ts'
import { runIor } from './ior.ts'
import { TABLE_III } from './ior-single.ts'
import { breakdown, cancelShare, lockingS, parallelWrites, type Setup18 } from './micro.ts'
import { bandwidth, throughput } from './writers.ts'

const KB = 1024
const MB = 1024 * KB
/** Writes of each client; half of those of the experiments. */
const WRITES = 75

/** Constants that are refitted. */
const FREE = ['rttUs', 'lockUs', 'hotMBps', 'ioUs', 'deviceMBps'] as const
type Free = (typeof FREE)[number]

/** Relative step of a constant for its sensitivity. */
const STEP = 0.15
/** Standard deviations, logarithmic: of a published value, and of a constant that no value determines. */
const VALUE_SD = 0.05
const CONSTANT_SD = 0.3

interface Value {
  /** Name of the claim. */
  readonly name: string
  readonly published: number
  /** Value of the model. */
  predict(costs: Costs): number
}

const lockPercent = (bytes: number, costs: Costs): number => {
  const run = breakdown(bytes, SEED, costs, WRITES)
  return (100 * lockingS(run)) / run.pioS
}
const parallelGain = (name: Setup18, bytes: number, costs: Costs): number =>
  throughput(parallelWrites(name, bytes, SEED, costs, WRITES)) /
  throughput(parallelWrites('PW', bytes, SEED, costs, WRITES))
const spanningGain = (name: Downgrade, bytes: number, costs: Costs): number =>
  throughput(spanning(name, bytes, SEED, costs, WRITES)) / throughput(spanning('PW', bytes, SEED, costs, WRITES))

/** Calibration set of the micro-benchmarks. */
const VALUES: readonly Value[] = [
  { name: 'fig17.lockpct.16K', published: 67.9, predict: (costs) => lockPercent(16 * KB, costs) },
  { name: 'fig17.lockpct.1M', published: 69.3, predict: (costs) => lockPercent(MB, costs) },
  {
    name: 'fig17.cancelpct.16K',
    published: 66.5,
    predict: (costs) => cancelShare(breakdown(16 * KB, SEED, costs, WRITES)),
  },
  { name: 'fig17.cancelpct.1M', published: 95.7, predict: (costs) => cancelShare(breakdown(MB, SEED, costs, WRITES)) },
  { name: 'fig18a.noER.64K', published: 4.26, predict: (costs) => parallelGain('NBW-ER', 64 * KB, costs) },
  { name: 'fig18a.noER.1M', published: 30.29, predict: (costs) => parallelGain('NBW-ER', MB, costs) },
  { name: 'fig18a.ER.64K', published: 12.88, predict: (costs) => parallelGain('NBW+ER', 64 * KB, costs) },
  { name: 'fig18a.ER.1M', published: 40.18, predict: (costs) => parallelGain('NBW+ER', MB, costs) },
  { name: 'fig19b.64K', published: 2.48, predict: (costs) => spanningGain('BW+D', 64 * KB, costs) },
  { name: 'fig19b.1M', published: 9.4, predict: (costs) => spanningGain('BW+D', MB, costs) },
]

type Predictions = Readonly<Record<string, number>>

const withFactors = (logFactors: ReadonlyMap<Free, number>): Costs => ({
  ...COSTS,
  ...Object.fromEntries(FREE.map((name) => [name, COSTS[name] * Math.exp(logFactors.get(name) ?? 0)])),
})

/** Predictions of each value of the micro-benchmarks from a fit to the others. */
function microPredictions(): Predictions {
  const base = VALUES.map((value) => value.predict(COSTS))
  // Elasticity of each value to each constant.
  const sensitivity = FREE.map((name) => {
    const costs = withFactors(new Map([[name, Math.log(1 + STEP)]]))
    return VALUES.map((value, i) => Math.log(value.predict(costs) / base[i]!) / Math.log(1 + STEP))
  })
  const residuals = VALUES.map(({ published }, i) => Math.log(published / base[i]!))
  return Object.fromEntries(
    VALUES.map((value, out) => {
      const kept = VALUES.map((_, i) => i).filter((i) => i !== out)
      const factors = ridge(
        sensitivity.map((row) => kept.map((i) => row[i]!)),
        kept.map((i) => residuals[i]!),
      )
      return [value.name, value.predict(withFactors(new Map(FREE.map((name, k) => [name, factors[k]!]))))]
    }),
  )
}

/**
 * Ridge regression: the steps of the constants that explain the residuals.
 *
 * @param sensitivity  shape [constants][values].
 * @param residuals    shape [values].
 * @returns            shape [constants].
 */
function ridge(sensitivity: readonly (readonly number[])[], residuals: readonly number[]): number[] {
  const penalty = (VALUE_SD / CONSTANT_SD) ** 2
  const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0)
  const matrix = sensitivity.map((row, i) => sensitivity.map((other, j) => dot(row, other) + (i === j ? penalty : 0)))
  return solved(
    matrix,
    sensitivity.map((row) => dot(row, residuals)),
  )
}

/** Solution of a symmetric positive definite system, by Gaussian elimination. */
function solved(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i]!])
  const n = rows.length
  for (let k = 0; k < n; k++) {
    for (let i = k + 1; i < n; i++) {
      const factor = rows[i]![k]! / rows[k]![k]!
      for (let j = k; j <= n; j++) rows[i]![j]! -= factor * rows[k]![j]!
    }
  }
  const solution = new Array<number>(n).fill(0)
  for (let i = n - 1; i >= 0; i--) {
    let sum = rows[i]![n]!
    for (let j = i + 1; j < n; j++) sum -= rows[i]![j]! * solution[j]!
    solution[i] = sum / rows[i]![i]!
  }
  return solution
}

/** Factor by which Table III's runs are smaller than in the paper. */
const SCALE = 8

/** Predictions of Table III: the constant scales the value of each manager to the other two. */
function tablePredictions(): Predictions {
  const rows = TABLE_III.map((row) => ({
    row,
    run: runIor(
      { policy: row.policy, pattern: 'segmented', clients: 16, stripes: 1, bytes: 64 * KB, scale: SCALE },
      SEED,
    ),
  }))
  const rates = rows.map(({ row, run }) => ({ published: row.bandwidth, model: bandwidth(run) }))
  const totals = rows.map(({ row, run }) => ({ published: row.totalS, model: run.totalS * SCALE }))
  return Object.fromEntries(
    TABLE_III.flatMap(({ policy }, out) => [
      [`table3.bw.${policy.name}`, scaledToOthers(rates, out)],
      [`table3.total.${policy.name}`, scaledToOthers(totals, out)],
    ]),
  )
}

function scaledToOthers(
  values: readonly { readonly published: number; readonly model: number }[],
  out: number,
): number {
  const factors = values.filter((_, i) => i !== out).map(({ published, model }) => published / model)
  return values[out]!.model * mean(factors)
}

/** Published values by the names of the claims. */
const PUBLISHED = new Map([
  ...VALUES.map(({ name, published }) => [name, published] as const),
  ...TABLE_III.flatMap(
    ({ policy, bandwidth: rate, totalS }) =>
      [
        [`table3.bw.${policy.name}`, rate],
        [`table3.total.${policy.name}`, totalS],
      ] as const,
  ),
])

const loo = experimentOf<Predictions>({
  name: 'loo',
  title: 'Leave-one-out: each calibration value from a fit to the others',
  setup: [
    'Round trip, lock check, copy, IO thread and device are refitted to nine of the ten values of Fig. 17, 18a and 19b, and predict ' +
      'the tenth; Table III from the other two managers. Tile-IO and VPIC have one constant and one value each, so nothing is left.',
    `A refit is one Gauss-Newton step from the shipped constants (values ±${100 * VALUE_SD} %, constants ±${100 * CONSTANT_SD} %), ` +
      `the prediction a run of the model. ${WRITES} writes per client, seed ${SEED}.`,
  ],
  fits: MICRO_FITS,
  variants: [seedless('loo', 'micro', microPredictions), seedless('loo', 'table3', tablePredictions)],
  measure: (run) => {
    const predicted = { ...run('micro'), ...run('table3') }
    const errors = Array.from(PUBLISHED, ([name, published]) => Math.abs(predicted[name]! / published - 1))
    return { ...predicted, worst: Math.max(...errors) }
  },
  figures: (run) => {
    const predicted = { ...run('micro'), ...run('table3') }
    return [
      {
        kind: 'bars',
        id: 'loo',
        title: 'Prediction over the published value',
        unit: 'ratio',
        series: ['left out'],
        groups: Array.from(PUBLISHED, ([name, published]) => ({
          name,
          values: [predicted[name]! / published],
          published: [1],
        })),
      },
    ]
  },
})

export const leaveOneOutExperiments = [loo]
