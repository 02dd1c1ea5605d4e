/** Evaluation of claims: experiments on several seeds, published next to measured values. */
import { median } from '../base/statistics.ts'
import { type Experiment, type Figure, type Host, originalOf } from './experiment.ts'
import {
  type Bound,
  type Comparator,
  type Expectation,
  type Measured,
  type Requirement,
  type Target,
  type Tolerance,
  holds,
} from './expectation.ts'
import { deviationOf, meets, targetOf, type Verdict, verdictOf } from './verdict.ts'

/** One claim and its result. Names as in the machine interface. */
export interface Claim {
  readonly id: string
  readonly system: string
  readonly ref: string
  readonly what: string
  readonly metric: string
  /** The paper's figure or wording; null if it has none. */
  readonly published: number | string | null
  /** Median over the seeds. */
  readonly measured: Measured
  /** Judges the published value; null where the paper is silent. */
  readonly verdict: Verdict | null
  /** Values that agree with the published one; undefined without a comparable one. */
  readonly target?: Target
  readonly tolerance?: Tolerance
  /** Distance from the target as a fraction of it (`deviationOf`); null without a target. */
  readonly deviation: number | null
  /** Minimum and maximum over the seeds; null for information that is not a single number. */
  readonly range: readonly [number, number] | null
  readonly comparator: Comparator
  readonly bound: Bound
  /** True if the median satisfies the regression bound. */
  readonly ok: boolean
  /** Seeds that individually violate it. */
  readonly failed_seeds: readonly number[]
  /** Value that a prototype measured on seeds 1 to 5. */
  readonly prototype?: Measured
  /** Constants that the published value determined. */
  readonly calibrates?: string
  /** Proof that no faithful implementation can give the published value. */
  readonly proof?: string
  readonly note?: string
  /** Requirement on an advance. */
  readonly required?: Requirement
  /** True if the requirement is met. */
  readonly met?: boolean
  /** Median of the paper's rule in the same runs; only for advances. */
  readonly original?: Measured
}

/** Progress of a run. */
export interface Progress {
  readonly done: number
  readonly of: number
  readonly part: string
  readonly seed: number
}

export interface PapersResult {
  readonly claims: readonly Claim[]
  /** By experiment, from the first seed. */
  readonly figures: ReadonlyMap<string, readonly Figure[]>
}

/**
 * Runs experiments on several seeds. A part shared by several experiments runs once per seed, a seedless one once.
 * Yields before every part, so that the caller can show progress, yield to other work, or stop.
 *
 * @param seeds  at least one; their order affects only whose figures are kept.
 */
export function* runPapers(
  experiments: readonly Experiment[],
  seeds: readonly number[],
  host: Host,
): Generator<Progress, PapersResult> {
  const parts = new Map(experiments.flatMap((e) => e.parts.map((part) => [part.id, part] as const)))
  const values = new Map<string, Measured[]>()
  const figures = new Map<string, readonly Figure[]>()
  const of = [...parts.values()].reduce((sum, { isSeedless }) => sum + (isSeedless ? 1 : seeds.length), 0)
  const seedless = new Map<string, unknown>()
  let done = 0
  for (const seed of seeds) {
    const runs = new Map(seedless)
    for (const part of parts.values()) {
      if (runs.has(part.id)) continue
      yield { done: done++, of, part: part.id, seed }
      const result = part.run(seed, host)
      runs.set(part.id, result)
      if (part.isSeedless) seedless.set(part.id, result)
    }
    for (const experiment of experiments) {
      for (const [id, value] of experiment.measure(runs)) values.set(id, [...(values.get(id) ?? []), value])
      if (!figures.has(experiment.id)) figures.set(experiment.id, experiment.figures(runs))
    }
  }
  const claims = experiments.flatMap((experiment) =>
    experiment.expectations.map((expectation) => judge(experiment, expectation, seeds, values)),
  )
  return { claims, figures }
}

function judge(
  experiment: Experiment,
  expectation: Expectation,
  seeds: readonly number[],
  all: ReadonlyMap<string, readonly Measured[]>,
): Claim {
  const { id, ref, claim: what, metric, comparator, bound, prototype, published, required } = expectation
  const values = all.get(id) ?? []
  const original = all.get(originalOf(id))
  const failed = seeds.filter((_, i) => !holds(comparator, bound, values[i] ?? NaN))
  const numbers = values.filter((value) => typeof value === 'number')
  const measured = medianOf(values)
  const { value, tolerance, calibrates, proof, note } = published
  const target = targetOf(published)
  return {
    id,
    system: experiment.system,
    ref,
    what,
    metric,
    published: value,
    measured,
    verdict: verdictOf(published, measured),
    ...(target === undefined ? {} : { target }),
    ...(tolerance === undefined ? {} : { tolerance }),
    deviation: deviationOf(published, measured),
    range: numbers.length > 0 ? [Math.min(...numbers), Math.max(...numbers)] : null,
    comparator,
    bound,
    ok: holds(comparator, bound, measured),
    failed_seeds: failed,
    ...(prototype === undefined ? {} : { prototype }),
    ...(calibrates === undefined ? {} : { calibrates }),
    ...(proof === undefined ? {} : { proof }),
    ...(note === undefined ? {} : { note }),
    ...(required === undefined ? {} : { required, met: meets(required, values, measured) }),
    ...(original === undefined ? {} : { original: medianOf(original) }),
  }
}

/** Returns the median of numbers; of tables the median of each entry. */
function medianOf(values: readonly Measured[]): Measured {
  const numbers = values.filter((value) => typeof value === 'number')
  if (numbers.length > 0 || values.length === 0) return median(numbers)
  const tables = values as readonly Readonly<Record<string, number>>[]
  return Object.fromEntries(Object.keys(tables[0]!).map((key) => [key, median(tables.map((table) => table[key]!))]))
}

/**
 * Selects experiments by ids: a system (`adaptbf`), an experiment with or without it (`IV-D`, `adaptbf.IV-D`) or a
 * claim (`adaptbf.IV-D.4`). A claim selects its experiment, reduced to the given claims.
 *
 * @returns  the unknown ids on failure.
 */
export function select(
  experiments: readonly Experiment[],
  ids: readonly string[],
): { readonly experiments: Experiment[]; readonly unknown: string[] } {
  const names = ({ id, system }: Experiment): string[] => [system, id, id.slice(system.length + 1)]
  const unknown = ids.filter(
    (id) => !experiments.some((e) => names(e).includes(id) || e.expectations.some((x) => x.id === id)),
  )
  const selected = experiments.flatMap((e) => {
    if (names(e).some((name) => ids.includes(name))) return [e]
    const expectations = e.expectations.filter((x) => ids.includes(x.id))
    return expectations.length > 0 ? [restricted(e, expectations)] : []
  })
  return { experiments: selected, unknown }
}

const restricted = (experiment: Experiment, expectations: readonly Expectation[]): Experiment => ({
  ...experiment,
  expectations,
  measure: (runs) =>
    new Map(
      [...experiment.measure(runs)].filter(([id]) => expectations.some((x) => x.id === id || originalOf(x.id) === id)),
    ),
})
