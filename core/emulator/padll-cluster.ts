/**
 * PADLL in the emulated cluster: stages in front of jobs, a local controller on every client that runs them, the global
 * controller on its own node, and the network between. Its console is `sluice padll` on that node.
 */
import { InvariantError, type Result } from '../base/result.ts'
import { NS_PER_MS, sToNs } from '../base/units.ts'
import { answerConsole, type ConsoleController } from '../padll/console.ts'
import { parseHousekeepingFile } from '../padll/rules/housekeeping-yaml.ts'
import type { GlobalController, GlobalSettings } from '../padll/control/global-controller.ts'
import { StageAgent } from '../padll/control/stage-agent.ts'
import type { Scope } from '../padll/vocabulary.ts'
import { Link } from '../sim/link.ts'
import type { Simulation } from '../sim/simulation.ts'
import { exitWith, type Program } from './exec.ts'
import { GlobalHost, LOCAL_NS, LocalHost, RETRY_NS, Ticker, type GlobalStart } from './padll-hosts.ts'
import { StagedProcess, type Intercept } from './padll-process.ts'
import { EmulatedStage, type StageMember } from './padll-stage.ts'
import type { Wire } from './padll-wire.ts'
import type { StageToLocal } from '../padll/control/messages.ts'
import type { JobScenario, Scenario } from './scenario.ts'
import type { PadllFault, PadllScenario } from './scenario-padll.ts'

/** Management network: 1 Gbit/s per node. */
const CONTROL_BPS = 125e6
const FIRST_PID = 2000

export const clientHost = (client: number): string => `cn${String(client).padStart(2, '0')}`

/** Live stage: its agent, and its connection to the local controller while there is one. */
interface Connection {
  readonly agent: StageAgent
  readonly ticker: Ticker
  wire: Wire<StageToLocal> | undefined
  /** Events deferred while the stage hangs; delivered on resume. */
  unseen: (() => void)[] | undefined
}

export class EmulatedPadll {
  readonly scenario: PadllScenario
  readonly #sim: Simulation
  readonly #epochSeconds: number
  readonly #locals = new Map<number, LocalHost>()
  readonly #stages = new Map<string, EmulatedStage>()
  readonly #connections = new Map<EmulatedStage, Connection>()
  readonly #killed = new Map<EmulatedStage, readonly StageMember[]>()
  readonly #globals: GlobalHost[] = []
  readonly #pids = new Map<number, number>()
  /** Settings made on the console; they survive restarts of the global controller. */
  #settings: Partial<GlobalSettings>
  #policies: string

