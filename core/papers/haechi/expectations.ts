/** Typed Haechi claims. Published values are in the file, next to the bound that a reproduction must satisfy. */
import { invariant } from '../../base/result.ts'
import file from '../expectations/haechi.json' with { type: 'json' }
import { expectationsOf, type Expectation, type Measured } from '../expectation.ts'
import type { Experiment, Figure, Part, Published } from '../experiment.ts'
import { runNode, type NodeRun, type Scene } from './node-run.ts'

const PUBLISHED = new Map(
  Object.values(file).flatMap(({ assertions }) =>
    (assertions as ({ id: string; published: Published['value'] } & Pick<Published, 'note'>)[]).map(
      ({ id, published, note }) => [id, { value: published, ...(note === undefined ? {} : { note }) }] as const,
    ),
  ),
)

/** One run of a set, by the key that experiments use for it. */
export interface Variant extends Part<NodeRun> {
  readonly key: string
}

/**
 * @param set  for example `2A`; parts with the same set and key are the same run. Without noise it does not depend on the seed.
 */
export const variant = (set: string, key: string, scene: Scene): Variant => ({
  id: `haechi/${set}/${key}`,
  key,
  run: (seed) => runNode(scene, seed),
  ...(scene.noise === undefined ? { isSeedless: true } : {}),
})

interface Described {
  /** For example `2A`. */
  readonly name: string
  readonly title: string
  readonly setup: readonly string[]
  readonly variants: readonly Variant[]
  /** Returns values by the claim's id without `haechi.`. */
  measure(run: (key: string) => NodeRun): Readonly<Record<string, Measured>>
  figures(run: (key: string) => NodeRun): Figure[]
}

export function experimentOf(described: Described): Experiment<NodeRun> {
  const { name, title, setup, variants } = described
  const id = `haechi.${name}`
  const lookUp =
    (runs: ReadonlyMap<string, NodeRun>) =>
    (key: string): NodeRun => {
      const part = variants.find((v) => v.key === key)
      const run = part === undefined ? undefined : runs.get(part.id)
      invariant(run !== undefined, `the variant ${key} of ${id} has run`)
      return run
    }
  return {
    id,
    system: 'haechi',
    title,
    setup,
    parts: variants,
    expectations: expectationsOf(file, name),
    published: (claim: Expectation) => PUBLISHED.get(claim.id) ?? { value: null },
    measure: (runs) =>
      new Map(Object.entries(described.measure(lookUp(runs))).map(([claim, value]) => [`haechi.${claim}`, value])),
    figures: (runs) => described.figures(lookUp(runs)),
  }
}
