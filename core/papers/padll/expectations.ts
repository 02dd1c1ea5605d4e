/** Typed PADLL claims. Published values, tolerances and regression bounds are in the file. */
import file from '../expectations/padll.json' with { type: 'json' }
import { type Expectation, expectationsOf } from '../expectation.ts'

/** Returns the claims of one experiment, for example `V-C-1`. */
export const claimsOf = (experiment: string): Expectation[] => expectationsOf(file, experiment)

/** Values keyed by the names of an experiment's claims, prefixed with `padll.V-C-1.`. */
export const named = <V>(experiment: string, values: Readonly<Record<string, V>>): Map<string, V> =>
  new Map(Object.entries(values).map(([name, value]) => [`padll.${experiment}.${name}`, value]))
