/**
 * Programs of PADLL's control plane on their emulated nodes: a local controller on a client, a global one on its own node. Each
 * can be started, killed and restarted like any daemon; the control logic is in core/padll/control.
 */
import type { Simulation } from '../sim/simulation.ts'
import type { GlobalToLocal, LocalToGlobal, LocalToStage, StageToLocal } from '../padll/control/messages.ts'
import { GlobalController, type GlobalOptions } from '../padll/control/global-controller.ts'
import { LocalController } from '../padll/control/local-controller.ts'
import { connect, type Wire, type WirePath } from './padll-wire.ts'

interface Running<T> {
  readonly controller: T
  readonly ticker: Ticker
}

/** Program with scheduled work. */
interface Timed {
  tick(nowNs: number): void
  nextNs(): number
}

/** Schedules a simulation event at a program's next due time. */
export class Ticker {
  readonly #sim: Simulation
  readonly #program: Timed
  #atNs = Infinity
  #isStopped = false

  constructor(sim: Simulation, program: Timed) {
    this.#sim = sim
    this.#program = program
  }

  /** Reschedules; call after any event that the program handles. */
  wake(): void {
    const next = this.#isStopped ? Infinity : this.#program.nextNs()
    if (!(next < this.#atNs)) return
    const at = Math.max(this.#sim.now, Math.ceil(next))
    this.#atNs = at
    this.#sim.at(at, () => {
      if (this.#isStopped || this.#atNs !== at) return
      this.#atNs = Infinity
      this.#program.tick(this.#sim.now)
      this.wake()
    })
  }

  stop(): void {
    this.#isStopped = true
  }
}

/** Delay before a program retries a connection, ns. */
export const RETRY_NS = 1_000_000_000
/** Latency of a message between two programs of one node, ns. */
export const LOCAL_NS = 20_000

/** Connections of one end, by number. */
class Links<Out extends object> {
  readonly #wires = new Map<number, Wire<Out>>()
  #last = 0

  next(): number {
    return ++this.#last
  }
  add(link: number, wire: Wire<Out>): void {
    this.#wires.set(link, wire)
  }
  get(link: number): Wire<Out> | undefined {
    return this.#wires.get(link)
  }
  take(link: number): Wire<Out> | undefined {
    const wire = this.#wires.get(link)
    this.#wires.delete(link)
    return wire
  }
  /** Closes all connections, as the kernel does for a dead program. */
  closeAll(): void {
    for (const wire of this.#wires.values()) wire.close()
    this.#wires.clear()
  }
}

/** Stage side of its connection to the local controller. */
export interface StageSide {
  onMessage(message: LocalToStage): void
  onClose(): void
}

export class LocalHost {
  readonly client: number
  readonly hostname: string
  readonly path: WirePath
  readonly #sim: Simulation
  #stages = new Links<LocalToStage>()
  #globals = new Links<LocalToGlobal>()
  #program: Running<LocalController> | undefined
  #run = 0

  constructor(sim: Simulation, where: { client: number; hostname: string; path: WirePath }) {
    this.#sim = sim
    this.client = where.client
    this.hostname = where.hostname
    this.path = where.path
  }

  get isRunning(): boolean {
    return this.#program !== undefined
  }

  /** Number of the current or last run. */
  get run(): number {
    return this.#run
  }

  start(): void {
    if (this.#program) return
    this.#run++
    const stages = (this.#stages = new Links<LocalToStage>())
    const globals = (this.#globals = new Links<LocalToGlobal>())
    const controller = new LocalController({
      local: this.hostname,
      hostname: this.hostname,
      io: {
        toStage: (link, message) => stages.get(link)?.send(message),
        closeStage: (link) => stages.take(link)?.close(),
        toGlobal: (link, message) => globals.get(link)?.send(message),
        closeGlobal: (link) => globals.take(link)?.close(),
      },
    })
    this.#program = { controller, ticker: new Ticker(this.#sim, controller) }
    this.#program.ticker.wake()
  }

  /** Ends the program at once. */
  kill(): void {
    this.#program?.ticker.stop()
    this.#program = undefined
    this.#stages.closeAll()
    this.#globals.closeAll()
  }

  /** Calls `act` with the controller, unless it was restarted since. */
  #with(program: Running<LocalController>, act: (c: LocalController, nowNs: number) => void): void {
    if (program !== this.#program) return
    act(program.controller, this.#sim.now)
    program.ticker.wake()
  }

  /** Accepts a stage of the same node; undefined while the controller is not running. */
  accept(stage: StageSide): Wire<StageToLocal> | undefined {
    const program = this.#program
    if (!program) return undefined
    const stages = this.#stages
    const link = stages.next()
    const { a, b } = connect<StageToLocal, LocalToStage>(
      this.#sim,
      stage,
      {
        onMessage: (m) => this.#with(program, (c, now) => c.onStageMessage(link, m, now)),
        onClose: () => {
          stages.take(link)
          this.#with(program, (c, now) => c.onStageGone(link, now))
        },
      },
      { localNs: LOCAL_NS },
    )
    stages.add(link, b)
    this.#with(program, (c, now) => c.onStageOpen(link, now))
    return a
  }

  /** Connects to a global controller; calls `onGone` when the connection ends or is refused. */
  connectTo(host: GlobalHost, onGone: () => void): void {
    const program = this.#program
    const globals = this.#globals
    if (!program) return
    const link = globals.next()
    const wire = host.accept(this.path, {
      onMessage: (m: GlobalToLocal) => this.#with(program, (c, now) => c.onGlobalMessage(link, m, now)),
      onClose: () => {
        globals.take(link)
        this.#with(program, (c, now) => c.onGlobalGone(link, now))
        onGone()
      },
    })
    if (!wire) return onGone()
    globals.add(link, wire)
    this.#with(program, (c, now) => c.onGlobalOpen(link, now))
  }
}

/** Options of a run of the global controller; evaluated at each start. */
export type GlobalStart = () => Omit<GlobalOptions, 'io' | 'epoch'>

export class GlobalHost {
  readonly #sim: Simulation
  readonly #options: GlobalStart
  #links = new Links<GlobalToLocal>()
  #program: Running<GlobalController> | undefined
  #epoch: number

  /** @param epoch  of the first run; each further run takes the next one, as from a file that persists. */
  constructor(sim: Simulation, epoch: number, options: GlobalStart) {
    this.#sim = sim
    this.#epoch = epoch - 1
    this.#options = options
  }

  get controller(): GlobalController | undefined {
    return this.#program?.controller
  }

  start(): GlobalController {
    if (this.#program) return this.#program.controller
    const links = (this.#links = new Links<GlobalToLocal>())
    const controller = new GlobalController({
      ...this.#options(),
      epoch: ++this.#epoch,
      io: {
        send: (link, message) => links.get(link)?.send(message),
        close: (link) => links.take(link)?.close(),
      },
    })
    this.#program = { controller, ticker: new Ticker(this.#sim, controller) }
    this.#program.ticker.wake()
    return controller
  }

  kill(): void {
    this.#program?.ticker.stop()
    this.#program = undefined
    this.#links.closeAll()
  }

  /** Reschedules after a change by its console. */
  wake(): void {
    this.#program?.ticker.wake()
  }

  accept(
    path: WirePath,
    local: { onMessage(m: GlobalToLocal): void; onClose(): void },
  ): Wire<LocalToGlobal> | undefined {
    const program = this.#program
    if (!program) return undefined
    const links = this.#links
    const link = links.next()
    const run = (act: (c: GlobalController, nowNs: number) => void): void => {
      if (program !== this.#program) return
      act(program.controller, this.#sim.now)
      program.ticker.wake()
    }
    const { a, b } = connect<LocalToGlobal, GlobalToLocal>(
      this.#sim,
      local,
      {
        onMessage: (m) => run((c, now) => c.onMessage(link, m, now)),
        onClose: () => {
          links.take(link)
          run((c, now) => c.onGone(link, now))
        },
      },
      { links: path, localNs: LOCAL_NS },
    )
    links.add(link, b)
    run((c, now) => c.onOpen(link, now))
    return a
  }
}
