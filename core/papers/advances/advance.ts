/** Experiments of advances: each measures a rule of `ADVANCES` and the paper's rule in the same runs. */
import file from '../expectations/advances.json' with { type: 'json' }
import type { Advance } from '../../controllers/advances.ts'
import { expectationsOf, type Measured } from '../expectation.ts'
import { type Experiment, type Figure, originalOf, type Part } from '../experiment.ts'

/** System under which `sluice papers --only advances` and the window list them. */
export const SYSTEM = 'advances'

/** Value of a claim, and of the paper's rule where that can be compared. */
export interface Compared {
  readonly advance: Measured
  readonly original?: Measured
}

interface Described<R> {
  readonly advance: Advance
  /** Setup, a sentence or two each. */
  readonly setup: readonly string[]
  readonly parts: readonly Part<R>[]
  /** Returns values by the last part of the claims' ids. */
  readonly measure: (run: (partId: string) => R) => Readonly<Record<string, Compared>>
  readonly figures: (run: (partId: string) => R) => Figure[]
}

/** @throws InvariantError if the advance has no claims in `expectations/advances.json`. */
export function advanceExperiment<R>({ advance, setup, parts, measure, figures }: Described<R>): Experiment<R> {
  const { name, title, summary, original, page, setting, fallback } = advance
  const id = `${SYSTEM}.${name}`
  const lookUp =
    (runs: ReadonlyMap<string, R>) =>
    (partId: string): R => {
      const run = runs.get(partId)
      if (run === undefined) throw new Error(`the part ${partId} of ${id} has not run`)
      return run
    }
  return {
    id,
    system: SYSTEM,
    title,
    setup: [
      summary,
      `Replaces: ${original}. Setting: ${setting}. Described in docs/${page}.`,
      `Fallback: ${fallback}.`,
      ...setup,
    ],
    expectations: expectationsOf(file, name),
    parts,
    measure(runs) {
      const values = new Map<string, Measured>()
      for (const [claim, { advance: measured, original: before }] of Object.entries(measure(lookUp(runs)))) {
        values.set(`${id}.${claim}`, measured)
        if (before !== undefined) values.set(originalOf(`${id}.${claim}`), before)
      }
      return values
    },
    figures: (runs) => figures(lookUp(runs)),
  }
}
