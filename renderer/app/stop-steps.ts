/** Steps of a global stop, in order, with their state. */
import type { Level, StatusFrame } from '#core/api/frames.ts'

type Step = NonNullable<StatusFrame['stopping']>['step']

const order = [
  { step: 'waiting', text: 'Waiting for the current step to finish' },
  { step: 'removing', text: 'Removing rules, timers and leases' },
  { step: 'reading back', text: 'Reading back the servers' },
] as const satisfies readonly { step: Step; text: string }[]

export interface StopStep {
  readonly text: string
  readonly state: 'done' | 'now' | 'next' | 'unknown'
  readonly level: Level
  readonly word: string
}

/** @param at  current step; null if the host does not report it. */
export function stopSteps(at: Step | null): StopStep[] {
  const now = order.findIndex((o) => o.step === at)
  return order.map(({ text }, i) => {
    if (now < 0) return { text, state: 'unknown', level: 'idle', word: '' }
    if (i < now) return { text, state: 'done', level: 'ok', word: 'done' }
    return i === now
      ? { text, state: 'now', level: 'watch', word: 'now' }
      : { text, state: 'next', level: 'idle', word: 'next' }
  })
}
