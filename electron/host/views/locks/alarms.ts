/** Alarms of the locks view; a kind without any says that it is calm, so that the list stands still. */
import type { LockAlarm } from '#core/api/locks.ts'
import type { LockWorld } from '#core/seqdlm/trace/trace.ts'
import type { SeenAlarm } from '../../../cluster/locks/watch.ts'
import { inSeconds, percent, seenWords } from '../../../cluster/locks/words.ts'
import { alarmLevel } from './rows.ts'

/** Alarms of one kind in the list. */
const NAMED_MAX = 4

/**
 * @param storms  what is a storm or a risk.
 * @param seen    the oldest callback, too.
 */
export function alarmsOf(
  world: LockWorld,
  atNs: number,
  storms: readonly SeenAlarm[],
  seen: readonly SeenAlarm[],
): LockAlarm[] {
  const of = (kind: LockAlarm['kind']): LockAlarm[] => {
    const named = storms
      .filter((s) => s.alarm.kind === kind)
      .slice(0, NAMED_MAX)
      .map((s) => ({
        ...{ kind, level: alarmLevel(s.alarm), resource: String(s.alarm.resource) },
        ...seenWords(world, s, atNs),
      }))
    return named.length > 0 ? named : [calm(kind, seen)]
  }
  return [...of('convoy'), ...of('ping-pong'), ...of('eviction')]
}

function calm(kind: LockAlarm['kind'], seen: readonly SeenAlarm[]): LockAlarm {
  const base = { kind, level: 'idle' as const, resource: '', note: '' }
  if (kind === 'convoy') return { ...base, text: 'Convoy: none' }
  if (kind === 'ping-pong') return { ...base, text: 'Ping-pong: none' }
  const oldest = seen.map((s) => s.alarm).find((a) => a.kind === 'eviction')
  if (oldest?.kind !== 'eviction') return { ...base, text: 'Eviction risk: none, no callback is open' }
  const share = percent(oldest.ageNs / oldest.timeoutNs)
  return { ...base, text: `Eviction risk: none, oldest callback ${share}`, note: `of ${inSeconds(oldest.timeoutNs)}` }
}
