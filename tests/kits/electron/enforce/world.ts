/**
 * Several consoles on one emulated cluster, each over its own network with delays, losses and interruptions, and a monitor of the
 * state on the servers. All time is virtual: that of the servers, of the timers and of the consoles.
 */
import { vi } from 'vitest'
import { NS_PER_MS } from '#core/base/units.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { MODEL_FENCES } from '#core/control/fences.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import type { Result } from '#core/base/result.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { ExecResult, NodeConnection } from '#electron/base/connection.ts'
import { EmulatedSource } from '#electron/cluster/emulated-source.ts'
import { newSession } from '#electron/enforce/console-name.ts'
import { covers, parseTimers } from '#electron/enforce/expiry.ts'
import { LIST_SYSTEMD_TIMERS } from '#electron/enforce/expiry-systemd.ts'
import { isManagedName } from '#electron/enforce/managed-names.ts'
import { EnforcementStore, storeFile } from '#electron/enforce/store.ts'
import { leaseStore } from '#electron/enforce/store-leases.ts'
import { enterEnforce } from '#electron/host/sources/other-consoles.ts'
import { stopAll } from '#electron/host/sources/stop.ts'
import { consoleOf, type Console } from '#electron/host/console.ts'
import { RuleService } from '#electron/host/rules/rule-service.ts'
import { formOfValue } from '#electron/host/rules/draft.ts'
import { stagedFrame } from '#electron/host/views/rules/staged.ts'
import { emulatedCluster, smallScenario, type Emulated } from '../../../node/emulated-cluster.ts'
import { tempFolder } from '../../../node/temp-folder.ts'
import { lost } from '#tests/kits/electron/answers.ts'

const RULES = 'ost.OSS.ost_io.nrs_tbf_rule'
const PERIOD_MS = 1_000
/** Interval between checks of the world, ms. */
const STEP_MS = 250
/** Preview of plans before the first is written, ms. */
const SHADOW_MS = 5_000
/** Latest time after its due instant that a timer stops its rule, ms. */
export const FIRED_MS = 5_000
export type Machine = 'lease' | 'commit'

/** Largest age of an observation when the resulting command is sent, ms. */
export const STALE_MS = 30_000

/** Behaviour of a network from now on. */
export interface Weather {
  /** Delay of a command to its server, and of its answer, ms. */
  readonly thereMs: number
  readonly backMs: number
  /** Commands affected; the others take no time. @default all */
  readonly only?: RegExp
}

const FAIR: Weather = { thereMs: 5, backMs: 5 }

/** Connection of one console to one server: ordered, and interrupted at times. */
class Line {
  readonly #world: World
  readonly #node: NodeConnection
  weather = FAIR
  #brokenUntilMs = 0
  #lastMs = 0
  readonly #waiting = new Set<(answer: Result<ExecResult>) => void>()

  constructor(world: World, node: NodeConnection) {
    this.#world = world
    this.#node = node
  }

  /** Breaks it: pending answers are lost; commands in transit still arrive. */
  break(ms: number): void {
    this.#brokenUntilMs = this.#world.nowMs + ms
    for (const answer of this.#waiting) answer(lost())
    this.#waiting.clear()
  }

  async exec(command: string): Promise<Result<ExecResult>> {
    const world = this.#world
    if (world.nowMs < this.#brokenUntilMs) return lost('not connected')
    const { thereMs, backMs } = this.weather.only?.test(command) === false ? FAIR : this.weather
    this.#lastMs = Math.max(this.#lastMs, world.nowMs + thereMs)
    const wait = this.#lastMs - world.nowMs
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve)
      setTimeout(() => {
        world.sync()
        void this.#node.exec(command).then((result) => {
          world.executed(this.#node.host, command)
          setTimeout(() => {
            this.#waiting.delete(resolve)
            resolve(result)
          }, backMs)
        }, reject)
      }, wait)
    })
  }
}

/** Simulated console: a process that can be killed, over a data folder that survives it. */
export class SimulatedConsole {
  readonly user: string
  readonly #world: World
  readonly #store: EnforcementStore
  #lines = new Map<string, Line>()
  #running: { readonly c: Emulated; readonly console: Console } | undefined
  #isSampling = false

