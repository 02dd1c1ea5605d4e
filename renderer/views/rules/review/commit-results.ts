/** Results of a commit by server: done, failed or unknown, never assumed. */
import type { Level } from '#core/api/frames.ts'
import type { PastChange, RuleState } from '#core/api/rule-edits.ts'
import { formatNumber, plural } from '../../../format/units.ts'

type NodeEnd = PastChange['nodes'][number]
type State = NodeEnd['state']

export const endLevels: Readonly<Record<State, Level>> = {
  done: 'ok',
  failed: 'bad',
  'rolled back': 'watch',
  unknown: 'unknown',
  'not sent': 'idle',
  pending: 'watch',
}
/** States in order of urgency. */
const states: readonly State[] = ['failed', 'unknown', 'pending', 'rolled back', 'not sent', 'done']

/** Status word of the rule changes of a service. */
export function ruleStatus({ phase, servers }: RuleState): { level: Level; word: string } {
  const on = ` on ${plural(servers.length, 'server')}`
  switch (phase) {
    case 'editing':
      return { level: 'idle', word: 'Not reviewed' }
    case 'reviewed':
      return { level: 'ok', word: 'Reviewed' }
    case 'committing':
      return { level: 'watch', word: servers.length === 0 ? 'Committing' : `Committing${on}` }
    case 'done':
      return { level: 'ok', word: `Done${on}` }
    case 'partial':
      return { level: 'bad', word: 'Done on some servers' }
    case 'rolled back':
      return { level: 'watch', word: 'Rolled back' }
    case 'unknown':
      return { level: 'unknown', word: 'Outcome unknown' }
  }
}

/** One entry for each state that occurs: `2 failed`, with the hosts. */
export const endsOf = (nodes: readonly NodeEnd[]): { state: State; text: string; hosts: string }[] =>
  states.flatMap((state) => {
    const those = nodes.filter((n) => n.state === state)
    if (those.length === 0) return []
    return [{ state, text: `${formatNumber(those.length)} ${state}`, hosts: those.map((n) => n.host).join(', ') }]
  })

export const countOf = (nodes: readonly NodeEnd[], state: State): number =>
  nodes.filter((n) => n.state === state).length

/** Summarizes the result in one sentence. */
export function resultSentence(nodes: readonly NodeEnd[]): { level: Level; text: string } {
  const done = countOf(nodes, 'done')
  const all = formatNumber(nodes.length)
  if (done === nodes.length)
    return { level: 'ok', text: `Verified by read-back on ${formatNumber(done)} of ${all} servers.` }
  const rest = endsOf(nodes)
    .filter((end) => end.state !== 'done')
    .map((end) => end.text)
  const level = countOf(nodes, 'failed') + countOf(nodes, 'unknown') > 0 ? 'bad' : 'watch'
  return { level, text: `${formatNumber(done)} of ${all} servers have the change: ${rest.join(', ')}.` }
}

/** Describes a partial commit: the state it leaves, and the rollback. */
export function partialText(nodes: readonly NodeEnd[], subject: string): { what: string; more: string } {
  const done = countOf(nodes, 'done')
  const rest = nodes.length - done
  const unknown = nodes.filter((n) => n.state === 'unknown').map((n) => n.host)
  const isOne = unknown.length === 1
  const named = `${unknown.slice(0, 2).join(', ')}${unknown.length > 2 ? ` and ${unknown.length - 2} more` : ''}`
  const pending =
    unknown.length === 0
      ? ''
      : ` ${named} ${isOne ? 'is read again as soon as it answers' : 'are read again as soon as they answer'}.`
  const of = subject.replace(/^1 change$/, 'change')
  return {
    what:
      done === 0
        ? `No server has the ${of}.`
        : `${plural(done, 'server')} ${done === 1 ? 'has' : 'have'} the ${of}, ${formatNumber(rest)} ${rest === 1 ? 'does' : 'do'} not.`,
    more:
      (done === 0
        ? 'There is nothing to roll back.'
        : `A rollback changes ${plural(done, 'server')}; its commands are prepared.`) + pending,
  }
}
