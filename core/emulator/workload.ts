/**
 * Processes of a job and their operations: closed-loop continuous, bursts, or open Poisson arrivals, steady or in phases.
 *
 * A process cycles through its operations and its targets. RPCs of a burst that find all slots of the process taken wait in the
 * process, so a slow target prolongs the burst, as in write-back.
 */
import { randomStream, type RandomStream } from '../base/random.ts'
import { KIB, NS_PER_MS, NS_PER_S, sToNs } from '../base/units.ts'
import type { Simulation } from '../sim/simulation.ts'
import { Tally } from '../sim/statistics.ts'
import { Ring } from '../base/ring.ts'
import type { EmulatedClient } from './client.ts'
import { isData, opcodeOf, type Operation } from './operations.ts'
import type { ClientLine, Rpc, RpcTarget } from './rpc.ts'
import type { JobScenario } from './scenario.ts'
import type { Intercept, StagedProcess } from './padll-process.ts'
import { SharedRange } from './shared-range.ts'

/** Components of the cluster that jobs use. */
export interface JobSite {
  readonly seed: number
  readonly clients: readonly EmulatedClient[]
  readonly osts: readonly RpcTarget[]
  readonly mdts: readonly RpcTarget[]
  /** Shared ranges by name, created on first use. */
  readonly ranges: Map<string, SharedRange>
  /** Puts the processes of jobs under PADLL behind their stages. */
  readonly intercept?: Intercept | undefined
}

export class EmulatedJob {
  readonly scenario: JobScenario
  servedRpcs = 0
  servedBytes = 0
  /** Time from the process's request to the reply (cached writes: until they are in the cache), ns. */
  readonly waits = new Tally()
  /** Those of metadata operations, ns. */
  readonly metadataWaits = new Tally()
  /** Time that PADLL stages held its operations back, ns. */
  readonly held = new Tally()
  /** Time when the last of `total_rpcs` was served. */
  finishedNs: number | undefined
  /** Bytes of one data RPC. */
  readonly bytes: number
  #issued = 0
  /** RPCs requested by its processes and not yet returned, including those waiting in a process. */
  waiting = 0
  readonly #sim: Simulation
  readonly #stopNs: number

  constructor(sim: Simulation, scenario: JobScenario, site: JobSite) {
    this.#sim = sim
    this.scenario = scenario
    this.bytes = scenario.size_kib * KIB
    this.#stopNs = scenario.stop_s === undefined ? Infinity : sToNs(scenario.stop_s)
    for (let p = 0; p < scenario.processes; p++) new Process(sim, this, site, p)
  }

