/**
 * The network request scheduler of one ptlrpc service (`ost.OSS.ost_io`): its heads for every CPT and queue, the values of
 * its `nrs_*` parameters, and the writes to them.
 *
 * Source: spec/lustre 1.1, 1.2, 3.1-3.3, measured A4, A10, A11, B8, B9. A write walks CPT 0 reg, CPT 0 hp, CPT 1 reg, ...; a
 * failure aborts the walk and the heads before it keep the new state, as on running servers.
 */
import { randomStream } from '../base/random.ts'
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import { formatNrsPolicies, type PolicyStatus, type Queue } from '../lustre/nrs-policies.ts'
import { formatCptTitle, formatQueueTitle, formatRuleLine, type RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { profile as profileOf, type Profile } from '../lustre/profile.ts'
import { DelayQueue } from './delay-queue.ts'
import { Nodemaps } from './nodemaps.ts'
import { NrsHead, type Dispatched } from './nrs-head.ts'
import { OST_IO_POLICIES, parsePolicyCommand, type PolicyName } from './policy-command.ts'
import {
  CRRN_DEFAULTS,
  DELAY_DEFAULTS,
  ORR_DEFAULTS,
  POLICY_PARAMETERS,
  readSetting,
  writeSetting,
  type PolicyParameterName,
} from './policy-parameters.ts'
import type { PolicySlot, StartedPolicy } from './policy-slot.ts'
import { RoundRobin } from './round-robin.ts'
import { parseRuleCommand, type RuleCommand } from './rule-command.ts'
import type { ScheduledRequest } from './scheduler.ts'
import { TbfHead } from './tbf-head.ts'
import { loadedModule, type TbfModule } from './tbf-module.ts'
import { isSameType, parseTbfType, type TbfType } from './tbf-type.ts'

/** Default of high_priority_ratio: high-priority RPCs taken in a row before a regular one. */
export const HIGH_PRIORITY_RATIO = 10

export interface ServiceOptions {
  readonly cpts: number
  /** True if the service has a high-priority queue. */
  readonly hp: boolean
  /** Default: those of ost_io. */
  readonly policies?: readonly PolicyName[]
  /** Emulated release; default: the development line. */
  readonly profile?: Profile
  readonly nodemaps?: Nodemaps
  /** Module parameters, shared by all services of a server and read live. */
  readonly module?: TbfModule
  /** True if a policy with `held` RPCs on a CPT drains within 30 s of a stop; default: true. */
  readonly drainsInTime?: (cpt: number, held: number) => boolean
  /** Seed of the random times of `delay`. */
  readonly seed?: number
}

interface PlacedHead<R extends ScheduledRequest> {
  readonly cpt: number
  readonly head: NrsHead<R>
}

export class NrsService<R extends ScheduledRequest> {
  readonly cpts: number
  readonly nodemaps: Nodemaps
  readonly module: TbfModule
  readonly profile: Profile
  /** high_priority_ratio; 0 serves high-priority RPCs only if no regular one can be served. */
  highPriorityRatio = HIGH_PRIORITY_RATIO
  readonly #policies: readonly PolicyName[]
  readonly #queues: readonly Queue[]
  readonly #reg: readonly NrsHead<R>[]
  readonly #hp: readonly NrsHead<R>[]
  /** High-priority RPCs taken from a CPT since the last regular one. */
  readonly #hpTaken: number[]
  readonly #seed: number
  readonly #walks: Readonly<Record<Queue | 'all', readonly PlacedHead<R>[]>>

  constructor(options: ServiceOptions) {
    this.cpts = options.cpts
    this.profile = options.profile ?? profileOf('dev')
    this.nodemaps = options.nodemaps ?? new Nodemaps()
    this.module = options.module ?? loadedModule()
    this.#policies = options.policies ?? OST_IO_POLICIES
    this.#queues = options.hp ? ['reg', 'hp'] : ['reg']
    this.#seed = options.seed ?? 1
    const { drainsInTime = () => true } = options
    const heads = (queue: Queue): NrsHead<R>[] =>
      Array.from({ length: options.cpts }, (_, cpt) => {
        const rules = this.profile.rules
        return new NrsHead<R>({ queue, policies: this.#policies, rules, drainsInTime: (n) => drainsInTime(cpt, n) })
      })
    this.#reg = heads('reg')
    this.#hp = options.hp ? heads('hp') : []
    this.#hpTaken = this.#reg.map(() => 0)
    const all = this.#reg.flatMap((_, cpt) =>
      this.#queues.map((q) => ({ cpt, head: this.#heads(q)[cpt] as NrsHead<R> })),
    )
    const of = (queue: Queue): PlacedHead<R>[] => all.filter(({ head }) => head.queue === queue)
    this.#walks = { all, reg: of('reg'), hp: of('hp') }
  }

  #heads(queue: Queue): readonly NrsHead<R>[] {
    return queue === 'hp' ? this.#hp : this.#reg
  }

  /** Heads in the order in which a write walks them. */
  #walk(queue: Queue | undefined): readonly PlacedHead<R>[] {
    return this.#walks[queue ?? 'all']
  }

  enqueue(now: number, cpt: number, queue: Queue, request: R): void {
    ;(this.#heads(queue)[cpt] as NrsHead<R>).enqueue(now, request)
  }

  /**
   * Dequeues the next RPC of a CPT: a high-priority one, unless the ratio is used up and a regular one can be served. The
   * caller reports its end with `finished`.
   */
  dequeue(now: number, cpt: number): Dispatched<R> | undefined {
    const hp = this.#hp[cpt]
    const takesHp = hp !== undefined && (this.#hpTaken[cpt] as number) < this.highPriorityRatio
    const first = takesHp ? this.#takeHp(now, cpt, hp) : undefined
    if (first) return first
    const regular = (this.#reg[cpt] as NrsHead<R>).dequeue(now)
    if (regular) {
      this.#hpTaken[cpt] = 0
      return regular
    }
    return hp && !takesHp ? this.#takeHp(now, cpt, hp) : undefined
  }

  #takeHp(now: number, cpt: number, hp: NrsHead<R>): Dispatched<R> | undefined {
    const taken = hp.dequeue(now)
    if (taken) this.#hpTaken[cpt] = (this.#hpTaken[cpt] as number) + 1
    return taken
  }

  /** Reports the end of an RPC's service. @param policy  as returned by `dequeue`. */
  finished(cpt: number, queue: Queue, policy?: PolicyName): void {
    ;(this.#heads(queue)[cpt] as NrsHead<R>).finished(policy)
  }

  /** Earliest time at which `dequeue` of this CPT can succeed; Infinity when nothing is queued. */
  wakeAt(cpt: number): number {
    return Math.min((this.#reg[cpt] as NrsHead<R>).wakeAt, this.#hp[cpt]?.wakeAt ?? Infinity)
  }

  /** RPCs waiting in all heads, including lost ones. */
  get queued(): number {
    return [...this.#reg, ...this.#hp].reduce((n, head) => n + head.queued, 0)
  }

  /** The TBF type that runs on a queue of CPT 0; null when it does not run there. */
  runningType(queue: Queue): TbfType | null {
    return this.#heads(queue)[0]?.slot('tbf')?.tbf?.type ?? null
  }

  /** Value of nrs_policies: sums over CPTs, states of CPT 0. EINVAL when CPTs disagree on an argument. */
  readPolicies(): Result<string, Errno> {
    const out: PolicyStatus[] = []
    for (const queue of this.#queues) {
      for (const [i, name] of this.#policies.entries()) {
        const slots = this.#heads(queue).map((h) => h.slots[i] as PolicySlot<R>)
        const { argument, state } = slots[0] as PolicySlot<R>
        if (slots.some((s) => s.argument !== argument)) return fail('EINVAL')
        out.push({
          queue,
          name,
          arg: argument,
          state,
          fallback: i === 0,
          queued: slots.reduce((n, s) => n + s.queued, 0),
          active: slots.reduce((n, s) => n + s.active, 0),
        })
      }
    }
    return ok(formatNrsPolicies(out))
  }

  /** Rules of every head that runs TBF, in match order, even if nrs_tbf_rule is unreadable. */
  rules(): RuleLine[] {
    return this.#queues.flatMap((queue) => this.#heads(queue).flatMap((head, cpt) => ruleLines(head, cpt)))
  }

  /** Value of nrs_tbf_rule; ENODEV unless the last queue runs TBF, EAGAIN while its TBF is stopping. */
  readRules(): Result<string, Errno> {
    let out = ''
    let last: Errno | undefined
    for (const queue of this.#queues) {
      out += formatQueueTitle(queue)
      for (const [cpt, head] of this.#heads(queue).entries()) {
        last = head.refusal('tbf')
        if (last !== undefined) break
        out += formatCptTitle(cpt) + ruleLines(head, cpt).map(formatRuleLine).join('')
      }
      if (last !== undefined && last !== 'ENODEV') return fail(last)
    }
    return last === undefined ? ok(out) : fail(last)
  }

  /** Writes nrs_policies. Errors as in spec/lustre 1.1. */
  writePolicies(value: string): Result<undefined, Errno> {
    const command = parsePolicyCommand(value, { hp: this.#hp.length > 0, policies: this.#policies })
    if (!command.ok) return fail(command.error.errno)
    const { policy, queue, argument } = command.value
    for (const { cpt, head } of this.#walk(queue)) {
      const done = head.start(policy, argument, () => this.#make(policy, argument, `${cpt} ${head.queue}`))
      if (!done.ok) return done
    }
    return ok(undefined)
  }

  #make(policy: PolicyName, argument: string | undefined, where: string): Result<StartedPolicy<R>, Errno> {
    if (policy === 'tbf') {
      const type = parseTbfType(argument, this.profile.rules)
      if (!type.ok) return fail(type.error.errno)
      const head = new TbfHead<R>(type.value.fields, this.module)
      return ok({ scheduler: head, tbf: { head, type: type.value } })
    }
    if (policy === 'delay') {
      const settings = { ...DELAY_DEFAULTS }
      return ok({ scheduler: new DelayQueue<R>(settings, randomStream(this.#seed, `nrs delay ${where}`)), settings })
    }
    const settings = { ...(policy === 'crrn' ? CRRN_DEFAULTS : ORR_DEFAULTS) }
    const by = policy === 'crrn' ? 'nid' : policy === 'orr' ? 'object' : 'target'
    return ok({ scheduler: new RoundRobin<R>(by, settings), settings })
  }

  /** Writes nrs_tbf_rule. Errors as in spec/lustre 1.2; heads walked before the failing one keep the change. */
  writeRule(value: string): Result<undefined, Errno> {
    // A start is parsed under the type of CPT 0's last queue, and only if its first queue runs TBF as well.
    const queues = value.startsWith('reg ')
      ? (['reg'] as const)
      : value.startsWith('hp ')
        ? (['hp'] as const)
        : this.#queues
    const types = queues.map((q) => this.runningType(q))
    const type = types.includes(null) ? null : (types[types.length - 1] as TbfType)
    const { nodemaps } = this
    const command = parseRuleCommand(value, { rules: this.profile.rules, type, nodemaps, hp: this.#hp.length > 0 })
    return command.ok ? this.carryOut(command.value, type) : fail(command.error.errno)
  }

  /**
   * Executes a parsed rule command on each head.
   *
   * @param type  type under which its conditions were parsed; heads of another type refuse a start.
   */
  carryOut(command: RuleCommand, type: TbfType | null): Result<undefined, Errno> {
    for (const { head } of this.#walk(command.queue)) {
      const tbf = head.slot('tbf')?.tbf
      if (!tbf) return fail(head.refusal('tbf') ?? 'ENODEV')
      if (command.verb === 'start' && !(type && isSameType(tbf.type, type))) return fail('EINVAL')
      const done = tbf.head.command(command)
      if (!done.ok) return done
    }
    return ok(undefined)
  }

  /** Names of the parameters of crrn, orr, trr and delay that this service has. */
  get policyParameters(): readonly PolicyParameterName[] {
    const names = Object.keys(POLICY_PARAMETERS) as PolicyParameterName[]
    return names.filter((n) => this.#policies.includes(POLICY_PARAMETERS[n].policy))
  }

  /** Value of a policy parameter. */
  readPolicyParameter(name: PolicyParameterName): Result<string, Errno> {
    return readSetting(
      POLICY_PARAMETERS[name],
      this.#queues.map((queue) => ({ queue, heads: this.#heads(queue) })),
    )
  }

  /** Writes a policy parameter. */
  writePolicyParameter(name: PolicyParameterName, value: string): Result<undefined, Errno> {
    const queues = this.#queues.map((queue) => ({ queue, heads: this.#heads(queue) }))
    return writeSetting(POLICY_PARAMETERS[name], queues, value)
  }
}

function ruleLines<R extends ScheduledRequest>(head: NrsHead<R>, cpt: number): RuleLine[] {
  const tbf = head.slot('tbf')?.tbf
  return (tbf?.head.rules ?? []).map(({ name, conditions, rate, ref }) => {
    // The built-in rule is printed as a list if the type's other rules are.
    const text = name === 'default' && tbf?.type.isList ? '{*}' : conditions.text
    return { queue: head.queue, cpt, name, conditions: text, rate, ref }
  })
}
