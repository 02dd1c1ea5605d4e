/**
 * Control hierarchy on an unreliable network, for tests: messages take random times, in order per connection, some arrive twice,
 * connections break, programs die and restart. Programs reconnect by themselves.
 */
import { randomStream, type RandomStream } from '#core/base/random.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { HousekeepingRule } from '#core/padll/rules/housekeeping.ts'
import { MountPoints } from '#core/padll/stage/mount-points.ts'
import { Stage } from '#core/padll/stage/stage.ts'
import type { Scope } from '#core/padll/vocabulary.ts'
import { GlobalController } from '#core/padll/control/global-controller.ts'
import { LocalController } from '#core/padll/control/local-controller.ts'
import type { GlobalSettings } from '#core/padll/control/settings.ts'
import { StageAgent } from '#core/padll/control/stage-agent.ts'
import { Clock } from './virtual-clock.ts'

/** One connection: two ends with ordered, delayed and sometimes duplicated messages. */
class Wire {
  isOpen = true
  readonly #clock: Clock
  readonly #network: Network
  /** Arrival time of the last message in transit to either end. */
  readonly #lastNs: [number, number] = [0, 0]
  readonly #onGone: [() => void, () => void]

  constructor(clock: Clock, network: Network, onGone: [() => void, () => void]) {
    this.#clock = clock
    this.#network = network
    this.#onGone = onGone
  }

  send(to: 0 | 1, deliver: () => void): void {
    if (!this.isOpen) return
    const times = this.#network.random.uniform() < this.#network.repeats ? 2 : 1
    for (let i = 0; i < times; i++) {
      const at = Math.max(this.#lastNs[to], this.#clock.nowNs + this.#network.delay())
      this.#lastNs[to] = at
      this.#clock.after(at - this.#clock.nowNs, () => {
        if (this.isOpen) deliver()
      })
    }
  }

  /** Drops messages in transit; both ends notice it later. */
  cut(): void {
    if (!this.isOpen) return
    this.isOpen = false
    for (const onGone of this.#onGone) this.#clock.after(this.#network.delay(), onGone)
  }
}

export class Network {
  readonly random: RandomStream
  slowestNs = 20 * NS_PER_MS
  /** Share of messages that are duplicated. */
  repeats = 0.05

  constructor(seed: number) {
    this.random = randomStream(seed, 'network')
  }

  delay(): number {
    return Math.floor(this.random.uniform() * this.slowestNs)
  }
}

export class PlayedStage {
  readonly stage: Stage
  readonly agent: StageAgent
  readonly node: PlayedNode
  readonly cluster: VirtualCluster
  wire: Wire | undefined
  #link = -1
  #perSecond = 0
  #isWorking = false
  isAlive = true
  isCutOff = false