  /** Counts one more RPC; false if none may be issued now. */
  claim(): boolean {
    if (this.#sim.now >= this.#stopNs) return false
    if (this.scenario.total_rpcs !== undefined && this.#issued >= this.scenario.total_rpcs) return false
    this.#issued++
    this.waiting++
    return true
  }

  /** RPCs requested by its processes so far. */
  get wanted(): number {
    return this.#issued
  }

  /** Counts the outstanding RPCs of a killed process as lost. */
  lost(rpcs: number): void {
    this.waiting -= rpcs
  }

  get running(): boolean {
    return this.#sim.now < this.#stopNs && this.finishedNs === undefined
  }

  /** Records the duration of an operation for the process. */
  waited(issuedNs: number, isMetadata: boolean): void {
    this.waiting--
    const waitNs = this.#sim.now - issuedNs
    this.waits.add(waitNs)
    if (isMetadata) this.metadataWaits.add(waitNs)
  }

  /** Records a served RPC. */
  served(bytes: number): void {
    this.servedRpcs++
    this.servedBytes += bytes
    if (this.servedRpcs === this.scenario.total_rpcs) this.finishedNs = this.#sim.now
  }
}

/** Round-robin iterator. */
class Round<T> {
  readonly #items: readonly T[]
  #next: number

  constructor(items: readonly T[], first: number) {
    this.#items = items
    this.#next = items.length === 0 ? 0 : first % items.length
  }

  next(): T {
    const item = this.#items[this.#next] as T
    if (++this.#next === this.#items.length) this.#next = 0
    return item
  }
}

/** Constant part of a process's RPCs to one target. */
interface Route {
  readonly to: RpcTarget
  readonly nid: string
  /** Queue of its client, once it exists. */
  line: ClientLine | undefined
}

/** An RPC of a process. */
interface JobRpc extends Rpc {
  readonly wishedNs: number
  /** Life of its process when it was issued. */
  readonly life: number
}

/** Open arrivals of one life, up to a time. */
interface Arrivals {
  readonly meanNs: number
  readonly endNs: number
  readonly life: number
}

class Process {
  readonly #sim: Simulation
  readonly #job: EmulatedJob
  readonly #client: EmulatedClient
  readonly #sender: number
  readonly #operations: Round<Operation>
  readonly #osts: Round<Route>
  readonly #mdts: Round<Route>
  readonly #range: SharedRange | undefined
  readonly #staged: StagedProcess | undefined
  readonly #object: string
  readonly #isContinuous: boolean
  readonly #random: RandomStream
  #offset = 0
  #underWay = 0
  /** Request times of RPCs not yet issued (bursts, open arrivals). */
  #backlog = new Ring<number>()
  /** Incremented when the process is killed; replies to RPCs of an earlier life are ignored. */
  #life = 0
  #isAlive = false
  /** True between phases with a rate and after the last operation. */
  #mayEnd = false

  constructor(sim: Simulation, job: EmulatedJob, site: JobSite, number: number) {
    const { id, clients, op, targets, shared, start_s, stop_s } = job.scenario
    this.#sim = sim
    this.#job = job
    this.#client = site.clients[(clients[number % clients.length] as number) - 1] as EmulatedClient
    this.#sender = this.#client.admit()
    const roundOf = (all: readonly RpcTarget[]): Round<Route> => {
      const used = targets.length === 0 ? all : all.filter((t) => targets.includes(t.name))
      return new Round(
        used.map((to) => ({ to, nid: this.#client.nidTo(to), line: undefined })),
        number,
      )
    }
    this.#operations = new Round(op, 0)
    this.#osts = roundOf(site.osts)
    this.#mdts = roundOf(site.mdts)
    this.#range = shared === undefined ? undefined : rangeOf(sim, site, shared)
    this.#staged = site.intercept?.(job.scenario, number, {
      kill: () => this.#die(),
      start: () => this.#begin(),
    })
    this.#isContinuous = job.scenario.pattern.kind === 'continuous'
    this.#object = shared ?? `${id}/${number}`
    this.#random = randomStream(site.seed, `job/${id}/process/${number}`)
    sim.at(sToNs(start_s), () => this.#begin())
    if (this.#staged && stop_s !== undefined) sim.at(sToNs(stop_s), () => this.#endIfIdle())
  }

  #begin(): void {
    if (this.#isAlive || !this.#job.running) return
    const { pattern, outstanding } = this.#job.scenario
    this.#isAlive = true
    if (pattern.kind === 'phases') return this.#phase(0, this.#life)
    this.#staged?.begin()
    if (pattern.kind === 'continuous') for (let i = 0; i < outstanding; i++) this.#think(this.#life)
    else if (pattern.kind === 'bursts') this.#burst(pattern.rpcs, sToNs(pattern.every_s), pattern.jitter, this.#life)
    else this.#arrive({ meanNs: NS_PER_S / pattern.rate, endNs: Infinity, life: this.#life })
  }

  /** Kills the process; its RPCs in flight continue to the server, and their replies are ignored. */
  #die(): void {
    this.#job.lost(this.#underWay + this.#backlog.size)
    this.#life++
    this.#isAlive = false
    this.#underWay = 0
    this.#backlog = new Ring<number>()
  }

  /** Runs phase `at` of the pattern, then the next one. */
  #phase(at: number, life: number): void {
    const { pattern } = this.#job.scenario
    if (pattern.kind !== 'phases' || life !== this.#life) return
    if (!this.#job.running) return this.#endIfIdle()
    const phase = pattern.phases[at % pattern.phases.length]
    if (!phase) return
    const endNs = this.#sim.now + sToNs(phase.for_s)
    this.#sim.at(endNs, () => this.#phase(at + 1, life))
    this.#mayEnd = phase.rate === 0
    if (this.#mayEnd) return this.#endIfIdle()
    this.#staged?.begin()
    const meanNs = NS_PER_S / phase.rate
    this.#sim.after(this.#random.exponential(meanNs), this.#arrive, { meanNs, endNs, life })
  }

  #finish(): void {
    this.#mayEnd = true
    this.#endIfIdle()
  }

  /** Takes an idle process out of its stage. */
  #endIfIdle(): void {
    if (!this.#staged || this.#underWay > 0 || this.#backlog.size > 0) return
    if (this.#mayEnd || !this.#job.running) this.#staged.end()
  }

  /** Waits for the think time, then issues the next RPC. */
  #think(life: number): void {
    const { pattern } = this.#job.scenario
    const meanMs = pattern.kind === 'continuous' ? pattern.think_ms : 0
    if (meanMs === 0) return this.#continue()
    this.#sim.after(this.#random.exponential(meanMs * NS_PER_MS), this.#thought, life)
  }

  readonly #thought = (life: number): void => {
    if (life === this.#life) this.#continue()
  }

  #continue(): void {
    if (this.#job.claim()) this.#issue(this.#sim.now)
    else this.#finish()
  }

  #burst(rpcs: number, everyNs: number, jitter: number, life: number): void {
    if (!this.#job.running || life !== this.#life) return
    const late = Math.round(this.#random.uniform() * jitter * everyNs)
    this.#sim.after(late, () => {
      if (life === this.#life) for (let i = 0; i < rpcs; i++) this.#wish()
    })
    this.#sim.after(everyNs, () => this.#burst(rpcs, everyNs, jitter, life))
  }

  readonly #arrive = (arrivals: Arrivals): void => {
    const { meanNs, endNs, life } = arrivals
    if (!this.#job.running || this.#sim.now >= endNs || life !== this.#life) return
    this.#wish()
    this.#sim.after(this.#random.exponential(meanNs), this.#arrive, arrivals)
  }

  #wish(): void {
    if (!this.#job.claim()) return this.#finish()
    if (this.#underWay < this.#job.scenario.outstanding) this.#issue(this.#sim.now)
    else this.#backlog.push(this.#sim.now)
  }

  /** Continues after a reply: next round of a continuous process, or the next RPC waiting in the process. */
  #goOn(): void {
    if (this.#isContinuous) return this.#think(this.#life)
    const since = this.#backlog.shift()
    if (since !== undefined) this.#issue(since)
  }

  #issue(wishedNs: number): void {
    this.#underWay++
    const op = this.#operations.next()
    const bytes = isData(op) ? this.#job.bytes : 0
    const rpc = this.#rpc(op, bytes, wishedNs)
    if (this.#range) {
      this.#range.write({ client: this.#client, rpc, cached: () => this.#ended(rpc) })
      return
    }
    if (!this.#staged) return this.#client.issue(rpc)
    const arrivedNs = this.#sim.now
    this.#staged.pass(op, bytes, () => {
      this.#job.held.add(this.#sim.now - arrivedNs)
      this.#client.issue(rpc)
    })
  }

  /** Handles a reply. A cached write had already ended for the process when it reached the cache. */
  readonly #answered = (rpc: Rpc): void => {
    this.#job.served(rpc.bytes)
    if (this.#range) return
    const { life } = rpc as JobRpc
    if (this.#staged && life === this.#life) this.#staged.answered(rpc.op)
    this.#ended(rpc as JobRpc)
  }

  #ended({ wishedNs, life, op }: JobRpc): void {
    if (life !== this.#life) return
    this.#underWay--
    this.#job.waited(wishedNs, !isData(op))
    this.#goOn()
    if (this.#staged) this.#endIfIdle()
  }

  #rpc(op: Operation, bytes: number, wishedNs: number): JobRpc {
    const { id, uid, gid, projid } = this.#job.scenario
    const route = isData(op) ? this.#osts.next() : this.#mdts.next()
    const { to, nid } = route
    const line = (route.line ??= this.#client.lines.get(to))
    const offset = this.#offset
    if (!this.#range) this.#offset += bytes
    return {
      jobId: id,
      nid,
      opcode: opcodeOf(op),
      uid,
      gid,
      projid,
      // Nodemaps are not emulated: every client is in the default one.
      nodemap: 0,
      object: this.#object,
      target: to.name,
      op,
      bytes,
      offset,
      to,
      sender: this.#sender,
      done: this.#answered,
      wishedNs,
      life: this.#life,
      line,
      sentNs: 0,
      visit: undefined,
    }
  }
}

function rangeOf(sim: Simulation, site: JobSite, name: string): SharedRange {
  let range = site.ranges.get(name)
  if (!range) site.ranges.set(name, (range = new SharedRange(sim)))
  return range
}
