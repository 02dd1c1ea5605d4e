/** Invariants of the clients of a world, checked after every step: spec/seqdlm 14, I2, I9, I13. */
import { invariant } from '#core/base/result.ts'
import type { CcpfsClient } from '#core/seqdlm/ccpfs-client.ts'
import type { ClientId } from '#core/seqdlm/messages.ts'
import { overlaps } from '#core/seqdlm/ranges.ts'
import type { ClientLock } from '#core/seqdlm/lock-client.ts'

/** Operations that held a CANCELING lock at the last check. */
const pins = new WeakMap<ClientLock, number>()

export function checkNodes(clients: ReadonlyMap<ClientId, CcpfsClient>, maxIdleLocks: number): void {
  const writing = new Map<number, { client: ClientId; lock: ClientLock }[]>()
  for (const [client, node] of clients) {
    invariant(node.dirtyBytes >= 0 && node.pages.cleanBytes >= 0, 'I13: dirty and clean bytes are counted')
    let idle = 0
    for (const resource of node.locks.resources()) {
      for (const lock of node.locks.locks(resource)) {
        checkPins(lock)
        if (lock.state === 'GRANTED' && lock.readers + lock.writers === 0) idle++
        if (lock.writers === 0 || (lock.mode !== 'BW' && lock.mode !== 'PW')) continue
        const otherWrites = writing.get(resource) ?? []
        const clash = otherWrites.some((o) => o.client !== client && overlaps(o.lock.range, lock.range))
        invariant(!clash, 'I2: blocking write locks in use do not overlap')
        writing.set(resource, [...otherWrites, { client, lock }])
      }
    }
    invariant(idle === node.locks.idle, 'idle locks are counted')
    // Some may be kept for a request that would absorb them.
    invariant(idle <= maxIdleLocks || node.locks.waiting > 0, 'idle locks beyond the limit are given back')
  }
}

function checkPins(lock: ClientLock): void {
  if (lock.state !== 'CANCELING') return
  const now = lock.readers + lock.writers
  invariant(now <= (pins.get(lock) ?? Infinity), 'I9: no operation begins under a CANCELING lock')
  pins.set(lock, now)
}
