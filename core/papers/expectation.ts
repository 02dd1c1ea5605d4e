/**
 * Published claims as data: what the paper states, the tolerance within which it counts as reproduced, and apart from that the
 * regression bound of this program. The files in `expectations/` hold them, together with a prototype's values.
 */
import { invariant } from '../base/result.ts'

export const COMPARATORS = ['>=', '<=', '>', '<', 'between', 'info'] as const
export type Comparator = (typeof COMPARATORS)[number]

/** One bound, or both of `between` (inclusive), or null for `info`. */
export type Bound = number | readonly [number, number] | null

/** Measured value: a number, or numbers by name for a claim that is only information. */
export type Measured = number | Readonly<Record<string, number>>

/** Values that agree with the published one: a number, a range (inclusive), or an ordering. */
export type Target =
  | { readonly at: number }
  | { readonly from: number; readonly to: number }
  | { readonly is: '>=' | '<=' | '>' | '<'; readonly than: number }

/** Distance from the target within which a value counts as reproduced. */
export interface Tolerance {
  /** In the unit of the claim, or with `isRelative` as a fraction of the target. */
  readonly size: number
  readonly isRelative?: true
  /** Origin of the size: printed digits, spread of the paper's repetitions, parity. */
  readonly reason: string
}

/** Published result of a claim. */
export interface Published {
  /** The paper's number or wording; null if the paper is silent. */
  readonly value: number | string | null
  /** Absent: the number itself. */
  readonly target?: Target
  /** Absent only for silent papers and inputs of a fit. */
  readonly tolerance?: Tolerance
  /** Input of a fit, which constants it determined: agreement with it is no result. */
  readonly calibrates?: string
  /** Proof that no faithful implementation can give the published value. */
  readonly proof?: string
  /** Reason for a difference, or a remark on the value. */
  readonly note?: string
}

/** Requirement on an advance: a rule of this program that has no published value. */
export interface Requirement {
  readonly target: Target
  /** Values that must agree with the target: their median, or each of them. */
  readonly on: 'median' | 'every seed'
}

export interface Expectation {
  /** For example `adaptbf.IV-D.1`. */
  readonly id: string
  readonly claim: string
  /** Section or figure of the paper; `own` for topics that the paper does not treat. */
  readonly ref: string
  /** Description of the measured quantity. */
  readonly metric: string
  readonly published: Published
  /** Regression bound: guards changes of this program, and judges nothing published. */
  readonly comparator: Comparator
  readonly bound: Bound
  /** Value that a prototype measured; undefined for claims without one. */
  readonly prototype?: Measured
  /** Only for advances. */
  readonly required?: Requirement
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
    const { target, tolerance, calibrates, proof, note, prototype_value: prototype, required } = fields
    return {
      id: fields.id as string,
      claim: fields.claim as string,
      ref: fields.paper_ref as string,
      metric: fields.metric as string,
      comparator,
      bound: fields.value as Bound,
      published: {
        value: (fields.published ?? null) as Published['value'],
        ...(target === undefined ? {} : { target: target as Target }),
        ...(tolerance === undefined ? {} : { tolerance: tolerance as Tolerance }),
        ...(calibrates === undefined ? {} : { calibrates: calibrates as string }),
        ...(proof === undefined ? {} : { proof: proof as string }),
        ...(note === undefined ? {} : { note: note as string }),
      },
      ...(prototype === undefined ? {} : { prototype: prototype as Measured }),
      ...(required === undefined ? {} : { required: required as Requirement }),
    }
  })
}

/** True if a measured value satisfies a regression bound; always for information. */
export function holds(comparator: Comparator, bound: Bound, measured: Measured): boolean {
  if (comparator === 'info') return true
  if (typeof measured !== 'number' || bound === null) return false
  if (comparator === 'between') return typeof bound !== 'number' && measured >= bound[0] && measured <= bound[1]
  if (typeof bound !== 'number') return false
  if (comparator === '>=') return measured >= bound
  if (comparator === '<=') return measured <= bound
  return comparator === '>' ? measured > bound : measured < bound
}
