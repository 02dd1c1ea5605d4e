/** Typed AdapTBF claims. */
import { invariant } from '../../base/result.ts'
import file from '../expectations/adaptbf.json' with { type: 'json' }
import { type Expectation, expectationsOf } from '../expectation.ts'
import type { Platform } from './platforms.ts'

type Fields = Readonly<Record<string, unknown>>

/** Fields that belong to the model's claim alone. */
const OF_MODEL: ReadonlySet<string> = new Set(['prototype_value', 'prototype_range', 'comparator', 'value', 'note'])

/**
 * Returns the claims of one experiment, for example `IV-D`. Those of a figure as shipped are the claims of the model,
 * with the same published values and tolerances; only bounds and notes are their own.
 */
export function claimsOf(section: string, { suffix }: Pick<Platform, 'suffix'> = { suffix: '' }): Expectation[] {
  if (suffix === '') return expectationsOf(file, section)
  const name = `${section}${suffix}`
  const shared = new Map(fieldsOf(section).map((fields) => [numberOf(fields), fields]))
  const assertions = fieldsOf(name).map((own) => {
    const published = shared.get(numberOf(own))
    invariant(published !== undefined, `${String(own.id)} is a claim of ${section}`)
    return { ...Object.fromEntries(Object.entries(published).filter(([key]) => !OF_MODEL.has(key))), ...own }
  })
  return expectationsOf({ [name]: { assertions } }, name)
}

function fieldsOf(section: string): readonly Fields[] {
  const { assertions } = (file as Readonly<Record<string, { readonly assertions: readonly Fields[] }>>)[section]!
  return assertions
}

const numberOf = ({ id }: Fields): string => String(id).slice(String(id).lastIndexOf('.') + 1)

/** Values keyed by the numbers of an experiment's claims. */
export const numbered = <V>(experiment: string, values: Readonly<Record<number, V>>): Map<string, V> =>
  new Map(Object.entries(values).map(([number, value]) => [`adaptbf.${experiment}.${number}`, value]))
