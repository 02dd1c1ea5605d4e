/**
 * Registry of local controllers by connection, of their stages, and of the rates reserved for those out of reach. The
 * successor of another controller also sums the rates that stages bring with them: until all leases that it did not
 * grant are over, it hands out no more.
 */
import type { Scope } from '../vocabulary.ts'
import type { Lease, StageEntry } from './messages.ts'
import { CONNECTION_GONE, LEASES_OF_LOCAL, LEASES_OF_STAGE, REACH_NS, GOODBYE } from './protocol.ts'
import { identityKey, Reservations } from './reservations.ts'
import { LocalPeer, StageRecord, type StageScope } from './stage-record.ts'

/** Receives events for display. */
export type RosterEvent = (kind: 'join' | 'leave' | 'lost', text: string, where: string) => void

export class Roster {
  readonly peers = new Map<number, LocalPeer>()
  /** All stages, with the local controller of each. */
  readonly stages = new Map<StageRecord, LocalPeer>()
  readonly reservations = new Reservations()
  readonly #event: RosterEvent
  /** Stages by job. */
  readonly #jobs = new Map<string, number>()
  /** Longest lease ever granted, and the expiry behavior of the last one. */
  #leaseNs: number
  #onExpiry: Lease['onExpiry']
  /** End of the leases that another controller may have granted; -Infinity for none. */
  #cautiousUntilNs = -Infinity
  readonly #brought = new Map<Scope, number>()
  /** Stages already included in that sum, or that had no rate yet: each counts once, however often it returns. */
  readonly #met = new Set<string>()

  constructor({ ns, onExpiry }: Lease, event: RosterEvent) {
    this.#leaseNs = ns
    this.#onExpiry = onExpiry
    this.#event = event
  }

  gives({ ns, onExpiry }: Lease): void {
    this.#leaseNs = Math.max(this.#leaseNs, ns)
    this.#onExpiry = onExpiry
  }

  open(link: number, nowNs: number): void {
    if (!this.peers.has(link)) this.peers.set(link, new LocalPeer(link, nowNs))
  }

  hasJob(job: string): boolean {
    return this.#jobs.has(job)
  }

  /**
   * @param at         number of the last request to its local controller.
   * @param isBrought  it existed before this controller knew of it, and may have a rate.
   */
  join(
    peer: LocalPeer,
    entry: StageEntry,
    { at, nowNs, isBrought }: { at: number; nowNs: number; isBrought: boolean },
  ): void {
    if (peer.stages.has(entry.key)) return
    // Counts of a stage that brings a rate cover more than this controller's time with it; the local one reports the
    // span.
    const stage = new StageRecord(entry, isBrought ? -Infinity : nowNs, at)
    const { job } = stage.identity
    peer.stages.set(entry.key, stage)
    this.stages.set(stage, peer)
    this.reservations.release(entry.identity)
    if (isBrought) for (const of of stage.scopes.values()) of.isUnsure = true
    if (this.#cautiousUntilNs > -Infinity) this.#meet(stage, isBrought)
    const known = this.#jobs.get(job) ?? 0
    this.#jobs.set(job, known + 1)
    if (known === 0) this.#event('join', `${job} joins`, peer.hostname)
  }

  /**
   * Removes a stage. After a goodbye it holds nothing any more; otherwise it may until its lease is over. A job leaves
   * with its last stage.
   */
  leave(peer: LocalPeer, stage: StageRecord, why: string, nowNs: number): void {
    const { job, instance } = stage.identity
    if (why === GOODBYE) this.#forget(peer, stage)
    else this.#forget(peer, stage, { leases: LEASES_OF_STAGE, mayRun: why !== CONNECTION_GONE, nowNs })
    if (why !== GOODBYE) this.#event('lost', `${job} instance ${instance} is lost: ${why}`, peer.hostname)
    else if (!this.hasJob(job)) this.#event('leave', `${job} leaves`, peer.hostname)
  }

  /** Called when a local controller is present, again or for the first time. */
  accepted(peer: LocalPeer, nowNs: number): void {
    this.reservations.returned(peer.local, nowNs + LEASES_OF_STAGE * this.#leaseNs)
  }

  lose(peer: LocalPeer, why: string, nowNs: number): void {
    this.peers.delete(peer.link)
    if (peer.local === '') return
    for (const stage of [...peer.stages.values()]) {
      this.#forget(peer, stage, { leases: LEASES_OF_LOCAL, mayRun: true, nowNs })
    }
    this.#event('lost', `local controller ${peer.local} is lost: ${why}`, peer.hostname)
  }

  /** End of caution; Infinity while it is not active. */
  get cautiousNs(): number {
    return this.#cautiousUntilNs > -Infinity ? this.#cautiousUntilNs : Infinity
  }

  /** Upper bounds by scope while cautious; undefined: only the limits apply. */
  get caps(): ReadonlyMap<Scope, number> | undefined {
    return this.#cautiousUntilNs > -Infinity ? this.#brought : undefined
  }

  beCautious(nowNs: number): void {
    for (const stage of this.stages.keys()) this.#meet(stage, true)
    this.#cautiousUntilNs = Math.max(this.#cautiousUntilNs, nowNs + LEASES_OF_LOCAL * this.#leaseNs)
  }

  endCaution(): void {
    this.#cautiousUntilNs = -Infinity
    this.#brought.clear()
    this.#met.clear()
  }

  #forget(
    peer: LocalPeer,
    stage: StageRecord,
    lost?: { readonly leases: number; readonly mayRun: boolean; readonly nowNs: number },
  ): void {
    if (!peer.stages.delete(stage.key)) return
    const { job } = stage.identity
    const remaining = (this.#jobs.get(job) ?? 1) - 1
    if (remaining > 0) this.#jobs.set(job, remaining)
    else this.#jobs.delete(job)
    this.stages.delete(stage)
    if (!lost) return
    const scopes = [...stage.scopes.values()]
    this.reservations.add({
      identity: stage.identity,
      local: peer.local,
      rates: new Map(scopes.map((of) => [of.scope, of.most])),
      later: new Map(lost.mayRun ? scopes.map((of) => [of.scope, this.#afterLease(of)]) : []),
      lostNs: lost.nowNs,
      untilNs: lost.nowNs + lost.leases * this.#leaseNs,
      forgetNs: lost.nowNs + Math.max(REACH_NS, lost.leases * this.#leaseNs),
    })
  }

  /** Largest rate of a stage after its lease has run out: a fallback never raises a rate. */
  #afterLease(of: StageScope): number {
    return this.#onExpiry === 'hold' ? of.most : Math.min(of.most, of.objects.length * this.#onExpiry.rate)
  }

  #meet(stage: StageRecord, isBrought: boolean): void {
    const key = identityKey(stage.identity)
    if (this.#met.has(key)) return
    this.#met.add(key)
    if (!isBrought) return
    for (const [scope, of] of stage.scopes) this.#brought.set(scope, (this.#brought.get(scope) ?? 0) + of.most)
  }
}