  constructor(world: World, user: string) {
    this.#world = world
    this.user = user
    const opened = EnforcementStore.open(storeFile(tempFolder()), 0)
    if (!opened.ok) throw new Error(opened.error.why)
    this.#store = opened.value
    this.start()
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  get console(): Console {
    if (!this.#running) throw new Error(`${this.user} does not run`)
    return this.#running.console
  }

  start(): void {
    if (this.#running) return
    const lines = new Map<string, Line>()
    const session = newSession(this.user)
    let isDead = false
    const around = (node: NodeConnection): NodeConnection => {
      const line = new Line(this.#world, node)
      lines.set(node.host, line)
      return {
        ...node,
        exec: (command) => (isDead ? new Promise<never>(() => undefined) : this.#sent(line, node.host, command)),
      }
    }
    const { source, scenario } = this.#world
    const store = this.#store
    const c = emulatedCluster(scenario, {
      kind: 'LIVE',
      source,
      session,
      around,
      mode: 'observe',
      controller: 'static',
      fences: { ...MODEL_FENCES, shadowNs: SHADOW_MS * NS_PER_MS },
      stops: store.stops.of(source.cluster),
      leases: leaseStore(store.leases, source.cluster, this.user),
    })
    const console = consoleOf(c.monitor, {
      facts: {
        env: 'DEV',
        sinceMs: 0,
        speed: () => 1,
        achieved: () => 1,
        safeMode: () => 'review',
        unlockedUntilMs: () => null,
      },
      setSpeed: undefined,
      store,
      ruleService: new RuleService(c.monitor, { canaryS: 2, store }),
    })
    c.monitor.onChange(() => this.#noteCommit(console))
    this.#lines = lines
    this.#running = { c, console }
    this.#kill = (): void => {
      isDead = true
    }
  }
  #kill: () => void = () => undefined
  /** Current state of each state machine of this run. */
  #states = new Map<string, string>()

  /** kill -9: nothing more is sent; commands in transit still arrive. */
  kill(): void {
    if (!this.#running) return
    this.#kill()
    this.break(0)
    this.#running = undefined
    this.#states = new Map()
    this.#isSampling = false
  }

  break(ms: number): void {
    for (const line of this.#lines.values()) line.break(ms)
  }

  endure(weather: Weather): void {
    for (const line of this.#lines.values()) line.weather = weather
  }

  /** Takes one sample, unless the last one is still in progress. */
  sample(): void {
    const running = this.#running
    if (!running || this.#isSampling) return
    this.#isSampling = true
    void running.c.monitor.tick(this.#world.source.nowNs()).finally(() => {
      if (this.#running === running) this.#isSampling = false
    })
  }

  /** Records the outcomes of its leases. */
  look(): void {
    if (!this.#running) return
    for (const host of this.#lines.keys()) {
      const phase = this.#running.c.monitor.loop.lease(host)?.phase
      if (phase !== undefined) this.#note('lease', host, phase)
    }
  }

  #noteCommit({ ruleService }: Console): void {
    const progress = ruleService.progressOf('ost_io')
    if (!progress) return
    for (const { host, state } of progress.nodes) this.#note('commit', `${progress.planId} ${host}`, state)
  }

  #note(machine: Machine, key: string, state: string): void {
    const was = this.#states.get(`${machine} ${key}`)
    this.#states.set(`${machine} ${key}`, state)
    if (was !== undefined && was !== state) this.#world.seen[machine].add(`${was} > ${state}`)
  }

  #sent(line: Line, host: string, command: string): Promise<Result<ExecResult>> {
    const age = this.#running?.c.monitor.ageMs(host)
    if (age !== undefined && age > STALE_MS && /reg (?:start|change) (?:st|ab)_/.test(command))
      this.#world.fault(`${this.user} sent ${command} to ${host} on what is ${age} ms old`)
    return line.exec(command)
  }

  /** Enters enforce; the operator's request makes rules legitimate again after a stop. */
  async enforce(takeOver: boolean): Promise<void> {
    this.#world.asked()
    const entered = await enterEnforce(this.console, takeOver)
    this.#world.note(`${this.user} ${entered.ok ? 'enforces' : `is told ${entered.error.code}`}`)
  }

  observe(): void {
    this.console.monitor.setMode('observe')
  }

  async stop(): Promise<void> {
    const begun = this.#world.nowMs
    const stopped = await stopAll(this.console)
    this.#world.note(`${this.user} is told ${stopped.ok ? stopped.value.state : stopped.error.code}`)
    if (stopped.ok && stopped.value.state === 'stopped') this.#world.stopped(begun)
  }

  /** Commits a rule of the operator with an expiry. */
  async commit(name: string, rate: number, expiresS: number): Promise<void> {
    const { ruleService } = this.console
    this.#world.asked()
    const form = formOfValue(`start ${name} jobid={1.hog.u1} rate=${rate}`)
    if (!ruleService.stage('ost_io', form, { expiresS, reason: 'model' }).ok) return
    const { review } = stagedFrame(ruleService, { service: 'ost_io' }, 1)
    await ruleService.commit('ost_io', review?.planId ?? '', review?.typed ?? '')
  }
}

export class World {
  readonly scenario: Scenario
  readonly source: EmulatedSource
  readonly consoles: readonly SimulatedConsole[] = []
  /** Violations in order of detection, with the actions before the first of them. */
  readonly faults: string[] = []
  readonly log: string[] = []
  /** Observed transitions of each state machine, `held > renewing`. */
  readonly seen: Readonly<Record<Machine, Set<string>>> = { lease: new Set(), commit: new Set() }
  readonly #beginMs = performance.now()
  /** First time a rule without a timer was seen, by server and name, ms. */
  readonly #bareMs = new Map<string, number>()
  /** Set after a stop was reported done: no rules may exist until they are requested again. */
  #stoppedMs: number | undefined
  #askedMs = 0

  constructor(users: readonly string[], scenario: Scenario = light()) {
    this.scenario = scenario
    this.source = new EmulatedSource(scenario, { epochSeconds: scenario.epoch_s })
    this.consoles = users.map((user) => new SimulatedConsole(this, user))
  }

  get nowMs(): number {
    return performance.now() - this.#beginMs
  }

  /** Advances the servers to the current time. */
  sync(): void {
    this.source.emulator.sim.runUntil(Math.round(this.nowMs * NS_PER_MS))
  }

  async run(ms: number): Promise<void> {
    const endMs = this.nowMs + ms
    while (this.nowMs < endMs) {
      await vi.advanceTimersByTimeAsync(STEP_MS)
      this.sync()
      this.look()
      if (Math.round(this.nowMs) % PERIOD_MS === 0) for (const c of this.consoles) c.sample()
    }
  }

  /** Records a request for rules: they are legitimate from now on, even after a stop. */
  asked(): void {
    this.#askedMs = this.nowMs
  }

  /** Records that a stop which began then was reported done. */
  stopped(beganMs: number): void {
    if (this.#askedMs < beganMs) this.#stoppedMs = this.nowMs
  }

  fault(text: string): void {
    if (this.faults.length < 20) this.faults.push(`${(this.nowMs / 1000).toFixed(1)} s: ${text}`)
  }

  note(text: string): void {
    this.log.push(`${(this.nowMs / 1000).toFixed(2)} ${text}`)
  }

  executed(host: string, command: string): void {
    if (/set_param|systemd-run|systemctl stop/.test(command)) this.note(`${host} ${command}`)
    this.look()
  }

  ours(host: string): string[] {
    const text = this.source.emulator.node(host)?.exec(`lctl get_param -n ${RULES}`).stdout ?? ''
    return parseNrsTbfRule(text)
      .rules.filter((r) => isControllerRule(r.name) || isManagedName(r.name))
      .map((r) => r.name)
  }

  /** Checks every server for violations. */
  look(): void {
    for (const c of this.consoles) c.look()
    for (const { name: host } of this.source.emulator.nodes) {
      const rules = this.ours(host)
      if (rules.length === 0) continue
      const listed = this.source.emulator.node(host)?.exec(LIST_SYSTEMD_TIMERS).stdout ?? ''
      const timers = parseTimers('systemd', listed)
      for (const name of rules) {
        const key = `${host} ${name}`
        const isCovered = timers.some((t) => covers(t, [{ parameter: RULES, queue: 'reg', name }]))
        if (isCovered) this.#bareMs.delete(key)
        else if (!this.#bareMs.has(key)) {
          this.#bareMs.set(key, this.nowMs)
          this.fault(`${name} on ${host} has no timer`)
        }
        const stoppedMs = this.#stoppedMs
        if (stoppedMs !== undefined && this.#askedMs < stoppedMs) {
          this.fault(
            `${name} stands on ${host} after a stop that was reported done at ${(stoppedMs / 1000).toFixed(1)} s`,
          )
          this.#stoppedMs = undefined
        }
      }
    }
  }

  /** Runs a command as another user of the server would. */
  byOthers(host: string, value: string): void {
    this.source.emulator.node(host)?.exec(setParamCommand(RULES, value))
  }
}

/** Two servers with next to no load, so that a minute passes quickly. */
const light = (): Scenario =>
  smallScenario(
    [
      { id: '1.hog.u1', processes: 1 },
      { id: '2.calm.u2', clients: [2], processes: 1 },
    ],
    { period_ms: PERIOD_MS },
  )