  constructor(sim: Simulation, scenario: Scenario, padll: PadllScenario, epochSeconds: number) {
    this.scenario = padll
    this.#sim = sim
    this.#epochSeconds = epochSeconds
    this.#settings = settingsOf(padll)
    this.#policies = padll.policies
    const clients = new Set(scenario.jobs.flatMap((j) => (j.stages ? j.clients : [])))
    const link = (): Link =>
      new Link(sim, { bandwidthBps: CONTROL_BPS, latencyNs: Math.round(scenario.clients.latency_us * 1000) })
    for (const client of [...clients].sort((a, b) => a - b)) {
      const path = { up: link(), down: link() }
      this.#locals.set(client, new LocalHost(sim, { client, hostname: clientHost(client), path }))
    }
    this.#addGlobal(1, padll.controller_node)
    for (const local of this.#locals.values()) this.#runLocal(local)
    for (const f of padll.faults) sim.at(sToNs(f.at_s), () => this.#befall(f))
  }

  get locals(): readonly LocalHost[] {
    return [...this.#locals.values()]
  }

  /** Stages by job and instance, including those without processes now. */
  get stages(): readonly EmulatedStage[] {
    return [...this.#stages.values()]
  }

  stage(job: string, instance: number): EmulatedStage | undefined {
    return this.#stages.get(stageName(job, instance))
  }

  /** First global controller; undefined while it is stopped. */
  get global(): GlobalController | undefined {
    return this.#globals[0]?.controller
  }

  /** Puts the processes of staged jobs behind their stages. */
  readonly intercept: Intercept = (job, number, member) => {
    if (!job.stages) return undefined
    const directory = job.stages.directory ?? this.scenario.mounts[0] ?? '/'
    return new StagedProcess(this.#stageOf(job, number), job, `${directory}/p${number}`, member)
  }

  /** Ends a stage and its processes as a signal would. */
  killStage(job: string, instance: number): void {
    const stage = this.stage(job, instance)
    if (stage) this.#killed.set(stage, stage.kill())
  }

  /** Starts the processes of a killed stage again. */
  restartStage(job: string, instance: number): void {
    const stage = this.stage(job, instance)
    const members = stage && this.#killed.get(stage)
    if (stage) this.#killed.delete(stage)
    for (const m of members ?? []) m.start()
  }

  /** Hangs a stage or resumes it: a hung stage keeps holding operations back and sends no messages. */
  hangStage(job: string, instance: number, isHung: boolean): void {
    const stage = this.stage(job, instance)
    const connection = stage && this.#connections.get(stage)
    if (!connection) return
    const unseen = connection.unseen ?? []
    connection.unseen = isHung ? unseen : undefined
    if (!isHung) for (const see of unseen) see()
  }

  killLocal(client: number): void {
    this.#locals.get(client)?.kill()
  }

  restartLocal(client: number): void {
    const local = this.#locals.get(client)
    if (local && !local.isRunning) this.#runLocal(local)
  }

  killGlobal(): void {
    this.#globals[0]?.kill()
  }

  /** Starts the next run, with the next epoch. */
  restartGlobal(): void {
    this.#startGlobal(this.#globals[0])
  }

  /** Adds another global controller and connects all local ones to it. */
  addSecondGlobal(epoch: number): GlobalController {
    const host = this.#addGlobal(epoch, `${this.scenario.controller_node}-2`)
    for (const local of this.#locals.values()) this.#reconnect(local, host)
    if (!host.controller) throw new InvariantError('a controller that was started runs')
    return host.controller
  }

  #befall(f: PadllFault): void {
    const later = (act: () => void): void => {
      if ('for_s' in f && f.for_s !== undefined) this.#sim.after(sToNs(f.for_s), act)
    }
    if (f.what === 'stage-dies') {
      this.killStage(f.job, f.instance)
      later(() => this.restartStage(f.job, f.instance))
    } else if (f.what === 'stage-silent') {
      this.hangStage(f.job, f.instance, true)
      later(() => this.hangStage(f.job, f.instance, false))
    } else if (f.what === 'local-dies') {
      this.killLocal(f.client)
      later(() => this.restartLocal(f.client))
    } else if (f.what === 'global-dies') {
      this.killGlobal()
      later(() => this.restartGlobal())
    } else if (f.what === 'second-global') this.addSecondGlobal(f.epoch)
  }

  #addGlobal(epoch: number, name: string): GlobalHost {
    const start: GlobalStart = () => ({
      controller: name,
      startedMs: this.#nowMs(),
      startedNs: this.#sim.now,
      housekeeping: parseHousekeepingFile(this.scenario.housekeeping).rules,
      settings: this.#settings,
    })
    const host = new GlobalHost(this.#sim, epoch, start)
    this.#globals.push(host)
    this.#startGlobal(host)
    return host
  }

  #startGlobal(host: GlobalHost | undefined): void {
    if (!host || host.controller) return
    const set = host.start().setPolicies(this.#policies, this.#sim.now)
    if (!set.ok) throw new InvariantError(`the policies of a scenario were checked: ${set.error.what}`)
    host.wake()
  }

  #runLocal(local: LocalHost): void {
    local.start()
    for (const host of this.#globals) this.#reconnect(local, host)
  }

  #reconnect(local: LocalHost, host: GlobalHost): void {
    const { run } = local
    const connect = (): void => {
      if (local.run !== run || !local.isRunning) return
      local.connectTo(host, () => this.#sim.after(RETRY_NS, connect))
    }
    this.#sim.after(LOCAL_NS, connect)
  }

  #stageOf(job: JobScenario, number: number): EmulatedStage {
    const perClient = job.stages?.per_client ?? 1
    const at = number % job.clients.length
    const instance = at * perClient + (Math.floor(number / job.clients.length) % perClient)
    const name = stageName(job.id, instance)
    let stage = this.#stages.get(name)
    if (!stage) {
      const client = job.clients[at] ?? 1
      const place = { job: job.id, instance, user: job.user, hostname: clientHost(client), client }
      const owner = {
        mounts: this.scenario.mounts,
        nextPid: () => this.#nextPid(client),
        begun: (s: EmulatedStage) => this.#begun(s),
        ended: (s: EmulatedStage, isKilled: boolean) => this.#ended(s, isKilled),
      }
      this.#stages.set(name, (stage = new EmulatedStage(this.#sim, place, owner)))
    }
    return stage
  }

  #nextPid(client: number): number {
    const pid = this.#pids.get(client) ?? FIRST_PID
    this.#pids.set(client, pid + 1)
    return pid
  }

  #begun(emulated: EmulatedStage): void {
    const { stage } = emulated
    if (!stage) return
    const agent = new StageAgent({
      stage,
      io: {
        send: (message) => connection.wire?.send(message),
        close: () => connection.wire?.close(),
      },
    })
    const connection: Connection = { agent, ticker: new Ticker(this.#sim, agent), wire: undefined, unseen: undefined }
    this.#connections.set(emulated, connection)
    this.#sim.after(LOCAL_NS, () => this.#connect(emulated, connection))
  }

  /** Connects to the local controller, retrying while the stage lives. */
  #connect(emulated: EmulatedStage, connection: Connection): void {
    const run = (act: (a: StageAgent, nowNs: number) => void): void => {
      if (this.#connections.get(emulated) !== connection) return
      if (connection.unseen) return void connection.unseen.push(() => run(act))
      act(connection.agent, this.#sim.now)
      connection.ticker.wake()
      // A command may have moved the next release.
      emulated.wake()
    }
    const again = (): void => this.#sim.after(RETRY_NS, () => this.#connect(emulated, connection))
    if (this.#connections.get(emulated) !== connection) return
    const wire = this.#locals.get(emulated.place.client)?.accept({
      onMessage: (m) => run((a, now) => a.onMessage(m, now)),
      onClose: () =>
        run((a, now) => {
          connection.wire = undefined
          a.onGone(now)
          again()
        }),
    })
    if (!wire) return again()
    connection.wire = wire
    run((a, now) => a.onOpen(now))
  }

  #ended(emulated: EmulatedStage, isKilled: boolean): void {
    const connection = this.#connections.get(emulated)
    if (!connection) return
    this.#connections.delete(emulated)
    connection.ticker.stop()
    if (isKilled || connection.unseen) connection.wire?.close()
    else connection.agent.leave(this.#sim.now)
  }

  #nowMs(): number {
    return this.#epochSeconds * 1000 + this.#sim.now / NS_PER_MS
  }

  /** `sluice` on the controller's node. */
  readonly program: Program = (args, stdin) => {
    if (args[0] !== 'padll') return exitWith(2, 'sluice: only padll is known on this emulated node\n')
    return answerConsole(args.slice(1), stdin, this.#console())
  }

  #console(): ConsoleController | undefined {
    const controller = this.global
    if (!controller) return undefined
    const after = <T>(result: Result<T>): Result<T> => {
      this.#globals[0]?.wake()
      return result
    }
    return {
      epoch: controller.epoch,
      policiesText: controller.policiesText,
      status: () => controller.status(this.#nowMs()),
      checkPolicies: (text) => controller.checkPolicies(text),
      setPolicies: (text) => {
        const set = after(controller.setPolicies(text, this.#sim.now))
        if (set.ok) this.#policies = text
        return set
      },
      change: (change) => {
        const changed = after(controller.change(change, this.#sim.now))
        if (changed.ok) this.#settings = controller.settings
        return changed
      },
    }
  }
}

const stageName = (job: string, instance: number): string => `${instance} ${job}`

const settingsOf = (p: PadllScenario): Partial<GlobalSettings> => ({
  algorithm: p.algorithm,
  epsilon: p.epsilon,
  slots: p.slots ?? null,
  split: p.split,
  intervalNs: p.interval_ms * NS_PER_MS,
  collectRounds: p.collect_rounds,
  lease: {
    ns: sToNs(p.lease.seconds),
    onExpiry: p.lease.on_expiry === 'hold' ? 'hold' : { rate: p.lease.on_expiry },
  },
  limits: new Map(Object.entries(p.system_limits) as [Scope, number][]),
})
