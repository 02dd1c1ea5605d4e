/**
 * A stage in the emulated cluster: one process group of a job on one client, what it holds back, and the events of the
 * simulation at which it lets it go.
 *
 * It lives while one of its processes does. Each time it begins anew it is another stage to its controllers (another pid).
 */
import { InvariantError } from '../base/result.ts'
import { Stage } from '../padll/stage/stage.ts'
import type { StageRequest } from '../padll/stage/request.ts'
import type { Simulation } from '../sim/simulation.ts'

/** A process as its stage knows it: a fault ends it, and may start it again. */
export interface StageMember {
  kill(): void
  start(): void
}

/** Who a stage is, but for the process ids that each of its lives has. */
export interface StagePlace {
  readonly job: string
  readonly instance: number
  readonly user: string
  readonly hostname: string
  /** Number of the client that it runs on. */
  readonly client: number
}

export interface StageOwner {
  readonly mounts: readonly string[]
  /** A process id of the client, never used before. */
  nextPid(): number
  /** The stage lives: it looks for its local controller. */
  begun(stage: EmulatedStage): void
  /** It has ended; `isKilled`: without a word. */
  ended(stage: EmulatedStage, isKilled: boolean): void
}

export class EmulatedStage {
  readonly place: StagePlace
  readonly #sim: Simulation
  readonly #owner: StageOwner
  readonly #processes = new Set<StageMember>()
  /** What to run when operations of a ticket may go. */
  readonly #waiting = new Map<number, { readonly go: () => void; left: number }>()
  #stage: Stage | undefined
  #wakeNs = Infinity
  #nextFd = 3

  constructor(sim: Simulation, place: StagePlace, owner: StageOwner) {
    this.#sim = sim
    this.place = place
    this.#owner = owner
  }

  /** The data plane of its present life; undefined while no process runs. */
  get stage(): Stage | undefined {
    return this.#stage
  }

  /** Operations that wait in it. */
  get waiting(): number {
    return this.#waiting.size
  }

  enter(process: StageMember): void {
    this.#processes.add(process)
    if (this.#stage) return
    const { job, instance, user, hostname } = this.place
    const ppid = this.#owner.nextPid()
    this.#stage = new Stage({
      identity: { job, instance, pid: this.#owner.nextPid(), ppid, hostname, user },
      mounts: this.#owner.mounts,
      onRelease: (ticket, count) => this.#release(ticket, count),
    })
    this.#owner.begun(this)
  }

  leave(process: StageMember): void {
    if (this.#processes.delete(process) && this.#processes.size === 0) this.#end(false)
  }

  /** Ends all of its processes at once, as a signal would: nothing is said, what waited is gone. */
  kill(): readonly StageMember[] {
    const processes = [...this.#processes]
    this.#processes.clear()
    if (this.#stage) this.#end(true)
    for (const p of processes) p.kill()
    return processes
  }

  #end(isKilled: boolean): void {
    this.#stage?.drop()
    this.#stage = undefined
    this.#waiting.clear()
    this.#wakeNs = Infinity
    this.#owner.ended(this, isKilled)
  }

  /** Runs `go` when the stage lets the call through. */
  submit(request: StageRequest, go: () => void): void {
    const outcome = this.#here.submit(request, this.#sim.now)
    if (outcome.kind !== 'waits') return go()
    this.#waiting.set(outcome.ticket, { go, left: outcome.waiting })
    this.wake()
  }

  /** A call that opened a file came back; returns its descriptor. */
  openFile(request: StageRequest): number {
    const fd = this.#nextFd++
    this.#stage?.done(request, { fd })
    return fd
  }

  closeFile(request: StageRequest, fd: number): void {
    this.#stage?.done({ ...request, fd }, {})
  }

  /** Makes sure that the next release is an event of the simulation; after anything that may have moved it. */
  wake(): void {
    const next = this.#stage?.nextReleaseNs ?? Infinity
    if (!(next < Infinity) || next >= this.#wakeNs) return
    const at = Math.max(this.#sim.now, Math.ceil(next))
    const { stage } = this
    this.#wakeNs = at
    this.#sim.at(at, () => {
      // Another life, or an earlier event in its place.
      if (this.#stage !== stage || this.#wakeNs !== at) return
      this.#wakeNs = Infinity
      stage?.advance(this.#sim.now)
      this.wake()
    })
  }

  get #here(): Stage {
    if (!this.#stage) throw new InvariantError('operations are submitted by a process that has entered its stage')
    return this.#stage
  }

  #release(ticket: number, count: number): void {
    const waiting = this.#waiting.get(ticket)
    if (!waiting) return
    waiting.left -= count
    if (waiting.left <= 0) this.#waiting.delete(ticket)
    for (let i = 0; i < count; i++) waiting.go()
  }
}
