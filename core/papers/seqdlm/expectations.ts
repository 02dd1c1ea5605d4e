/** Typed SeqDLM claims. Published values, tolerances and regression bounds are in the file. */
import { invariant } from '../../base/result.ts'
import file from '../expectations/seqdlm.json' with { type: 'json' }
import { expectationsOf } from '../expectation.ts'
import type { Experiment, Figure, Fit, Part } from '../experiment.ts'

/** One variant of a benchmark, by the key that experiments use for it. */
export interface Variant<R> extends Part<R> {
  readonly key: string
}

/** @param group  the benchmark, for example `strided`; parts with the same group and key are the same run. */
export const variant = <R>(group: string, key: string, run: (seed: number) => R): Variant<R> => ({
  id: `seqdlm/${group}/${key}`,
  key,
  run,
})

/** A run on a fixed seed, once for all seeds: runs at the size of the paper, and costs without variation. */
export const seedless = <R>(group: string, key: string, run: () => R): Variant<R> => ({
  id: `seqdlm/${group}/${key}`,
  key,
  isSeedless: true,
  run,
})

/** Seed of seedless runs. */
export const SEED = 1

interface Described<R> {
  /** For example `fig18a`. */
  readonly name: string
  readonly title: string
  readonly setup: readonly string[]
  /** Fitted constants that its values depend on. */
  readonly fits?: readonly Fit[]
  readonly variants: readonly Variant<R>[]
  /** Returns values by the claim's name within the experiment. */
  measure(run: (key: string) => R): Readonly<Record<string, number>>
  figures(run: (key: string) => R): Figure[]
}

export function experimentOf<R>(described: Described<R>): Experiment<R> {
  const { name, title, setup, fits, variants } = described
  const id = `seqdlm.${name}`
  const lookUp =
    (runs: ReadonlyMap<string, R>) =>
    (key: string): R => {
      const part = variants.find((v) => v.key === key)
      const run = part === undefined ? undefined : runs.get(part.id)
      invariant(run !== undefined, `the variant ${key} of ${id} has run`)
      return run
    }
  return {
    id,
    system: 'seqdlm',
    title,
    setup,
    ...(fits === undefined ? {} : { fits }),
    parts: variants,
    expectations: expectationsOf(file, name),
    measure: (runs) =>
      new Map(Object.entries(described.measure(lookUp(runs))).map(([claim, value]) => [`${id}.${claim}`, value])),
    figures: (runs) => described.figures(lookUp(runs)),
  }
}

/** Least ratio of consecutive values: above 1 if the list rises throughout. */
export const leastRise = (values: readonly number[]): number =>
  Math.min(...values.slice(1).map((value, i) => value / (values[i] as number)))

/** The same for a list that falls throughout. */
export const leastFall = (values: readonly number[]): number => leastRise(values.map((value) => 1 / value))

/** Largest relative change between consecutive values. */
export const largestStep = (values: readonly number[]): number =>
  Math.max(...values.slice(1).map((value, i) => Math.abs(value / (values[i] as number) - 1)))

/** Sizes in the papers' notation: `64 KB`. */
export const sizeName = (bytes: number): string =>
  bytes % 1024 !== 0 ? `${bytes} B` : bytes < 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / 1024 / 1024} MB`
