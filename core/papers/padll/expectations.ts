/** The PADLL claims, typed. What was published stands in the file, beside the bound that a reproduction must keep. */
import file from '../expectations/padll.json' with { type: 'json' }
import { type Expectation, expectationsOf } from '../expectation.ts'
import type { Published } from '../experiment.ts'

/** Claims of one experiment, for example `V-C-1`. */
export const claimsOf = (experiment: string): Expectation[] => expectationsOf(file, experiment)

const PUBLISHED = new Map(
  Object.values(file).flatMap(({ assertions }) =>
    (assertions as ({ id: string; published: Published['value'] } & Pick<Published, 'note'>)[]).map(
      ({ id, published, note }) => [id, { value: published, ...(note === undefined ? {} : { note }) }] as const,
    ),
  ),
)
export const published = ({ id }: Expectation): Published => PUBLISHED.get(id) ?? { value: null }

/** Values by the names of an experiment's claims: `padll.V-C-1.` comes before each. */
export const named = <V>(experiment: string, values: Readonly<Record<string, V>>): Map<string, V> =>
  new Map(Object.entries(values).map(([name, value]) => [`padll.${experiment}.${name}`, value]))
