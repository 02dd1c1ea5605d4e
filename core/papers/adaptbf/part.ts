/** Parts for variants of the AdapTBF experiments. */
import { invariant } from '../../base/result.ts'
import type { Part } from '../experiment.ts'
import type { RunSetup } from './run.ts'
import { type Run, simulate } from './run.ts'

/** Runs by the last component of their part: `none`, `static`, `T=0.8`. */
export type Runs = (name: string) => Run

const idOf = (scene: string, name: string): string => `adaptbf/${scene}/${name}`

/** Creates the part of one variant of a scene. */
export const runPart = (scene: string, name: string, setup: RunSetup): Part<Run> => ({
  id: idOf(scene, name),
  run: (seed) => simulate(setup, seed),
})

/** Runs of one scene, by name. */
export const runsOf = (runs: ReadonlyMap<string, Run>, scene: string): Runs => {
  return (name) => {
    const run = runs.get(idOf(scene, name))
    invariant(run !== undefined, `the part ${idOf(scene, name)} has run`)
    return run
  }
}
