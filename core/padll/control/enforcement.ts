/**
 * Carries a plan out in two steps, so that the rates in force never sum to more than the limit on the way: first every rate
 * that falls is told and waited for, then those that rise, as far as what is in force leaves room.
 */
import type { LocalPeer, StageScope } from './stage-record.ts'
import type { Plan } from './plan.ts'

export interface Order {
  readonly of: StageScope
  readonly rate: number
}

/** Additions of many rates leave less than this, op/s. */
const DUST = 1e-6

/**
 * What falls, and what is to be said again without rising.
 *
 * Where more may be in force than there is room for, a stage of which only the most is known might rise by what looks like a
 * fall: it goes down to its floor first. Stages that come back after their leases were over are such.
 */
export function lowerings(plan: Plan): Order[] {
  const orders: Order[] = []
  for (const { budget, limited, free } of plan.scopes) {
    const isOver = limited.reduce((sum, of) => sum + of.most, 0) > budget + DUST
    const look = (of: StageScope): void => {
      const isDoubtful = isOver && of.isUnsure
      const rate = isDoubtful ? Math.min(of.floor, of.target) : of.target
      if (rate < of.most || (of.isUnsure && rate === of.most)) orders.push({ of, rate })
    }
    limited.forEach(look)
    free.forEach(look)
  }
  return orders
}

/** What rises. Where something that was to fall has not been confirmed there is less room; the next cycle tries again. */
export function raisings(plan: Plan): Order[] {
  const orders: Order[] = []
  for (const { budget, limited, free } of plan.scopes) {
    let room = budget === Infinity ? Infinity : budget - limited.reduce((sum, of) => sum + of.most, 0)
    for (const of of limited) {
      const more = of.target - of.most
      if (more <= 0) continue
      const given = more <= room + DUST ? more : Math.floor(room)
      if (given <= 0) continue
      room -= given
      orders.push({ of, rate: of.most + given })
    }
    for (const of of free) if (of.target > of.most) orders.push({ of, rate: of.target })
  }
  return orders
}

/** Orders by the connection that they go over. */
export function byPeer(
  orders: readonly Order[],
  peerOf: (of: StageScope) => LocalPeer | undefined,
): Map<LocalPeer, Order[]> {
  const peers = new Map<LocalPeer, Order[]>()
  for (const order of orders) {
    const peer = peerOf(order.of)
    if (!peer) continue
    const some = peers.get(peer)
    if (some) some.push(order)
    else peers.set(peer, [order])
  }
  return peers
}
