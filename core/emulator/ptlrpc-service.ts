/**
 * An emulated ptlrpc service, such as `ost.OSS.ost_io`: its scheduler, its threads on every CPT, and its counters.
 *
 * A free thread requests an RPC from the scheduler of its CPT; when every queue is empty or throttled, a one-shot timer wakes
 * the CPT at the time that the scheduler returns. Counters as running servers update them (spec/lustre 6.1, measured part 2,
 * 8): req_waittime is from arrival to a thread, the wait in the NRS included; RPCs waiting in the NRS are not in req_qdepth.
 */
import { NS_PER_US } from '../base/units.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import type { Profile } from '../lustre/profile.ts'
import type { Simulation } from '../sim/simulation.ts'
import type { Dispatched } from '../tbf/nrs-head.ts'
import { NrsService } from '../tbf/nrs-service.ts'
import type { Nodemaps } from '../tbf/nodemaps.ts'
import type { PolicyName } from '../tbf/policy-command.ts'
import type { ScheduledRequest } from '../tbf/scheduler.ts'
import type { TbfModule } from '../tbf/tbf-module.ts'
import { CounterTable, type LiveCounter } from './live-counter.ts'
import { atMin, ServiceEstimate } from './service-estimate.ts'

/** Request buffers posted by a service. */
const BUFFERS = 64

/** State shared by the services of one server. */
export interface ServerSide {
  readonly profile: Profile
  readonly module: TbfModule
  readonly nodemaps: Nodemaps
  readonly cpts: number
  readonly seed: number
  /** True to keep counters that only parameters show. */
  readonly counters: boolean
}

export interface ServiceKind<R> {
  /** Directories of its parameters: `ost`, `OSS`, `ost_io`. */
  readonly path: readonly [string, string, string]
  /** Threads of all CPTs together; every CPT has at least one. */
  readonly threads: number
  readonly hp: boolean
  readonly policies: readonly PolicyName[]
  /** Executes the RPC; calls `end` with it when done. */
  readonly serve: (rpc: R, end: (rpc: R) => void) => void
  /** Rows that count an RPC as one; if absent, the row of its opcode counts its time. */
  readonly rows?: (rpc: R) => readonly string[] | undefined
}

/** An RPC in a service. */
interface Visit {
  readonly cpt: number
  readonly atNs: number
  /** Reply callback, called with the RPC. */
  readonly reply: (rpc: never) => void
  /** Time when a thread took it, and its queue. */
  startedNs: number
  queue: Queue
  policy: PolicyName | undefined
}

/** RPC in a service. The service stores its state in the RPC itself: a table would cost as much as the rest of the service. */
export interface ServiceRequest extends ScheduledRequest {
  visit?: Visit | undefined
}

export class EmulatedService<R extends ServiceRequest> {
  readonly path: ServiceKind<R>['path']
  readonly threads: number
  readonly nrs: NrsService<R>
  readonly stats: CounterTable
  /** Estimates by CPT. */
  readonly estimates: readonly ServiceEstimate[]
  readonly #sim: Simulation
  readonly #kind: ServiceKind<R>
  readonly #hasCounters: boolean
  readonly #threadsOf: readonly number[]
  readonly #idleThreads: number[]
  /** Wake-up times of each CPT. */
  readonly #timers: readonly Set<number>[]
  readonly #counts: Readonly<Record<'wait' | 'depth' | 'active' | 'timeout' | 'buffers', LiveCounter>>
  #active = 0
  /** RPCs in the service, including those in threads. */
  #held = 0

