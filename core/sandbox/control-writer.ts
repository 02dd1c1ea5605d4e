/**
 * Rule writers of one server in a model: the same rules in the same order as the console's plans, by text or, if the
 * server has only the controller's rules, directly.
 */
import { isControllerRule, type RulingController } from '../controllers/registry.ts'
import type { ServerStep } from '../control/control-step.ts'
import type { Decision } from '../control/controller.ts'
import { isMatchable, RULES_MAX, ruleName } from '../control/desired-rule.ts'
import type { Fences } from '../control/fences.ts'
import { planRemoval, type Plan } from '../control/plan.ts'
import { DEFAULT_RULE } from '../control/server-rules.ts'
import type { EmulatedOss } from '../emulator/oss.ts'
import { MODEL_JOB_OWNERS } from '../lustre/job-owner.ts'
import { RATE_MAX } from '../lustre/nrs-tbf-rule.ts'
import { parseRuleCommand, type RuleCommand } from '../tbf/rule-command.ts'
import type { TbfType } from '../tbf/tbf-type.ts'
import type { Regime } from './control-regime.ts'
import type { JobQueue } from './control-queue.ts'

/** Writer of one server's rules. */
export interface RuleWriter {
  /** True if nothing else writes rules to the server. */
  readonly isAlone: boolean
  /** Changes the rules of the server to those of the step's plan. @returns  true if the server accepted all of it */
  write(step: ServerStep): boolean
  /** Removes all controller rules from the server. */
  withdraw(): void
}

export type Remark = (text: string) => void

/** Returns the fastest writer for a server without other rule writers. */
export function ruleWriter(oss: EmulatedOss, regime: Regime, jobs: JobQueue, remark: Remark): RuleWriter {
  const type = oss.io.nrs.runningType('reg')
  const { controller } = regime
  const isFree = oss.io.nrs.rules().every((r) => r.name === DEFAULT_RULE || isControllerRule(r.name))
  if (controller === 'none' || !type || !isFree || !takesJobs(oss, type) || !leavesRates(regime.fences)) {
    return planWriter(oss, remark)
  }
  return new DirectWriter(oss, { ...regime, controller }, jobs, { type, remark })
}

/** Rule grammar of a server: release, TBF type, nodemaps. */
const grammarOf = ({ io: { nrs } }: EmulatedOss, type: TbfType): Parameters<typeof parseRuleCommand>[1] => ({
  rules: nrs.profile.rules,
  type,
  nodemaps: nrs.nodemaps,
})

/** Checks whether the TBF type of a server accepts `jobid` conditions. */
const takesJobs = (oss: EmulatedOss, type: TbfType): boolean =>
  parseRuleCommand('reg start any jobid={any} rate=1', grammarOf(oss, type)).ok

/** Checks whether fences change none of a controller's rates, which are at least 1 RPC/s. */
const leavesRates = ({ floorRate, fall, rise, rulesMax }: Fences): boolean =>
  floorRate <= 1 && fall === 0 && rise === Infinity && rulesMax >= RULES_MAX

export const isSystemJob = (jobs: JobQueue, jobId: string): boolean =>
  MODEL_JOB_OWNERS.isSystem(jobId, jobs.find(jobId)?.user ?? '')

/** Returns a writer that sends plans as text, as the console does, whatever rules a server has. */
export function planWriter({ io, name }: EmulatedOss, remark: Remark): RuleWriter {
  const send = ({ commands }: Plan): boolean => {
    let isTaken = true
    for (const { value, rule } of commands) {
      const written = io.nrs.writeRule(value)
      if (!written.ok && isControllerRule(rule)) remark(`${name} refused a rule of its controller: ${written.error}`)
      isTaken &&= written.ok
      io.kick()
    }
    return isTaken
  }
  return {
    isAlone: false,
    write: (step) => send(step.plan),
    withdraw: () => void send(planRemoval(name, io.nrs.rules())),
  }
}

/** Command that is reused with other rates: creating one each time would cost as much as executing it. */
type Rated<V extends RuleCommand['verb']> = Extract<RuleCommand, { verb: V }> & { rate: number | undefined }

/** Rule of one job on one server. */
interface WrittenRule {
  readonly start: Rated<'start'> | undefined
  readonly change: Rated<'change'>
  readonly stop: RuleCommand
  /** Rate in force; 0 if the rule does not exist. */
  rate: number
  wanted: number
  /** Number of the last decision that included it. */
  at: number
}

/** Writes without text, for a server with only the controller's rules: their order does not matter there. */
class DirectWriter implements RuleWriter {
  readonly isAlone = true
  readonly #oss: EmulatedOss
  readonly #regime: Regime & { readonly controller: RulingController }
  readonly #jobs: JobQueue
  readonly #type: TbfType
  readonly #remark: Remark
  readonly #rules = new Map<string, WrittenRule>()
  #active: WrittenRule[] = []
  /** Rates of rules left by an earlier controller, by name. */
  readonly #inherited: Map<string, number>
  #last: readonly Decision['allocations'][] = []
  #number = 0
  /** Set if the server refused part of the last write. */
  #isRefused = false

