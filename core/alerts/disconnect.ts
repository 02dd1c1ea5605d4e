/** Servers that do not answer. All of a source are one subject, so that a network that is gone is one alert. */
import type { Figures, Judged, ServerFigures } from './figures.ts'
import type { Rule } from './rules.ts'
import { named } from './words.ts'

const NAMED = 3

function wordsOf(silent: readonly ServerFigures[], known: number): string {
  const names = silent.slice(0, NAMED).map((s) => named(s.host))
  const why = named(silent[0]?.silent ?? '')
  if (silent.length === known && known > 1) return `none of ${known} servers answers: ${why}`
  const more = silent.length > NAMED ? ` and ${silent.length - NAMED} more` : ''
  return `${names.join(', ')}${more} ${silent.length === 1 ? 'does' : 'do'} not answer: ${why}`
}

export class DisconnectDetector {
  look({ servers }: Pick<Figures, 'servers'>, { threshold }: Pick<Rule, 'threshold'>): Judged[] {
    const silent = servers.filter((s) => s.silent !== '')
    const isOver = silent.length < threshold
    return servers.map((s) => ({
      ...{ subject: s.host, where: s.host, measure: silent.length, level: 'bad', sinceMs: s.silentSinceMs },
      stand: s.silent === '' ? 'low' : isOver ? 'held' : 'high',
      words: () => wordsOf(silent, servers.length),
    }))
  }
}