  constructor(sim: Simulation, server: ServerSide, kind: ServiceKind<R>) {
    const { cpts, profile, module, nodemaps, seed, counters } = server
    this.#sim = sim
    this.#hasCounters = counters
    this.#kind = kind
    this.path = kind.path
    this.nrs = new NrsService<R>({ cpts, hp: kind.hp, policies: kind.policies, profile, module, nodemaps, seed })
    this.stats = new CounterTable(sim.now)
    this.#counts = {
      wait: this.stats.counter('req_waittime'),
      depth: this.stats.counter('req_qdepth'),
      active: this.stats.counter('req_active'),
      timeout: this.stats.counter('req_timeout'),
      buffers: this.stats.counter('reqbuf_avail'),
    }
    this.estimates = Array.from({ length: cpts }, () => new ServiceEstimate(atMin(profile)))
    this.#threadsOf = Array.from({ length: cpts }, (_, i) =>
      Math.max(1, Math.floor(kind.threads / cpts) + (i < kind.threads % cpts ? 1 : 0)),
    )
    this.threads = this.#threadsOf.reduce((a, b) => a + b, 0)
    this.#idleThreads = [...this.#threadsOf]
    this.#timers = this.#threadsOf.map(() => new Set<number>())
  }

  /** RPCs in threads, all CPTs. */
  get active(): number {
    return this.#active
  }

  /** Receives an RPC on a CPT; calls `reply` with it when its service ends. */
  receive(rpc: R, cpt: number, queue: Queue, reply: (rpc: R) => void): void {
    const { now } = this.#sim
    rpc.visit = { cpt, atNs: now, reply, startedNs: now, queue, policy: undefined }
    this.#held++
    if (this.#hasCounters) this.#countBuffers()
    this.nrs.enqueue(now, cpt, queue, rpc)
    this.#dispatch(cpt)
  }

  /** Makes every CPT poll again after a change of rules or policies. */
  readonly kick = (): void => {
    for (let cpt = 0; cpt < this.nrs.cpts; cpt++) this.#dispatch(cpt)
  }

  #dispatch(cpt: number): void {
    while ((this.#idleThreads[cpt] as number) > 0) {
      const next = this.nrs.dequeue(this.#sim.now, cpt)
      if (!next) break
      this.#idleThreads[cpt] = (this.#idleThreads[cpt] as number) - 1
      this.#serve(cpt, next)
    }
    if ((this.#idleThreads[cpt] as number) > 0) this.#arm(cpt)
  }

  #arm(cpt: number): void {
    const timers = this.#timers[cpt] as Set<number>
    const at = Math.max(this.nrs.wakeAt(cpt), this.#sim.now)
    // An obsolete timer fires without effect; no two are set for the same time.
    if (at === Infinity || timers.has(at)) return
    timers.add(at)
    this.#sim.at(at, () => {
      timers.delete(at)
      this.#dispatch(cpt)
    })
  }

  #serve(cpt: number, { request, queue, policy }: Dispatched<R>): void {
    const visit = request.visit as Visit
    visit.startedNs = this.#sim.now
    visit.queue = queue
    visit.policy = policy
    this.#active++
    if (this.#hasCounters) this.#countStart(cpt, visit.startedNs - visit.atNs)
    this.#kind.serve(request, this.#ended)
  }

  readonly #ended = (rpc: R): void => {
    const { cpt, queue, policy, reply, startedNs, atNs } = rpc.visit as Visit
    this.#active--
    if (this.#hasCounters) this.#countEnd(cpt, rpc, startedNs, atNs)
    this.#held--
    this.nrs.finished(cpt, queue, policy)
    this.#idleThreads[cpt] = (this.#idleThreads[cpt] as number) + 1
    ;(reply as (rpc: R) => void)(rpc)
    this.#dispatch(cpt)
  }

  #countBuffers(): void {
    const isWaiting = this.#held > this.#active
    this.#counts.buffers.add(BUFFERS - (isWaiting ? 1 : 0))
  }

  #countStart(cpt: number, waitedNs: number): void {
    this.#counts.wait.add(Math.round(waitedNs / NS_PER_US))
    this.#counts.depth.add(0)
    this.#counts.active.add((this.#threadsOf[cpt] as number) - (this.#idleThreads[cpt] as number))
    this.#counts.timeout.add((this.estimates[cpt] as ServiceEstimate).current)
    this.#countBuffers()
  }

  #countEnd(cpt: number, rpc: R, startedNs: number, arrivedNs: number): void {
    const { now } = this.#sim
    const serviceNs = now - startedNs
    ;(this.estimates[cpt] as ServiceEstimate).add(now, now - arrivedNs)
    const rows = this.#kind.rows?.(rpc)
    if (rows) for (const row of rows) this.stats.counter(row).add(1)
    else this.stats.counter(rpc.opcode ?? 'unknown').add(Math.round(serviceNs / NS_PER_US))
  }
}
