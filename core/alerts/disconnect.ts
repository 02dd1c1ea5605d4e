/** Detector of unresponsive servers. All servers of a source form one subject, so a network outage is one alert. */
import type { Figures, Judgement, ServerFigures } from './figures.ts'
import type { Rule } from './rules.ts'
import { named } from './format.ts'

const NAMED = 3

function textOf(silent: readonly ServerFigures[], known: number): string {
  const names = silent.slice(0, NAMED).map((s) => named(s.host))
  const why = named(silent[0]?.silent ?? '')
  if (silent.length === known && known > 1) return `none of ${known} servers answers: ${why}`
  const more = silent.length > NAMED ? ` and ${silent.length - NAMED} more` : ''
  return `${names.join(', ')}${more} ${silent.length === 1 ? 'does' : 'do'} not answer: ${why}`
}

export class DisconnectDetector {
  look({ servers }: Pick<Figures, 'servers'>, { threshold }: Pick<Rule, 'threshold'>): Judgement[] {
    const silent = servers.filter((s) => s.silent !== '')
    const isOver = silent.length < threshold
    return servers.map((s) => ({
      subject: s.host,
      where: s.host,
      measure: silent.length,
      level: 'bad',
      sinceMs: s.silentSinceMs,
      stand: s.silent === '' ? 'low' : isOver ? 'held' : 'high',
      words: () => textOf(silent, servers.length),
    }))
  }
}
