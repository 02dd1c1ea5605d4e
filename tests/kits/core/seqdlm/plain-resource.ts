/**
 * Literal implementation of the lock server of spec/seqdlm 4: an array of locks and an array of requests, both scanned at every
 * event. Too slow for use, simple enough to serve as reference.
 */
import { isCompatible, isWriteMode, join, type LockMode, type LockState } from '#core/seqdlm/modes.ts'
import type { DlmPolicy } from '#core/seqdlm/policy.ts'
import { EOF } from '#core/seqdlm/ranges.ts'

export interface PlainLock {
  readonly id: number
  readonly client: number
  readonly start: number
  readonly end: number
  readonly sn: number
  readonly minSn: number
  mode: LockMode
  state: LockState
  isRevoked: boolean
}

interface Request {
  readonly client: number
  readonly reqId: number
  readonly start: number
  readonly end: number
  readonly mode: LockMode
}

interface Wanted extends Request {
  readonly absorbed: readonly PlainLock[]
}

const meet = (a: { start: number; end: number }, b: { start: number; end: number }): boolean =>
  a.start <= b.end && b.start <= a.end

export class PlainResource {
  readonly locks: PlainLock[] = []
  /** Grants as text, in order; and locks revoked. */
  readonly grants: string[] = []
  readonly revoked = new Set<number>()
  readonly #policy: DlmPolicy
  readonly #queue: Request[] = []
  #nextSn = 1
  #lastId = 0

  constructor(policy: DlmPolicy) {
    this.#policy = policy
  }

  request(r: Request): void {
    this.#queue.push(r)
    this.#scan()
  }

  cancel(lock: PlainLock): void {
    lock.state = 'CANCELING'
    this.#scan()
  }

  downgrade(lock: PlainLock, mode: LockMode): void {
    lock.mode = mode
    this.cancel(lock)
  }

  release(lock: PlainLock): void {
    this.locks.splice(this.locks.indexOf(lock), 1)
    this.#scan()
  }

  minSn(start: number, end: number): number {
    const there = this.locks.filter((l) => isWriteMode(l.mode) && meet(l, { start, end }))
    return Math.min(Infinity, ...there.map((l) => l.minSn))
  }

  #scan(): void {
    for (let i = 0; i < this.#queue.length; i++) {
      const r = this.#queue[i] as Request
      const wanted = this.#wanted(r)
      const against = this.locks.filter((l) => this.#denies(l, wanted))
      for (const l of against) this.#revoke(l)
      const older = this.#queue
        .slice(0, i)
        .some((v) => v.client !== r.client && meet(v, r) && !this.#isGrantable(r.mode, v.mode, 'GRANTED'))
      if (older || against.length > 0) continue
      this.#queue.splice(i, 1)
      this.#grant(r, wanted)
      i = -1
    }
  }

  #isGrantable(requested: LockMode, held: LockMode, state: LockState): boolean {
    return isCompatible(requested, held, this.#policy.earlyGrant ? state : 'GRANTED')
  }

  #denies(l: PlainLock, w: Wanted): boolean {
    return !w.absorbed.includes(l) && meet(l, w) && !this.#isGrantable(w.mode, l.mode, l.state)
  }

  #wanted(r: Request): Wanted {
    const absorbed = this.locks.filter((l) => {
      if (l.client !== r.client || l.state !== 'GRANTED' || l.isRevoked || !meet(l, r)) return false
      const joint = join(l.mode, r.mode)
      return this.#policy.upgrade || joint === l.mode || joint === r.mode
    })
    const all = [r, ...absorbed]
    const start = Math.min(...all.map((x) => x.start))
    const end = Math.max(...all.map((x) => x.end))
    return { ...r, absorbed, start, end, mode: absorbed.reduce((m, l) => join(l.mode, m), r.mode) }
  }

  #revoke(l: PlainLock): void {
    if (l.state !== 'GRANTED' || l.isRevoked) return
    l.isRevoked = true
    this.revoked.add(l.id)
  }

  #grant(r: Request, w: Wanted): void {
    const end = this.#expand(w)
    const otherClients = this.#queue.filter((q) => q.client !== r.client)
    const isWanted = otherClients.some((q) => {
      const u = this.#wanted(q)
      return meet(u, { start: w.start, end }) && !this.#isGrantable(u.mode, w.mode, 'GRANTED')
    })
    const state = this.#policy.earlyRevocation && end === w.end && isWanted ? 'CANCELING' : 'GRANTED'
    const sn = this.#nextSn
    if (isWriteMode(w.mode)) this.#nextSn++
    const minSn = Math.min(sn, ...w.absorbed.filter((l) => isWriteMode(l.mode)).map((l) => l.minSn))
    for (const l of w.absorbed) this.locks.splice(this.locks.indexOf(l), 1)
    const lock = {
      id: ++this.#lastId,
      client: r.client,
      start: w.start,
      end,
      sn,
      minSn,
      mode: w.mode,
      state,
      isRevoked: false,
    }
    this.locks.push(lock as PlainLock)
    const absorbed = w.absorbed.map((l) => l.id).sort((a, b) => a - b)
    this.grants.push(
      `${r.client}/${r.reqId} ${w.mode} ${w.start}-${end} ${state} SN ${sn} as ${lock.id} for ${absorbed.join(' ')}`,
    )
    if (state === 'GRANTED' && isWanted) this.#revoke(lock as PlainLock)
  }

  #expand(w: Wanted): number {
    if (!this.#policy.expand) return w.end
    let limit = EOF
    for (const l of this.locks) {
      if (!w.absorbed.includes(l) && l.start > w.end && !this.#isGrantable(w.mode, l.mode, l.state))
        limit = Math.min(limit, l.start - 1)
    }
    for (const q of this.#policy.queueLimits ? this.#queue : []) {
      if (q.client === w.client || this.#isGrantable(q.mode, w.mode, 'GRANTED') || q.end < w.start) continue
      limit = Math.min(limit, q.start > w.end ? q.start - 1 : w.end)
    }
    if (this.locks.length > this.#policy.capAbove)
      limit = Math.min(limit, Math.max(w.end, w.start + this.#policy.capBytes - 1))
    return Math.max(w.end, limit)
  }
}
