/**
 * Published claims as data: assertions about experiments, with the bound that a reproduction must satisfy. The files in
 * `expectations/` hold them, together with a prototype's values.
 */
import { invariant } from '../base/result.ts'

export const COMPARATORS = ['>=', '<=', '>', '<', 'between', 'info'] as const
export type Comparator = (typeof COMPARATORS)[number]

/** One bound, or both of `between` (inclusive), or null for `info`. */
export type Bound = number | readonly [number, number] | null

/** Measured value: a number, or numbers by name for a claim that is only information. */
export type Measured = number | Readonly<Record<string, number>>

export interface Expectation {
  /** For example `adaptbf.IV-D.1`. */
  readonly id: string
  readonly claim: string
  /** Section or figure of the paper; `own` for topics that the paper does not treat. */
  readonly ref: string
  /** Description of the measured quantity. */
  readonly metric: string
  readonly comparator: Comparator
  readonly bound: Bound
  /** Value that a prototype measured. */
  readonly prototype: Measured
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the expectations of one experiment.
 *
 * @param file  a file of `expectations/`, as imported.
 * @throws InvariantError if the file has a wrong form: it is part of this program.
 */
export function expectationsOf(file: object, experiment: string): Expectation[] {
  const section = (file as Fields)[experiment] as { assertions?: unknown } | undefined
  invariant(Array.isArray(section?.assertions), `the expectations of ${experiment} are a list`)
  return (section.assertions as Fields[]).map((fields) => {
    const comparator = COMPARATORS.find((known) => known === fields.comparator)
    invariant(comparator !== undefined, `the comparator of ${String(fields.id)} is known`)
    return {
      id: fields.id as string,
      claim: fields.claim as string,
      ref: fields.paper_ref as string,
      metric: fields.metric as string,
      comparator,
      bound: fields.value as Bound,
      prototype: fields.prototype_value as Measured,
    }
  })
}

/** True if a measured value satisfies a bound; always for information. */
export function holds(comparator: Comparator, bound: Bound, measured: Measured): boolean {
  if (comparator === 'info') return true
  if (typeof measured !== 'number' || bound === null) return false
  if (comparator === 'between') return typeof bound !== 'number' && measured >= bound[0] && measured <= bound[1]
  if (typeof bound !== 'number') return false
  if (comparator === '>=') return measured >= bound
  if (comparator === '<=') return measured <= bound
  return comparator === '>' ? measured > bound : measured < bound
}
