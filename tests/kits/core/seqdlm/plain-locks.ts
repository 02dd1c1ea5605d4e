/** Locks and requests of one resource replayed from events into two arrays, and the conflicts of each request by spec 4. */
import type { LockEvent } from '#core/seqdlm/lock-events.ts'
import { isCompatible, join, type LockMode, type LockState } from '#core/seqdlm/modes.ts'
import type { DlmPolicy } from '#core/seqdlm/policy.ts'
import { overlaps, union, type LockRange } from '#core/seqdlm/ranges.ts'

interface Lock {
  readonly lockId: number
  readonly client: number
  readonly reqId: number
  readonly range: LockRange
  mode: LockMode
  state: LockState
  isRevoked: boolean
}

interface Request {
  readonly client: number
  readonly reqId: number
  readonly range: LockRange
  readonly mode: LockMode
}

export class PlainLocks {
  locks: Lock[] = []
  queue: Request[] = []
  readonly #policy: DlmPolicy

  constructor(policy: DlmPolicy) {
    this.#policy = policy
  }

  follow(event: LockEvent): void {
    const lock = 'lockId' in event ? this.locks.find((l) => l.lockId === event.lockId) : undefined
    switch (event.kind) {
      case 'asked':
        this.queue.push(event)
        return
      case 'withdrawn':
        this.queue = this.queue.filter((q) => q.client !== event.client || q.reqId !== event.reqId)
        return
      case 'granted':
        this.queue = this.queue.filter((q) => q.client !== event.client || q.reqId !== event.reqId)
        this.locks = this.locks.filter((l) => !event.absorbed.includes(l.lockId))
        this.locks.push({ ...event, isRevoked: false })
        return
      case 'revoked':
        if (lock) lock.isRevoked = true
        return
      case 'canceling':
        if (lock) lock.state = 'CANCELING'
        return
      case 'downgraded':
        if (lock) Object.assign(lock, { state: 'CANCELING', mode: event.mode })
        return
      case 'released':
      case 'evicted':
        this.locks = this.locks.filter((l) => l !== lock)
    }
  }

  /** `client/reqId` of everything that blocks a waiting request. */
  inTheWay(r: Request): string[] {
    const isGrantable = (requested: LockMode, held: LockMode, state: LockState): boolean =>
      isCompatible(requested, held, this.#policy.earlyGrant ? state : 'GRANTED')
    const mergeable = this.locks.filter((l) => {
      if (l.client !== r.client || l.state !== 'GRANTED' || l.isRevoked || !overlaps(l.range, r.range)) return false
      return this.#policy.upgrade || [l.mode, r.mode].includes(join(l.mode, r.mode))
    })
    const mode = mergeable.reduce<LockMode>((m, l) => join(l.mode, m), r.mode)
    const range = mergeable.reduce<LockRange>((x, l) => union(x, l.range), r.range)
    const locks = this.locks.filter(
      (l) => !mergeable.includes(l) && overlaps(l.range, range) && !isGrantable(mode, l.mode, l.state),
    )
    const earlier = this.queue
      .slice(0, this.queue.indexOf(r))
      .filter((v) => v.client !== r.client && overlaps(v.range, r.range) && !isGrantable(r.mode, v.mode, 'GRANTED'))
    return [...locks, ...earlier].map((x) => `${x.client}/${x.reqId}`)
  }
}
