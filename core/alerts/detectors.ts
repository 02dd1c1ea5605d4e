/** Detectors that judge each sample by itself: lock convoys, unresponsive servers, missed reservations, measured levels. */
import {
  conditionOf,
  type Figures,
  type Judgement,
  type LevelKind,
  type Levels,
  type ServerFigures,
} from './figures.ts'
import { RULES, type Rule } from './rules.ts'
import { amount, amountOf, named } from './format.ts'

/**
 * Detector of lock convoys: most locks that waited for one resource at any time since the previous sample. A convoy that a lock manager
 * dissolves within milliseconds still counts if every sample finds the next one.
 */
export class ConvoyDetector {
  /** Returns undefined when no lock data was read, so alerts neither begin nor end. */
  look({ convoys }: Pick<Figures, 'convoys'>, { threshold }: Pick<Rule, 'threshold'>): Judgement[] | undefined {
    return convoys?.map(({ key, name, waiting, per, behind }) => ({
      subject: key,
      where: named(name),
      measure: waiting / per,
      condition: conditionOf(waiting / per, threshold, RULES.convoy.clear),
      level: RULES.convoy.level,
      text: () =>
        `Convoy on ${named(name)}, ${amount(Math.round(waiting))} ${behind === '' ? 'locks waiting' : `behind 1 ${named(behind)} lock`}`,
    }))
  }
}

/** Most servers that the text names. */
const NAMED_MAX = 3

function disconnectText(silent: readonly ServerFigures[], known: number): string {
  const names = silent.slice(0, NAMED_MAX).map((s) => named(s.host))
  const why = named(silent[0]?.silent ?? '')
  if (silent.length === known && known > 1) return `none of ${known} servers answers: ${why}`
  const more = silent.length > NAMED_MAX ? ` and ${silent.length - NAMED_MAX} more` : ''
  return `${names.join(', ')}${more} ${silent.length === 1 ? 'does' : 'do'} not answer: ${why}`
}

/** Detector of unresponsive servers. All servers of a source form one subject, so a network outage is one alert. */
export class DisconnectDetector {
  look({ servers }: Pick<Figures, 'servers'>, { threshold }: Pick<Rule, 'threshold'>): Judgement[] {
    const silent = servers.filter((s) => s.silent !== '')
    const isOver = silent.length < threshold
    return servers.map((s) => ({
      subject: s.host,
      where: s.host,
      measure: silent.length,
      level: RULES.disconnect.level,
      sinceMs: s.silentSinceMs,
      condition: s.silent === '' ? 'low' : isOver ? 'held' : 'high',
      text: () => disconnectText(silent, servers.length),
    }))
  }
}

/**
 * Detector of missed reservations: consecutive whole periods in which a client of a data node did not get its reservation. A period in
 * which it requested less than it reserved does not count (Haechi, Algorithm 1: yielded tokens are not requested); the counter of missed
 * periods already excludes it. The alert ends with the first period that is not missed.
 */
export class ReservationDetector {
  look(
    { reservations }: Pick<Figures, 'reservations'>,
    { threshold }: Pick<Rule, 'threshold'>,
  ): Judgement[] | undefined {
    return reservations?.map(({ node, client, job, missed, sinceMs, completed, reservation }) => ({
      subject: `${node} ${client}`,
      where: named(client),
      measure: missed,
      level: RULES.reservation.level,
      sinceMs,
      // Consecutive periods below the threshold keep an active alert active.
      condition: conditionOf(missed, threshold, RULES.reservation.clear),
      text: () =>
        `${named(client)}${job === '' ? '' : ` of ${named(job)}`} missed its reservation on ${named(node)} ${missed} periods in a row: ${amountOf(completed, reservation)} I/O`,
    }))
  }
}

/** Judges the measured values of one kind; undefined if it was not measured, so alerts neither begin nor end. */
export function judgeLevels(
  levels: Levels | undefined,
  kind: LevelKind,
  { threshold }: Pick<Rule, 'threshold'>,
): Judgement[] | undefined {
  const { level, clear } = RULES[kind]
  return levels?.[kind]?.map(({ subject, where, value, sinceMs, text }) => ({
    subject,
    where: named(where),
    measure: value,
    condition: conditionOf(value, threshold, clear),
    level,
    sinceMs,
    text,
  }))
}
