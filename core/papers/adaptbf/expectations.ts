/** Typed AdapTBF claims. */
import file from '../expectations/adaptbf.json' with { type: 'json' }
import { type Expectation, expectationsOf } from '../expectation.ts'
import type { Published } from '../experiment.ts'

/** Returns the claims of one experiment, for example `IV-D`. */
export const claimsOf = (experiment: string): Expectation[] => expectationsOf(file, experiment)

/** Published text by claim number; the default applies to numbers that are not listed. */
export const publishedAs =
  (byNumber: Readonly<Record<number, Published>>, otherwise: Published = { value: null }) =>
  ({ id }: Expectation): Published =>
    byNumber[Number(id.slice(id.lastIndexOf('.') + 1))] ?? otherwise

/** Values keyed by the numbers of an experiment's claims. */
export const numbered = <V>(experiment: string, values: Readonly<Record<number, V>>): Map<string, V> =>
  new Map(Object.entries(values).map(([number, value]) => [`adaptbf.${experiment}.${number}`, value]))
