/** Typed PADLL claims. Published values are in the file, next to the bound that a reproduction must satisfy. */
import file from '../expectations/padll.json' with { type: 'json' }
import { type Expectation, expectationsOf } from '../expectation.ts'
import type { Published } from '../experiment.ts'

/** Returns the claims of one experiment, for example `V-C-1`. */
export const claimsOf = (experiment: string): Expectation[] => expectationsOf(file, experiment)

const PUBLISHED = new Map(
  Object.values(file).flatMap(({ assertions }) =>
    (assertions as ({ id: string; published: Published['value'] } & Pick<Published, 'note'>)[]).map(
      ({ id, published, note }) => [id, { value: published, ...(note === undefined ? {} : { note }) }] as const,
    ),
  ),
)
export const published = ({ id }: Expectation): Published => PUBLISHED.get(id) ?? { value: null }

/** Values keyed by the names of an experiment's claims, prefixed with `padll.V-C-1.`. */
export const named = <V>(experiment: string, values: Readonly<Record<string, V>>): Map<string, V> =>
  new Map(Object.entries(values).map(([name, value]) => [`padll.${experiment}.${name}`, value]))
