/**
 * Interface of an experiment of any of the systems: parts that run from a seed, and the values taken from them. Parts
 * are named, so that experiments share them and a window can show progress.
 */
import type { Expectation, Measured } from './expectation.ts'

/** Services of the environment. */
export interface Host {
  /** Wall clock for measurements of speed, ms. */
  readonly now: () => number
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

/** Published value of a claim, and the reason that a reproduction may differ. */
export interface Published {
  /** The figure, or the paper's wording if it has none; null if the paper is silent. */
  readonly value: number | string | null
  readonly note?: string | undefined
}

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
}

/** Values by group and series. */
export interface Bars {
  readonly kind: 'bars'
  readonly id: string
  readonly title: string
  readonly unit: string
  readonly series: readonly string[]
  /** `values` in the order of `series`. */
  readonly groups: readonly { readonly name: string; readonly values: readonly number[] }[]
}

export type Figure = Timeline | Bars

/** An experiment of a paper. `R` is the result of its parts. */
export interface Experiment<R = unknown> {
  /** For example `adaptbf.IV-D`; its claims are `adaptbf.IV-D.1` and so on. */
  readonly id: string
  readonly system: string
  readonly title: string
  /** Description of the setup, a sentence or two each. */
  readonly setup: readonly string[]
  readonly expectations: readonly Expectation[]
  published(claim: Expectation): Published
  readonly parts: readonly Part<R>[]
  /** Returns every claim's value, by claim id. */
  measure(runs: ReadonlyMap<string, R>): ReadonlyMap<string, Measured>
  /** Returns the paper's figures; empty if it has none. */
  figures(runs: ReadonlyMap<string, R>): Figure[]
}

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
