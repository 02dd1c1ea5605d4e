/** Typed Haechi claims. Published values, tolerances and regression bounds are in the file. */
import { invariant } from '../../base/result.ts'
import file from '../expectations/haechi.json' with { type: 'json' }
import { expectationsOf, type Measured } from '../expectation.ts'
import type { Experiment, Figure, Fit, Part } from '../experiment.ts'
import { runNode, type NodeRun, type Scene } from './node-run.ts'
import { STREAM } from './profile.ts'

/** One run of a set, by the key that experiments use for it. */
export interface Variant extends Part<NodeRun> {
  readonly key: string
}

/**
 * @param set  for example `2A`; parts with the same set and key are the same run.
 * @param scene  composed when it runs: its sigma is measured by another run.
 * @param isSeeded  true to draw the noise from the seed; otherwise its stream is fixed and the part runs once.
 */
export const variant = (set: string, key: string, scene: () => Scene, isSeeded = false): Variant => ({
  id: `haechi/${set}/${key}`,
  key,
  run: (seed) => runNode(scene(), isSeeded ? seed : STREAM),
  ...(isSeeded ? {} : { isSeedless: true }),
})

interface Described {
  /** For example `2A`. */
  readonly name: string
  readonly title: string
  readonly setup: readonly string[]
  readonly fits: readonly Fit[]
  readonly variants: readonly Variant[]
  /** Returns values by the claim's id without `haechi.`. */
  measure(run: (key: string) => NodeRun): Readonly<Record<string, Measured>>
  figures(run: (key: string) => NodeRun): Figure[]
}

export function experimentOf(described: Described): Experiment<NodeRun> {
  const { name, title, setup, fits, variants } = described
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
    fits,
    parts: variants,
    expectations: expectationsOf(file, name),
    measure: (runs) =>
      new Map(Object.entries(described.measure(lookUp(runs))).map(([claim, value]) => [`haechi.${claim}`, value])),
    figures: (runs) => described.figures(lookUp(runs)),
  }
}
