/** Formats lock conditions. File names and client names come from users: bounded, and treated as text only. */
import type { ResourceId } from '#core/seqdlm/messages.ts'
import type { LockWorld, TracedCondition } from '#core/seqdlm/trace/trace.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { SeenCondition } from './peaks.ts'

const NAME_MAX = 120

/** Truncates a text, with a mark, never within a surrogate pair. */
export function bounded(text: string, most: number = NAME_MAX): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}\u2026`
}

export const resourceName = (world: LockWorld, resource: ResourceId): string =>
  bounded(world.describe(resource)?.name ?? `resource ${resource}`)

/** `0.8 ms`, `0.031 s`, `4.2 s`, `12 s`. */
export function formatLockTime(ns: number): string {
  const s = ns / NS_PER_S
  if (s < 0.01) return `${(s * 1000).toFixed(1)} ms`
  return `${s < 1 ? s.toFixed(3) : s < 10 ? s.toFixed(1) : Math.round(s)} s`
}

/** `0.2 %`, `61 %`. */
export function percent(ratio: number): string {
  const v = ratio * 100
  return `${v < 10 ? v.toFixed(1) : Math.round(v)} %`
}

/**
 * Formats a condition at the cursor, with its time if the storm is over.
 *
 * @param nowNs  the cursor.
 */
export function seenConditionText(
  world: LockWorld,
  { condition, atNs }: SeenCondition,
  nowNs: number,
): { text: string; note: string } {
  const text = conditionText(world, condition, atNs)
  const agoNs = nowNs - atNs
  return agoNs < NS_PER_S ? text : { ...text, note: `${Math.round(agoNs / NS_PER_S)} s ago` }
}

/** Formats `Convoy on ckpt.h5 / 3, 14 behind 1 PR lock`; the note adds its duration or its limit. */
export function conditionText(
  world: LockWorld,
  condition: TracedCondition,
  atNs: number,
): { text: string; note: string } {
  const name = resourceName(world, condition.resource)
  switch (condition.kind) {
    case 'convoy':
      return {
        text: `Convoy on ${name}, ${condition.waiting} behind 1 ${condition.behindMode} lock`,
        note: formatLockTime(atNs - condition.sinceNs),
      }
    case 'ping-pong':
      return {
        text: `Ping-pong on ${name}, ${Math.round(condition.perSecond)} owner changes/s`,
        note: formatLockTime(atNs - condition.sinceNs),
      }
    case 'eviction': {
      const client = bounded(world.client(condition.client).name)
      const share = percent(condition.ageNs / condition.timeoutNs)
      return {
        text: `Eviction risk on ${name}, ${client} silent for ${share}`,
        note: `of ${formatLockTime(condition.timeoutNs)}`,
      }
    }
  }
}
