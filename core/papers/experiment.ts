/**
 * Interface of an experiment of any of the systems: parts that run from a seed, and the values taken from them. Parts
 * are named, so that experiments share them and a window can show progress.
 */
import type { Expectation, Measured } from './expectation.ts'

/** Services of the environment. */
export interface Host {
  /** Wall clock for measurements of speed, ms. */
  readonly now: () => number
  /** Memory that objects of this thread use after a garbage collection, bytes; absent where it cannot be read. */
  readonly heapBytes?: () => number
}

/** One variant of an experiment. Parts with the same id are the same in all experiments. */
export interface Part<R> {
  /** For example `adaptbf/IV-D/static`. */
  readonly id: string
  /** Nothing in it is random: it runs once for all seeds. */
  readonly isSeedless?: true
  /** Deterministic for a seed, except for timings. */
  run(seed: number, host: Host): R
}

/** Parts without repetitions, where two lists of variants have runs in common. */
export const distinct = <P extends Part<unknown>>(parts: readonly P[]): P[] => [
  ...new Map(parts.map((part) => [part.id, part])).values(),
]

/** Values over time, one series per job: as in a figure of the paper. */
export interface Timeline {
  readonly kind: 'timeline'
  /** For example `fig3.static`. */
  readonly id: string
  readonly title: string
  readonly unit: string
  /** Interval of the values, s; the first covers [0, binS). */
  readonly binS: number
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[]
  /** Limit of the values, or of their sum: drawn as a line. */
  readonly limit?: { readonly name: string; readonly value: number }
  /** False for lines although the unit is a rate; values that do not add up. */
  readonly isStacked?: false
  /** Published lines, as [s, value] points that the paper's text or figure gives. */
  readonly published?: readonly PublishedLine[]
}

/** Points of a published line, in the order of x. */
export interface PublishedLine {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

/** Values by group and series. */
export interface Bars {
  readonly kind: 'bars'
  readonly id: string
  readonly title: string
  readonly unit: string
  readonly series: readonly string[]
  /** `values` and `published` in the order of `series`; null: not published. */
  readonly groups: readonly {
    readonly name: string
    readonly values: readonly number[]
    readonly published?: readonly (number | null)[]
  }[]
}

/** Values over a quantity other than time: a size, a number of clients, a setting. */
export interface Curve {
  readonly kind: 'curve'
  readonly id: string
  readonly title: string
  readonly unit: string
  /** Name and unit of x, for example `write size, KB`. */
  readonly across: string
  /** Logarithmic x axis. */
  readonly isLog?: true
  readonly series: readonly PublishedLine[]
  readonly published?: readonly PublishedLine[]
}

export type Figure = Timeline | Bars | Curve

/** Constant of a model that was fitted to published or measured values. */
export interface Fit {
  /** For example `rpcUs, cpuUs`. */
  readonly constant: string
  readonly value: string
  /** Values that it was fitted to. */
  readonly fittedTo: string
  /** Its predictions of values that were not fitted, and their errors. */
  readonly outOfSample: string
}

/** An experiment of a paper. `R` is the result of its parts. */
export interface Experiment<R = unknown> {
  /** For example `adaptbf.IV-D`; its claims are `adaptbf.IV-D.1` and so on. */
  readonly id: string
  readonly system: string
  readonly title: string
  /** Description of the setup, a sentence or two each. */
  readonly setup: readonly string[]
  readonly expectations: readonly Expectation[]
  /** Constants of the model that were fitted, for display beside the results; absent: none. */
  readonly fits?: readonly Fit[]
  readonly parts: readonly Part<R>[]
  /**
   * Returns every claim's value, by claim id. For a claim of an advance, the value under the paper's rule in the same
   * runs is added by `originalOf` its id.
   */
  measure(runs: ReadonlyMap<string, R>): ReadonlyMap<string, Measured>
  /** Returns the paper's figures; empty if it has none. */
  figures(runs: ReadonlyMap<string, R>): Figure[]
}

/** Key of the value that the paper's rule has where a claim of an advance is measured. */
export const originalOf = (claimId: string): string => `${claimId}:original`

/** Result of one seed. */
export interface ExperimentResult {
  readonly measured: ReadonlyMap<string, Measured>
  readonly figures: readonly Figure[]
}

/** Runs an experiment synchronously on one seed. */
export function runExperiment(experiment: Experiment, seed: number, host: Host): ExperimentResult {
  const runs = new Map(experiment.parts.map((part) => [part.id, part.run(seed, host)]))
  return { measured: experiment.measure(runs), figures: experiment.figures(runs) }
}
