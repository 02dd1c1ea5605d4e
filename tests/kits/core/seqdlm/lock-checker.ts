/**
 * External check of a lock resource against the tables: spec/seqdlm 14, I1-I3, I6, I8. It keeps its own list of unreleased locks
 * and waiting requests from the events, independent of the server's indexes and witnesses.
 */
import { invariant } from '#core/base/result.ts'
import type { LockEvent } from '#core/seqdlm/lock-events.ts'
import type { ClientId, ResourceId } from '#core/seqdlm/messages.ts'
import { isCompatible, isReadMode, isWriteMode, type LockMode, type LockState } from '#core/seqdlm/modes.ts'
import { overlaps, type LockRange } from '#core/seqdlm/ranges.ts'

interface Held {
  readonly client: ClientId
  readonly range: LockRange
  readonly sn: number
  /** SNs of data that must be on the server before the release. */
  readonly sns: readonly number[]
  mode: LockMode
  state: LockState
}

interface PendingRequest {
  readonly client: ClientId
  readonly range: LockRange
  readonly mode: LockMode
}

interface OfResource {
  readonly held: Map<number, Held>
  readonly requests: Map<string, PendingRequest>
  lastSn: number
}

export class LockChecker {
  readonly #resources = new Map<ResourceId, OfResource>()

  /** SNs that a lock is responsible for. */
  snsOf(resource: ResourceId, lockId: number): readonly number[] {
    return this.#of(resource).held.get(lockId)?.sns ?? []
  }

  /** Handles a server that lost everything; its clients report their locks. */
  forget(isThere: (resource: ResourceId) => boolean): void {
    for (const resource of this.#resources.keys()) if (isThere(resource)) this.#resources.delete(resource)
  }

  /** Handles a lock that a client reported to a restarted server. */
  restored(resource: ResourceId, lockId: number, lock: Held): void {
    const here = this.#of(resource)
    here.held.set(lockId, { ...lock })
    if (isWriteMode(lock.mode)) here.lastSn = Math.max(here.lastSn, lock.sn)
  }

  observe(event: LockEvent): void {
    const here = this.#of(event.resource)
    switch (event.kind) {
      case 'asked':
        here.requests.set(`${event.client}/${event.reqId}`, event)
        return
      case 'withdrawn':
        here.requests.delete(`${event.client}/${event.reqId}`)
        return
      case 'waiting':
      case 'revoked':
        return
      case 'granted':
        this.#granted(here, event)
        return
      case 'canceling':
      case 'downgraded': {
        const lock = here.held.get(event.lockId)
        invariant(lock !== undefined, 'only unreleased locks change')
        lock.state = 'CANCELING'
        if (event.kind === 'downgraded') lock.mode = event.mode
        return
      }
      case 'released':
      case 'evicted':
        invariant(here.held.delete(event.lockId), 'I10: a lock is released once')
    }
  }

  #granted(here: OfResource, event: LockEvent & { kind: 'granted' }): void {
    const { client, mode, range, sn, state, lockId } = event
    const sns = isWriteMode(mode) ? [sn] : []
    for (const id of event.absorbed) {
      const old = here.held.get(id)
      invariant(old?.client === client && old.state === 'GRANTED', 'a lock absorbs GRANTED locks of its own client')
      sns.push(...old.sns)
      here.held.delete(id)
    }
    for (const lock of here.held.values()) {
      if (lock.client === client || !overlaps(lock.range, range)) continue
      invariant(isCompatible(mode, lock.mode, lock.state), `I1: ${mode} granted over ${lock.mode} ${lock.state}`)
      const bothWrite = isWriteMode(mode) && isWriteMode(lock.mode)
      invariant(!(bothWrite && state === 'GRANTED' && lock.state === 'GRANTED'), 'I2: one GRANTED write lock on a byte')
      invariant(!(isReadMode(mode) && isWriteMode(lock.mode)), 'I6: nothing unflushed under a lock that reads')
      invariant(!isWriteMode(mode) || lock.sn < sn || lock.mode === 'PR', 'I3: SNs in the order of grants')
    }
    if (isWriteMode(mode)) {
      invariant(sn > here.lastSn, 'I3: SNs increase')
      here.lastSn = sn
    }
    here.requests.delete(`${client}/${event.reqId}`)
    this.#overtaken(here, event)
    here.held.set(lockId, { client, range, sn, sns, mode, state })
  }

  /** Requests are kept in the order of asking, so one with a lower id from elsewhere may still be older. */
  #overtaken(here: OfResource, event: LockEvent & { kind: 'granted' }): void {
    const order = here.requests
    for (const a of order.values()) {
      if ((a as LockEvent & { at: number }).at > event.at - event.waitedNs || a.client === event.client) continue
      const conflicts = overlaps(a.range, event.required) && !isCompatible(event.asked, a.mode, 'GRANTED')
      invariant(!conflicts, 'I8: no request overtakes an older one that it conflicts with')
    }
  }

  #of(resource: ResourceId): OfResource {
    let here = this.#resources.get(resource)
    if (here === undefined) this.#resources.set(resource, (here = { held: new Map(), requests: new Map(), lastSn: 0 }))
    return here
  }
}
