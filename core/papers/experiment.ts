/**
 * What an experiment is, for any of the systems: parts that run from a seed, and what is read off them. Parts are named, so
 * that experiments share them and a window can show how far a run is.
 */
import type { Expectation, Measured } from './expectation.ts'

/** What only the surroundings can tell. */
export interface Host {
  /** Wall clock for measurements of speed, ms. */
  readonly now: () => number
}

/** One variant of an experiment. Parts of one id are the same, whichever experiment names them. */
export interface Part<R> {
  /** For example `adaptbf/IV-D/static`. */
  readonly id: string
  /** Nothing in it is random: it runs once, whatever the seeds. */
  readonly isSeedless?: true
  /** Same seed, same result; but for what is timed. */
  run(seed: number, host: Host): R
}

/** What the paper says of a claim, and why a reproduction may differ. */
export interface Published {
  /** The figure, or the paper's words where it gives none; null where the paper says nothing. */
  readonly value: number | string | null
  readonly note?: string | undefined
}

/** Values over time, one series a job: as in a figure of the paper. */
export interface Timeline {
  readonly kind: 'timeline'
  /** For example `fig3.static`. */
  readonly id: string
  readonly title: string
  readonly unit: string
  /** Distance of two values, s; the first covers [0, binS). */
  readonly binS: number
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[]
  /** A limit that the values, or their sum, are held against: drawn as a line. */
  readonly limit?: { readonly name: string; readonly value: number }
  /** False: lines, although the unit is a rate; values that do not add up. */
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

/** An experiment of a paper. `R` is what its parts return. */
export interface Experiment<R = unknown> {
  /** For example `adaptbf.IV-D`; its claims are `adaptbf.IV-D.1` and so on. */
  readonly id: string
  readonly system: string
  readonly title: string
  /** The setup in words, a sentence or two each. */
  readonly setup: readonly string[]
  readonly expectations: readonly Expectation[]
  published(claim: Expectation): Published
  readonly parts: readonly Part<R>[]
  /** Every claim's value, by claim id. */
  measure(runs: ReadonlyMap<string, R>): ReadonlyMap<string, Measured>
  /** What the paper's figures show; empty where it has none. */
  figures(runs: ReadonlyMap<string, R>): Figure[]
}

/** What one seed gave. */
export interface ExperimentResult {
  readonly measured: ReadonlyMap<string, Measured>
  readonly figures: readonly Figure[]
}

/** Runs an experiment on one seed at once. */
export function runExperiment(experiment: Experiment, seed: number, host: Host): ExperimentResult {
  const runs = new Map(experiment.parts.map((part) => [part.id, part.run(seed, host)]))
  return { measured: experiment.measure(runs), figures: experiment.figures(runs) }
}
