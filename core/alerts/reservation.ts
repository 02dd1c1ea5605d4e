/**
 * Missed reservations: consecutive whole periods in which a client of a data node did not get its reservation. A period in which it
 * requested less than it reserved does not count (Haechi, Algorithm 1: what it yields is not requested); the counter of the periods
 * decides that. The alert ends with the first period that is not missed.
 */
import type { Figures, Judgement } from './figures.ts'
import type { Rule } from './rules.ts'
import { amount, named } from './format.ts'

export class ReservationDetector {
  look(
    { reservations }: Pick<Figures, 'reservations'>,
    { threshold }: Pick<Rule, 'threshold'>,
  ): Judgement[] | undefined {
    return reservations?.map(({ node, client, job, missed, sinceMs, completed, reservation }) => ({
      subject: `${node} ${client}`,
      where: named(client),
      measure: missed,
      level: 'bad',
      sinceMs,
      // Consecutive periods below the threshold keep an active alert active.
      stand: Number.isNaN(missed) ? 'unknown' : missed >= threshold ? 'high' : missed > 0 ? 'held' : 'low',
      words: () =>
        `${named(client)}${job === '' ? '' : ` of ${named(job)}`} missed its reservation on ${named(node)} ${missed} periods in a row: ${amount(completed)} of ${amount(reservation)} I/O`,
    }))
  }
}
