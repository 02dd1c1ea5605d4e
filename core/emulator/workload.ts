/**
 * A job's processes and what they do: closed-loop continuous operations, bursts, or open Poisson arrivals, steadily or in
 * phases.
 *
 * A process walks its operations and its targets round robin. RPCs of a burst that find all of the process's slots taken wait
 * in the process, so a slow target stretches the burst, as write-back does.
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

/** What jobs run on. */
export interface JobSite {
  readonly seed: number
  readonly clients: readonly EmulatedClient[]
  readonly osts: readonly RpcTarget[]
  readonly mdts: readonly RpcTarget[]
  /** Shared ranges by name, made when first asked for. */
  readonly ranges: Map<string, SharedRange>
  /** Puts the processes of jobs under PADLL behind their stages. */
  readonly intercept?: Intercept | undefined
}

export class EmulatedJob {
  readonly scenario: JobScenario
  servedRpcs = 0
  servedBytes = 0
  /** From the wish of the process to the reply (cached writes: until they are in the cache), ns. */
  readonly waits = new Tally()
  /** How long stages of PADLL held its operations back, ns. */
  readonly held = new Tally()
  /** When the last of `total_rpcs` was served. */
  finishedNs: number | undefined
  /** Bytes of one data RPC. */
  readonly bytes: number
  #issued = 0
  /** RPCs that its processes wished for and have not back, those that wait in a process among them. */
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

  /** Whether one more RPC may be issued now; counts it if so. */
  claim(): boolean {
    if (this.#sim.now >= this.#stopNs) return false
    if (this.scenario.total_rpcs !== undefined && this.#issued >= this.scenario.total_rpcs) return false
    this.#issued++
    this.waiting++
    return true
  }

  /** RPCs that its processes wished for so far. */
  get wanted(): number {
    return this.#issued
  }

  /** Notes that a process was killed with so many on its hands. */
  lost(rpcs: number): void {
    this.waiting -= rpcs
  }

  get running(): boolean {
    return this.#sim.now < this.#stopNs && this.finishedNs === undefined
  }

  /** Notes how long an operation took for the process. */
  waited(issuedNs: number): void {
    this.waiting--
    this.waits.add(this.#sim.now - issuedNs)
  }

  /** Notes an RPC that a server has served. */
  served(bytes: number): void {
    this.servedRpcs++
    this.servedBytes += bytes
    if (this.servedRpcs === this.scenario.total_rpcs) this.finishedNs = this.#sim.now
  }
}

/** Who walks what round robin. */
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

/** A target as one process reaches it: what is the same for all of its RPCs there. */
interface Route {
  readonly to: RpcTarget
  readonly nid: string
  /** The line of its client, once there is one. */
  line: ClientLine | undefined
}

/** An RPC of a process. */
interface OwnRpc extends Rpc {
  readonly wishedNs: number
  /** Of its process when it was issued. */
  readonly life: number
}

/** Open arrivals of one life, before an instant. */
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
  /** Instants at which RPCs were wished for that are not yet issued (bursts, open arrivals). */
  #backlog = new Ring<number>()
  /** One that was killed is another one when it begins again: what the first had under way is no longer its own. */
  #life = 0
  #isAlive = false
  /** Between two phases without a process, and after the last operation. */
  #mayEnd = false

  constructor(sim: Simulation, job: EmulatedJob, site: JobSite, number: number) {
    const { id, clients, op, targets, shared, start_s, stop_s } = job.scenario
    this.#sim = sim
    this.#job = job
    this.#client = site.clients[(clients[number % clients.length] as number) - 1] as EmulatedClient
    this.#sender = this.#client.admit()
    const mine = (all: readonly RpcTarget[]): Round<Route> => {
      const own = targets.length === 0 ? all : all.filter((t) => targets.includes(t.name))
      return new Round(
        own.map((to) => ({ to, nid: this.#client.nidTo(to), line: undefined })),
        number,
      )
    }
    this.#operations = new Round(op, 0)
    this.#osts = mine(site.osts)
    this.#mdts = mine(site.mdts)
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

  /** What it had under way goes on to the server and comes back to nobody. */
  #die(): void {
    this.#job.lost(this.#underWay + this.#backlog.size)
    this.#life++
    this.#isAlive = false
    this.#underWay = 0
    this.#backlog = new Ring<number>()
  }

  /** Phase `at` of the pattern, then the next one. */
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

  /** A staged process that has nothing more to do leaves its stage. */
  #endIfIdle(): void {
    if (!this.#staged || this.#underWay > 0 || this.#backlog.size > 0) return
    if (this.#mayEnd || !this.#job.running) this.#staged.end()
  }

  /** Waits for as long as its program computes, then asks for the next one. */
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

  /** What follows an answer: the next round of a continuous process, or what waits in the process. */
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
      const { life } = rpc
      this.#range.write({ client: this.#client, rpc, cached: () => this.#ended(wishedNs, life) })
      return
    }
    if (!this.#staged) return this.#client.issue(rpc)
    const askedNs = this.#sim.now
    this.#staged.pass(op, bytes, () => {
      this.#job.held.add(this.#sim.now - askedNs)
      this.#client.issue(rpc)
    })
  }

  /** An RPC came back. What goes through a cache was over for the process when it was there. */
  readonly #answered = (rpc: Rpc): void => {
    this.#job.served(rpc.bytes)
    if (this.#range) return
    const { wishedNs, life } = rpc as OwnRpc
    if (this.#staged && life === this.#life) this.#staged.answered(rpc.op)
    this.#ended(wishedNs, life)
  }

  #ended(wishedNs: number, life: number): void {
    if (life !== this.#life) return
    this.#underWay--
    this.#job.waited(wishedNs)
    this.#goOn()
    if (this.#staged) this.#endIfIdle()
  }

  #rpc(op: Operation, bytes: number, wishedNs: number): OwnRpc {
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
      // Nodemaps are not played: every client is in the default one.
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
