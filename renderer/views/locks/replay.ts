/** The messages of a moment, one by one: who is at which end, how long each stays on screen, where clients stand then. */
import type { LocksFrame } from '#core/api/locks.ts'
import type { Life } from './lives.ts'

type Messages = NonNullable<LocksFrame['resource']>['messages']

export interface Message {
  readonly sent: number
  /** null: under way, or lost. */
  readonly arrived: number | null
  readonly client: string
  /** Place among the clients of the resource, by number. */
  readonly lane: number
  readonly isUp: boolean
  readonly kind: string
  readonly text: string
  readonly life: Life | null
}

export function messagesOf(
  messages: Messages,
  clients: readonly { number: number; name: string }[],
  lives: readonly Life[],
): Message[] {
  const byId = new Map(lives.map((life) => [life.id, life]))
  const order = clients.map(({ number }) => number).sort((a, b) => a - b)
  return messages.sent.map((sent, i) => {
    const client = clients[messages.client[i] ?? -1]
    const life = messages.life[i] ?? null
    return {
      ...{ sent, arrived: messages.arrived[i] ?? null, isUp: messages.isUp[i] ?? false },
      client: client?.name ?? '?',
      lane: client ? order.indexOf(client.number) : -1,
      ...{ kind: messages.kind[i] ?? '', text: messages.text[i] ?? '' },
      life: life === null ? null : (byId.get(life) ?? null),
    }
  })
}

/** Slower than it was by this factor; `step`: every message takes as long as any other. */
export const paces = [100, 1000, 10_000, 'step'] as const
export type Pace = (typeof paces)[number]

const SHORTEST_MS = 40
/** Idle stretches are cut: nothing is learnt from waiting. */
const LONGEST_MS = 1600
const STEP_MS = 800

/** How long message `i` stays before the next one, ms of the wall. */
export function stayMs(messages: readonly Message[], i: number, pace: Pace): number {
  if (pace === 'step') return STEP_MS
  const gap = (messages[i + 1]?.sent ?? messages[i]?.sent ?? 0) - (messages[i]?.sent ?? 0)
  return Math.max(SHORTEST_MS, Math.min(LONGEST_MS, gap * pace))
}

/** The message under way or last sent at an instant; -1 before the first. */
export function messageAt(messages: readonly Message[], t: number): number {
  let [low, high] = [0, messages.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((messages[middle]?.sent ?? 0) <= t + 1e-4) low = middle + 1
    else high = middle
  }
  return low - 1
}

const names: Readonly<Record<string, string>> = {
  'lock-request': 'request',
  'lock-grant': 'grant',
  'lock-refusal': 'refusal',
  'revoke-reply': 'revoke ok',
  'flush-request': 'flush',
  'flush-reply': 'flush ok',
  'read-request': 'read',
  'read-reply': 'read ok',
  'size-request': 'size',
  'size-reply': 'size ok',
}
/** A kind in a word that fits beside an arrow. */
export const kindName = (kind: string): string => names[kind] ?? kind
/** Data go another way than locks: they are drawn pale. */
export const isData = (kind: string): boolean => /^(flush|read|size)/.test(kind)