  constructor(cluster: VirtualCluster, node: PlayedNode, job: string, instance: number, pid: number) {
    this.cluster = cluster
    this.node = node
    const mounts = MountPoints.of(['/fs'], false)
    if (!mounts.ok) throw new Error('the mount point is good')
    this.stage = new Stage({
      identity: { job, instance, pid, ppid: 1, hostname: node.name, user: 'u' },
      mounts: mounts.value,
    })
    this.agent = new StageAgent({
      stage: this.stage,
      io: {
        send: (m) => {
          const { local } = node
          this.wire?.send(1, () => local?.onStageMessage(this.#link, m, cluster.clock.nowNs))
        },
        close: () => this.wire?.cut(),
      },
    })
    cluster.clock.programs.add(this.agent)
    this.connect()
  }

  connect(): void {
    const { clock, network } = this.cluster
    if (!this.isAlive) return
    const local = this.node.local
    if (!local || this.isCutOff) return clock.after(100 * NS_PER_MS, () => this.connect())
    const link = ++this.cluster.links
    const wire = new Wire(clock, network, [
      () => {
        if (!this.isAlive) return
        this.agent.onGone(clock.nowNs)
        clock.after(50 * NS_PER_MS, () => this.connect())
      },
      () => {
        this.node.stages.delete(link)
        if (this.node.local === local) local.onStageGone(link, clock.nowNs)
      },
    ])
    this.wire = wire
    this.#link = link
    this.node.stages.set(link, { stage: this, wire })
    local.onStageOpen(link, clock.nowNs)
    this.agent.onOpen(clock.nowNs)
  }

  /** Ends, with or without a farewell. */
  end(says: boolean): void {
    if (!this.isAlive) return
    if (says) this.agent.leave(this.cluster.clock.nowNs)
    this.isAlive = false
    this.cluster.clock.programs.delete(this.agent)
    const { wire } = this
    if (says) this.cluster.clock.after(50 * NS_PER_MS, () => wire?.cut())
    else wire?.cut()
    this.cluster.stages.delete(this)
  }

  /** Requests so many opens and mkdirs a second from now on. */
  work(perSecond: number): void {
    this.#perSecond = perSecond
    if (!this.#isWorking) this.#work()
  }

  /** Stops its requests, including waiting ones. */
  rest(): void {
    this.#perSecond = 0
    this.stage.drop()
  }

  #work(): void {
    const { clock } = this.cluster
    this.#isWorking = this.isAlive && this.#perSecond > 0
    if (!this.#isWorking) return
    const count = Math.ceil(this.#perSecond / 10)
    this.stage.advance(clock.nowNs)
    this.stage.submit({ call: 'open', path: '/fs/x', count }, clock.nowNs)
    this.stage.submit({ call: 'mkdir', path: '/fs/x', count }, clock.nowNs)
    clock.after(100 * NS_PER_MS, () => this.#work())
  }

  /** Sum of the rates in force for a scope, op/s; 0 before it is ready. */
  rateOf(scope: Scope): number {
    if (!this.stage.isReady) return 0
    let sum = 0
    for (const c of this.stage.channels)
      if (c.scope === scope) sum += this.stage.limitOf(c.channel, c.object)?.rate ?? 0
    return sum
  }
}

export class PlayedNode {
  readonly name: string
  readonly cluster: VirtualCluster
  local: LocalController | undefined
  readonly stages = new Map<number, { readonly stage: PlayedStage; readonly wire: Wire }>()
  readonly globals = new Map<number, { readonly run: PlayedGlobal; readonly wire: Wire }>()
  isCutOff = false

  constructor(cluster: VirtualCluster, name: string) {
    this.cluster = cluster
    this.name = name
    this.start()
  }

  start(): void {
    if (this.local) return
    const { clock } = this.cluster
    const local = new LocalController({
      local: this.name,
      hostname: this.name,
      io: {
        toStage: (link, m) => {
          const to = this.stages.get(link)
          to?.wire.send(0, () => to.stage.isAlive && to.stage.agent.onMessage(m, clock.nowNs))
        },
        closeStage: (link) => this.stages.get(link)?.wire.cut(),
        toGlobal: (link, m) => {
          const to = this.globals.get(link)
          to?.wire.send(1, () => to.run.controller.onMessage(link, m, clock.nowNs))
        },
        closeGlobal: (link) => this.globals.get(link)?.wire.cut(),
      },
    })
    this.local = local
    clock.programs.add(local)
    for (const run of this.cluster.globals) this.connect(run, local)
  }

  kill(): void {
    if (!this.local) return
    this.cluster.clock.programs.delete(this.local)
    this.local = undefined
    for (const { wire } of this.stages.values()) wire.cut()
    for (const { wire } of this.globals.values()) wire.cut()
    this.stages.clear()
    this.globals.clear()
  }

  connect(run: PlayedGlobal, local: LocalController): void {
    const { clock, network } = this.cluster
    if (this.local !== local || !this.cluster.globals.has(run)) return
    if (this.isCutOff) return clock.after(200 * NS_PER_MS, () => this.connect(run, local))
    const link = ++this.cluster.links
    const wire = new Wire(clock, network, [
      () => {
        this.globals.delete(link)
        if (this.local !== local) return
        local.onGlobalGone(link, clock.nowNs)
        clock.after(100 * NS_PER_MS, () => this.connect(run, local))
      },
      () => {
        run.wires.delete(link)
        if (this.cluster.globals.has(run)) run.controller.onGone(link, clock.nowNs)
      },
    ])
    this.globals.set(link, { run, wire })
    run.wires.set(link, { node: this, wire, local })
    run.controller.onOpen(link, clock.nowNs)
    local.onGlobalOpen(link, clock.nowNs)
  }
}

export class PlayedGlobal {
  readonly controller: GlobalController
  readonly wires = new Map<
    number,
    { readonly node: PlayedNode; readonly wire: Wire; readonly local: LocalController }
  >()

  constructor(cluster: VirtualCluster, epoch: number, name: string) {
    const { clock } = cluster
    this.controller = new GlobalController({
      controller: name,
      startedMs: 1_700_000_000_000 + clock.nowNs / NS_PER_MS,
      startedNs: clock.nowNs,
      epoch,
      housekeeping: cluster.housekeeping,
      settings: cluster.settings,
      io: {
        send: (link, m) => {
          const to = this.wires.get(link)
          to?.wire.send(0, () => to.node.local === to.local && to.local.onGlobalMessage(link, m, clock.nowNs))
        },
        close: (link) => this.wires.get(link)?.wire.cut(),
      },
    })
  }
}

export class VirtualCluster {
  readonly clock = new Clock()
  readonly network: Network
  readonly housekeeping: readonly HousekeepingRule[]
  settings: Partial<GlobalSettings>
  readonly nodes: PlayedNode[] = []
  readonly stages = new Set<PlayedStage>()
  readonly globals = new Set<PlayedGlobal>()
  /** Highest limits so far. */
  readonly highest: Map<Scope, number>
  policies = ''
  epoch = 0
  links = 0
  #pid = 100

  constructor(seed: number, housekeeping: readonly HousekeepingRule[], settings: Partial<GlobalSettings>) {
    this.network = new Network(seed)
    this.housekeeping = housekeeping
    this.settings = settings
    this.highest = new Map(settings.limits)
  }

  setLimit(run: PlayedGlobal, scope: Scope, rate: number): void {
    this.settings = { ...this.settings, limits: new Map([...(this.settings.limits ?? []), [scope, rate]]) }
    this.highest.set(scope, Math.max(rate, this.highest.get(scope) ?? 0))
    const done = run.controller.change({ limits: [{ scope, rate }] }, this.now)
    if (!done.ok) throw new Error(done.error.why)
  }

  get now(): number {
    return this.clock.nowNs
  }

  startGlobal(epoch = ++this.epoch, name = 'global'): PlayedGlobal {
    const run = new PlayedGlobal(this, epoch, name)
    this.globals.add(run)
    this.clock.programs.add(run.controller)
    if (this.policies !== '') run.controller.setPolicies(this.policies, this.now)
    for (const node of this.nodes) if (node.local) node.connect(run, node.local)
    return run
  }

  killGlobal(run: PlayedGlobal): void {
    this.globals.delete(run)
    this.clock.programs.delete(run.controller)
    for (const { wire } of run.wires.values()) wire.cut()
  }

  addNode(): PlayedNode {
    const node = new PlayedNode(this, `node${this.nodes.length}`)
    this.nodes.push(node)
    return node
  }

  addStage(node: PlayedNode, job: string, instance: number): PlayedStage {
    const stage = new PlayedStage(this, node, job, instance, ++this.#pid)
    this.stages.add(stage)
    return stage
  }

  /** Sum of the rates in force, including unreachable stages. */
  rateOf(scope: Scope): number {
    let sum = 0
    for (const stage of this.stages) sum += stage.rateOf(scope)
    return sum
  }

  /** Number of enforcement objects of a scope in force. */
  objectsOf(scope: Scope): number {
    let n = 0
    for (const { stage } of this.stages) if (stage.isReady) n += stage.channels.filter((c) => c.scope === scope).length
    return n
  }
}
