/**
 * In-memory control hierarchy of V-C: a global controller, a local controller on each node, a stage behind each. The
 * real classes and their messages; messages take no time and arrive in the order sent.
 */
import { NS_PER_S } from '../../base/units.ts'
import { GlobalController } from '../../padll/control/global-controller.ts'
import { LocalController } from '../../padll/control/local-controller.ts'
import { StageAgent } from '../../padll/control/stage-agent.ts'
import type { HousekeepingRule } from '../../padll/rules/housekeeping.ts'
import type { Stage } from '../../padll/stage/stage.ts'
import { globalToLocal, localToGlobal } from '../../padll/wire/hierarchy-wire.ts'
import { type Control, MAX_RATE, type ScenarioJob } from './scenarios.ts'
import type { Plane } from './staged.ts'

const OF = { channel: 1000, contextType: 'posix_meta', type: 'no_op', context: 'meta_op' } as const
const HOUSEKEEPING: readonly HousekeepingRule[] = [
  { kind: 'create_channel', rule: 1, workflow: 0, ...OF },
  { kind: 'create_object', rule: 2, object: 1, bucket: { refillUs: 10_000, rate: 500_000 }, ...OF },
]

interface Ticking {
  tick(nowNs: number): void
  nextNs(): number
}

interface Node {
  readonly job: string
  readonly local: LocalController
  readonly agent: StageAgent
}

export interface HierarchySetup {
  readonly control: Control
  /** Demands of the jobs, including those that join later. */
  readonly jobs: readonly ScenarioJob[]
  readonly split?: 'equal' | 'usage'
  /** Called with the length of every frame between the local controllers and the global one, bytes. */
  readonly onFrame?: (bytes: number) => void
}

/** Stages are numbered by the link of their node, from 1. */
export class Hierarchy implements Plane {
  readonly global: GlobalController
  readonly #nodes = new Map<number, Node>()
  readonly #messages: (() => void)[] = []
  readonly #onFrame: ((bytes: number) => void) | undefined
  /** Undefined after nodes were added or removed. */
  #ticking: readonly Ticking[] | undefined
  #lastLink = 0
  #nowNs = 0

  constructor({ control, jobs, split = 'equal', onFrame }: HierarchySetup) {
    this.#onFrame = onFrame
    this.global = new GlobalController({
      controller: 'global',
      startedMs: 0,
      startedNs: 0,
      housekeeping: HOUSEKEEPING,
      settings: {
        algorithm: control.algorithm,
        split,
        slots: 4,
        intervalNs: (control.cycleS ?? 1) * NS_PER_S,
        collectRounds: 1,
        limits: new Map([['meta_op', MAX_RATE]]),
        ...(control.epsilon === undefined ? {} : { epsilon: control.epsilon }),
      },
      io: {
        send: (link, message) => {
          this.#onFrame?.(globalToLocal.encode(message).length)
          this.#later(() => this.#nodes.get(link)?.local.onGlobalMessage(link, message, this.#nowNs))
        },
        close: () => undefined,
      },
    })
    const policies = jobs.map(({ id, demand }, i) => `${i + 1} 0 demand ${id} meta_op ${demand}`).join('\n')
    this.global.setPolicies(`${policies}\n`, 0)
  }

  join(job: ScenarioJob, stages: readonly Stage[], nowNs: number): void {
    this.#until(nowNs)
    for (const stage of stages) this.#connect(job.id, stage)
    this.#deliver()
  }

  leave(job: ScenarioJob, nowNs: number): void {
    this.#until(nowNs)
    for (const [link, { job: id, agent }] of this.#nodes) {
      if (id !== job.id) continue
      agent.leave(nowNs)
      this.#deliver()
      this.#nodes.delete(link)
      this.#ticking = undefined
    }
  }

  cycle(nowNs: number): void {
    this.#until(nowNs)
  }

  /** Runs one control cycle alone: collect, compute, enforce, until the last answer. It is due at `nowNs`. */
  controlCycle(nowNs: number): void {
    this.#nowNs = nowNs
    this.global.tick(nowNs)
    this.#deliver()
  }

  #connect(job: string, stage: Stage): void {
    const link = ++this.#lastLink
    const { hostname } = stage.identity
    const local = new LocalController({
      local: hostname,
      hostname,
      io: {
        toStage: (_, message) => this.#later(() => agent.onMessage(message, this.#nowNs)),
        closeStage: () => undefined,
        toGlobal: (_, message) => {
          this.#onFrame?.(localToGlobal.encode(message).length)
          this.#later(() => this.global.onMessage(link, message, this.#nowNs))
        },
        closeGlobal: () => undefined,
      },
    })
    const agent = new StageAgent({
      stage,
      io: {
        send: (message) => this.#later(() => local.onStageMessage(link, message, this.#nowNs)),
        close: () => this.#later(() => local.onStageGone(link, this.#nowNs)),
      },
    })
    this.#nodes.set(link, { job, local, agent })
    this.#ticking = undefined
    local.onGlobalOpen(link, this.#nowNs)
    this.global.onOpen(link, this.#nowNs)
    local.onStageOpen(link, this.#nowNs)
    agent.onOpen(this.#nowNs)
  }

  /** Components with timers; the global controller first. */
  #parties(): readonly Ticking[] {
    this.#ticking ??= [this.global, ...[...this.#nodes.values()].flatMap(({ local, agent }) => [local, agent])]
    return this.#ticking
  }

  #later(deliver: () => void): void {
    this.#messages.push(deliver)
  }

  #deliver(): void {
    for (let i = 0; i < this.#messages.length; i++) this.#messages[i]!()
    this.#messages.length = 0
  }

  /** Runs everything that is due, in order of time. */
  #until(nowNs: number): void {
    for (;;) {
      const parties = this.#parties()
      let due = Infinity
      for (const party of parties) due = Math.min(due, party.nextNs())
      if (due > nowNs) break
      // Overdue work runs now.
      this.#nowNs = Math.max(this.#nowNs, due)
      for (const party of parties) if (party.nextNs() <= this.#nowNs) party.tick(this.#nowNs)
      this.#deliver()
    }
    this.#nowNs = nowNs
  }
}