  constructor(
    oss: EmulatedOss,
    regime: Regime & { readonly controller: RulingController },
    jobs: JobQueue,
    { type, remark }: { readonly type: TbfType; readonly remark: Remark },
  ) {
    this.#oss = oss
    this.#regime = regime
    this.#jobs = jobs
    this.#type = type
    this.#remark = remark
    const present = oss.io.nrs.rules().filter((r) => r.queue === 'reg' && r.cpt === 0 && isControllerRule(r.name))
    this.#inherited = new Map(present.map((r) => [r.name, r.rate]))
  }

  write({ decisions }: ServerStep): boolean {
    this.#write(decisions)
    return !this.#isRefused
  }

  withdraw(): void {
    this.#write([])
  }

  #write(decisions: readonly Decision[]): void {
    const isSame = decisions.length === this.#last.length && decisions.every((d, i) => d.allocations === this.#last[i])
    if (isSame && decisions.length > 0 && !this.#isRefused) return
    this.#isRefused = false
    this.#last = decisions.map((d) => d.allocations)
    const wanted = this.#wanted(decisions)
    this.#number++
    const active: WrittenRule[] = []
    for (const name of this.#inherited.keys())
      this.#oss.io.nrs.carryOut({ verb: 'stop', queue: 'reg', name }, this.#type)
    this.#inherited.clear()
    for (const rule of wanted) rule.at = this.#number
    for (const rule of this.#active) if (rule.at !== this.#number) this.#stop(rule)
    const starts: WrittenRule[] = []
    const raises: WrittenRule[] = []
    for (const rule of wanted) {
      active.push(rule)
      if (rule.rate === 0) starts.push(rule)
      else if (rule.wanted > rule.rate) raises.push(rule)
      else if (rule.wanted < rule.rate) this.#change(rule)
    }
    for (const rule of raises) this.#change(rule)
    for (const rule of starts.reverse()) this.#start(rule)
    this.#active = active.filter((r) => r.rate > 0)
    this.#oss.io.kick()
  }

  /** Rules for the decisions, highest priority first, each with its new rate. */
  #wanted(decisions: readonly Decision[]): WrittenRule[] {
    const number = this.#number + 1
    const sums: WrittenRule[] = []
    for (const { allocations } of decisions) {
      for (const { jobId, ratePerSec } of allocations) {
        const rule = this.#rules.get(jobId) ?? this.#make(jobId)
        if (!rule.start) continue
        if (rule.at !== number) {
          rule.at = number
          rule.wanted = 0
          sums.push(rule)
        }
        rule.wanted += ratePerSec
      }
    }
    const wanted = sums.slice(0, RULES_MAX)
    const part = this.#regime.options.deadbandPercent / 100
    for (const rule of sums) {
      rule.at = 0
      rule.wanted = Math.min(RATE_MAX, rule.wanted)
      if (rule.rate > 0 && Math.abs(rule.wanted - rule.rate) <= part * rule.rate) rule.wanted = rule.rate
    }
    return wanted
  }

  #make(jobId: string): WrittenRule {
    const name = ruleName(this.#regime.controller, this.#oss.name, jobId)
    const head = { queue: 'reg', name } as const
    const pairs = { rate: undefined, rank: undefined, realtime: false }
    const rule: WrittenRule = {
      start: this.#startOf(jobId, name),
      change: { verb: 'change', ...head, ...pairs },
      stop: { verb: 'stop', ...head },
      rate: this.#inherited.get(name) ?? 0,
      wanted: 0,
      at: 0,
    }
    if (rule.rate > 0) this.#active.push(rule)
    this.#inherited.delete(name)
    this.#rules.set(jobId, rule)
    return rule
  }

  /** Start command, parsed once; undefined for a system job and for a job that no rule can name. */
  #startOf(jobId: string, name: string): Rated<'start'> | undefined {
    if (!isMatchable(jobId) || isSystemJob(this.#jobs, jobId)) return undefined
    const read = parseRuleCommand(`reg start ${name} jobid={${jobId}} rate=1`, grammarOf(this.#oss, this.#type))
    if (read.ok) return read.value.verb === 'start' ? read.value : undefined
    this.#refused(read.error.errno)
    return undefined
  }

  #refused(errno: string): void {
    this.#isRefused = true
    this.#remark(`${this.#oss.name} refused a rule of its controller: ${errno}`)
  }

  #start(rule: WrittenRule): void {
    if (!rule.start) return
    rule.start.rate = rule.wanted
    const done = this.#oss.io.nrs.carryOut(rule.start, this.#type)
    if (done.ok) rule.rate = rule.wanted
    else this.#refused(done.error)
  }

  #change(rule: WrittenRule): void {
    rule.change.rate = rule.wanted
    const done = this.#oss.io.nrs.carryOut(rule.change, this.#type)
    if (done.ok) rule.rate = rule.wanted
    else this.#refused(done.error)
  }

  #stop(rule: WrittenRule): void {
    this.#oss.io.nrs.carryOut(rule.stop, this.#type)
    rule.rate = 0
  }
}
