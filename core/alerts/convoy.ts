/**
 * Lock convoys: locks that wait for one resource, at most at once since the sample before. A convoy that a lock manager dissolves within
 * milliseconds is one all the same where the next one stands there at every look.
 */
import { standOf, type Figures, type Judged } from './figures.ts'
import type { Rule } from './rules.ts'
import { amount, named } from './words.ts'

export class ConvoyDetector {
  /** Nothing is known of locks: nothing begins, nothing ends. */
  look({ convoys }: Pick<Figures, 'convoys'>, { threshold }: Pick<Rule, 'threshold'>): Judged[] | undefined {
    return convoys?.map(({ key, name, waiting, per, behind }) => ({
      ...{ subject: key, where: named(name), measure: waiting / per, stand: standOf(waiting / per, threshold) },
      level: 'watch',
      words: () =>
        `Convoy on ${named(name)}, ${amount(Math.round(waiting))} ${behind === '' ? 'locks wait' : `behind one ${named(behind)}`}`,
    }))
  }
}
