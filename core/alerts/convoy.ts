/**
 * Lock convoys: most locks that waited for one resource at any time since the previous sample. A convoy that a lock manager dissolves
 * within milliseconds still counts if every sample finds the next one.
 */
import { conditionOf, type Figures, type Judgement } from './figures.ts'
import type { Rule } from './rules.ts'
import { amount, named } from './format.ts'

export class ConvoyDetector {
  /** Returns undefined when no lock data was read, so alerts neither begin nor end. */
  look({ convoys }: Pick<Figures, 'convoys'>, { threshold }: Pick<Rule, 'threshold'>): Judgement[] | undefined {
    return convoys?.map(({ key, name, waiting, per, behind }) => ({
      subject: key,
      where: named(name),
      measure: waiting / per,
      stand: conditionOf(waiting / per, threshold),
      level: 'watch',
      words: () =>
        `Convoy on ${named(name)}, ${amount(Math.round(waiting))} ${behind === '' ? 'locks waiting' : `behind one ${named(behind)}`}`,
    }))
  }
}
