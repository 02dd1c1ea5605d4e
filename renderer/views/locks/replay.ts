/** Messages of a range for the replay: sender and receiver, duration of each, lookup by time. */
import type { LocksFrame } from '#core/api/locks.ts'
import type { Life } from './lock-lifetimes.ts'

type Messages = NonNullable<LocksFrame['resource']>['messages']

export interface Message {
  readonly sent: number
  /** null: in transit, or lost. */
  readonly arrived: number | null
  readonly client: string
  /** Index among the clients of the resource, ordered by number. */
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
      sent,
      arrived: messages.arrived[i] ?? null,
      isUp: messages.isUp[i] ?? false,
      client: client?.name ?? '?',
      lane: client ? order.indexOf(client.number) : -1,
      kind: messages.kind[i] ?? '',
      text: messages.text[i] ?? '',
      life: life === null ? null : (byId.get(life) ?? null),
    }
  })
}

/** Slow-down factors; `step`: every message has the same duration. */
export const paces = [100, 1000, 10_000, 'step'] as const
export type Pace = (typeof paces)[number]

const SHORTEST_MS = 40
/** Maximum duration of a message; longer idle times are cut. */
const LONGEST_MS = 1600
const STEP_MS = 800

/** Wall-clock duration of message `i` until the next one, ms. */
export function stayMs(messages: readonly Message[], i: number, pace: Pace): number {
  if (pace === 'step') return STEP_MS
  const gap = (messages[i + 1]?.sent ?? messages[i]?.sent ?? 0) - (messages[i]?.sent ?? 0)
  return Math.max(SHORTEST_MS, Math.min(LONGEST_MS, gap * pace))
}

/** Index of the last message sent at a time; -1 before the first. */
export function messageAt(messages: readonly Message[], t: number): number {
  let low = 0
  let high = messages.length
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
/** Short name of a kind, to fit beside an arrow. */
export const kindName = (kind: string): string => names[kind] ?? kind
/** True for data messages, which are drawn paler than lock messages. */
export const isData = (kind: string): boolean => /^(flush|read|size)/.test(kind)
