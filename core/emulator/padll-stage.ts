/**
 * A stage in the emulated cluster: one process group of a job on one client, the operations that it holds back, and the
 * simulation events that release them.
 *
 * It lives while one of its processes does. After a restart it is a new stage to its controllers (another pid).
 */
import { InvariantError } from '../base/result.ts'
import { Stage } from '../padll/stage/stage.ts'
import type { StageRequest } from '../padll/stage/request.ts'
import type { Simulation } from '../sim/simulation.ts'

/** A process of a stage; a fault can kill and restart it. */
export interface StageMember {
  kill(): void
  start(): void
}

/** Identity of a stage, except the process ids of each run. */
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
  /** Allocates an unused process id of the client. */
  nextPid(): number
  /** Called when the stage starts; it then connects to its local controller. */
  begun(stage: EmulatedStage): void
  /** Called when it has ended; `isKilled`: without a disconnect message. */
  ended(stage: EmulatedStage, isKilled: boolean): void
}

export class EmulatedStage {
  readonly place: StagePlace
  readonly #sim: Simulation
  readonly #owner: StageOwner
  readonly #processes = new Set<StageMember>()
  /** Callbacks of held operations, by ticket. */
  readonly #waiting = new Map<number, { readonly go: () => void; remaining: number }>()
  #stage: Stage | undefined
  #wakeNs = Infinity
  #nextFd = 3

  constructor(sim: Simulation, place: StagePlace, owner: StageOwner) {
    this.#sim = sim
    this.place = place
    this.#owner = owner
  }

  /** Data plane of the current run; undefined while no process runs. */
  get stage(): Stage | undefined {
    return this.#stage
  }

  /** Number of held operations. */
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

  /** Ends all of its processes at once, like a signal: no message is sent, held operations are lost. */
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

  /** Runs `go` when the stage releases the call. */
  submit(request: StageRequest, go: () => void): void {
    const outcome = this.#here.submit(request, this.#sim.now)
    if (outcome.kind !== 'waits') return go()
    this.#waiting.set(outcome.ticket, { go, remaining: outcome.waiting })
    this.wake()
  }

  /** Handles the reply to an open; returns the new descriptor. */
  openFile(request: StageRequest): number {
    const fd = this.#nextFd++
    this.#stage?.done(request, { fd })
    return fd
  }

  closeFile(request: StageRequest, fd: number): void {
    this.#stage?.done({ ...request, fd }, {})
  }

  /** Schedules an event for the next release; call after anything that may have moved it. */
  wake(): void {
    const next = this.#stage?.nextReleaseNs ?? Infinity
    if (!(next < Infinity) || next >= this.#wakeNs) return
    const at = Math.max(this.#sim.now, Math.ceil(next))
    const { stage } = this
    this.#wakeNs = at
    this.#sim.at(at, () => {
      // Restarted, or rescheduled earlier.
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
    waiting.remaining -= count
    if (waiting.remaining <= 0) this.#waiting.delete(ticket)
    for (let i = 0; i < count; i++) waiting.go()
  }
}
