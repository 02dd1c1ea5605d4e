/**
 * Reservations that a client of a data node missed, whole periods in a row. A period in which it asked for less than it reserved is none
 * of them (Haechi, Algorithm 1: what it yields is not asked for); that is judged where the periods are counted. It ends with the first
 * period that is not missed.
 */
import type { Figures, Judged } from './figures.ts'
import type { Rule } from './rules.ts'
import { amount, named } from './words.ts'

export class ReservationDetector {
  look({ reservations }: Pick<Figures, 'reservations'>, { threshold }: Pick<Rule, 'threshold'>): Judged[] | undefined {
    return reservations?.map(({ node, client, job, missed, sinceMs, completed, reservation }) => ({
      ...{ subject: `${node} ${client}`, where: named(client), measure: missed, level: 'bad', sinceMs },
      // Periods in a row: what is below the threshold and not over goes on.
      stand: Number.isNaN(missed) ? 'unknown' : missed >= threshold ? 'high' : missed > 0 ? 'held' : 'low',
      words: () =>
        `${named(client)}${job === '' ? '' : ` of ${named(job)}`} missed its reservation on ${named(node)} ${missed} periods in a row: ${amount(completed)} of ${amount(reservation)} I/O`,
    }))
  }
}
