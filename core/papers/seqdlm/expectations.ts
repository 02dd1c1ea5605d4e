/** Typed SeqDLM claims. Published values are in the file, next to the bound that a reproduction must satisfy. */
import { invariant } from '../../base/result.ts'
import file from '../expectations/seqdlm.json' with { type: 'json' }
import { expectationsOf, type Expectation } from '../expectation.ts'
import type { Experiment, Figure, Part, Published } from '../experiment.ts'

const PUBLISHED = new Map(
  Object.values(file).flatMap(({ assertions }) =>
    (assertions as ({ id: string; published: Published['value'] } & Pick<Published, 'note'>)[]).map(
      ({ id, published, note }) => [id, { value: published, ...(note === undefined ? {} : { note }) }] as const,
    ),
  ),
)

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

interface Described<R> {
  /** For example `fig18a`. */
  readonly name: string
  readonly title: string
  readonly setup: readonly string[]
  readonly variants: readonly Variant<R>[]
  /** Returns values by the claim's name within the experiment. */
  measure(run: (key: string) => R): Readonly<Record<string, number>>
  figures(run: (key: string) => R): Figure[]
}

export function experimentOf<R>(described: Described<R>): Experiment<R> {
  const { name, title, setup, variants } = described
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
    parts: variants,
    expectations: expectationsOf(file, name),
    published: (claim: Expectation) => PUBLISHED.get(claim.id) ?? { value: null },
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

/** Sizes in the papers' notation: `64 KB`. */
export const sizeName = (bytes: number): string =>
  bytes % 1024 !== 0 ? `${bytes} B` : bytes < 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / 1024 / 1024} MB`
