/**
 * The network request scheduler of one ptlrpc service (`ost.OSS.ost_io`): its heads for every CPT and queue, the values
 * of `nrs_policies` and `nrs_tbf_rule`, and the writes to them.
 *
 * Source: spec/lustre 1.1, 1.2, 3.1, 3.2. A write walks CPT 0 reg, CPT 0 hp, CPT 1 reg, ...; a failure aborts the walk and
 * the heads before it keep the new state, as on running servers.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import { formatNrsPolicies, type PolicyStatus, type Queue } from '../lustre/nrs-policies.ts'
import { formatCptTitle, formatQueueTitle, formatRuleLine } from '../lustre/nrs-tbf-rule.ts'
import { isField, parseConditions, type Field, type RequestKey } from './conditions.ts'
import { NrsHead } from './nrs-head.ts'
import { parseRuleCommand } from './rule-command.ts'
import { LUSTRE_DEFAULTS, type RuleDefaults } from './rule-list.ts'
import { TbfHead } from './tbf-head.ts'

/** Policies registered on ost_io, in print order. */
const POLICIES = ['fifo', 'crrn', 'orr', 'trr', 'tbf', 'delay'] as const
/** The kernel keeps a policy's argument in 16 bytes with the NUL. */
const ARG_MAX = 15

export interface ServiceOptions {
  readonly cpts: number
  /** Whether the service has a high-priority queue. */
  readonly hp: boolean
  readonly defaults?: RuleDefaults
}

/** Reads the argument of `tbf`: `jobid`, `nid`, or several joined by `+`; an empty name ends the list. */
export function parseTbfType(arg: string): Result<readonly Field[], Errno> {
  if (arg.length > ARG_MAX) return fail('EINVAL')
  const fields: Field[] = []
  for (const name of arg.split('+')) {
    if (name === '' && fields.length > 0) break
    if (!isField(name)) return fail('EINVAL')
    if (!fields.includes(name)) fields.push(name)
  }
  return ok(fields)
}

const isSameType = (a: readonly Field[], b: readonly Field[] | undefined): boolean =>
  a.length === b?.length && a.every((f) => b.includes(f))

export class NrsService<R extends RequestKey> {
  readonly #heads: { readonly cpt: number; readonly queue: Queue; readonly head: NrsHead<R>; active: number }[] = []
  readonly #defaults: RuleDefaults
  readonly cpts: number
  readonly #hp: boolean
  readonly #types = new Map<NrsHead<R>, string>()

  constructor(options: ServiceOptions) {
    this.cpts = options.cpts
    this.#hp = options.hp
    this.#defaults = options.defaults ?? LUSTRE_DEFAULTS
    const queues: Queue[] = options.hp ? ['reg', 'hp'] : ['reg']
    for (let cpt = 0; cpt < options.cpts; cpt++) {
      for (const queue of queues) this.#heads.push({ cpt, queue, head: new NrsHead<R>(), active: 0 })
    }
  }

  #at(cpt: number, queue: Queue): { head: NrsHead<R>; active: number } {
    return this.#heads[this.#hp ? cpt * 2 + (queue === 'hp' ? 1 : 0) : cpt] as { head: NrsHead<R>; active: number }
  }

  enqueue(now: number, cpt: number, queue: Queue, request: R): void {
    this.#at(cpt, queue).head.enqueue(now, request)
  }

  /** Takes the next RPC of a CPT, high priority first; the caller reports its end with `finished`. */
  dequeue(now: number, cpt: number): { request: R; queue: Queue } | undefined {
    for (const queue of this.#hp ? (['hp', 'reg'] as const) : (['reg'] as const)) {
      const h = this.#at(cpt, queue)
      const request = h.head.dequeue(now)
      if (request) {
        h.active++
        return { request, queue }
      }
    }
    return undefined
  }

  finished(cpt: number, queue: Queue): void {
    this.#at(cpt, queue).active--
  }

  /** Earliest instant at which `dequeue` of this CPT can succeed; Infinity when nothing is queued. */
  wakeAt(cpt: number): number {
    return Math.min(this.#at(cpt, 'reg').head.wakeAt, this.#hp ? this.#at(cpt, 'hp').head.wakeAt : Infinity)
  }

  /** RPCs waiting in all heads. */
  get queued(): number {
    return this.#heads.reduce(
      (n, { head }) => n + head.fifoQueued + (head.tbf?.queued ?? 0) + (head.draining?.queued ?? 0),
      0,
    )
  }

  /** Value of nrs_policies: sums over CPTs, states of CPT 0. */
  readPolicies(): string {
    const out: PolicyStatus[] = []
    for (const queue of this.#hp ? (['reg', 'hp'] as const) : (['reg'] as const)) {
      const mine = this.#heads.filter((h) => h.queue === queue)
      const first = mine[0] as (typeof mine)[number]
      const sum = (of: (h: (typeof mine)[number]) => number): number => mine.reduce((n, h) => n + of(h), 0)
      const active = sum((h) => h.active)
      for (const name of POLICIES) {
        const tbf = name === 'tbf'
        const state =
          name === 'fifo' || (tbf && first.head.tbf) ? 'started' : tbf && first.head.draining ? 'stopping' : 'stopped'
        const running = tbf && state !== 'stopped'
        const serves = first.head.tbf ? tbf : name === 'fifo'
        out.push({
          queue,
          name,
          arg: running ? (this.#types.get(first.head) ?? '') : '',
          state,
          fallback: name === 'fifo',
          queued: tbf
            ? sum((h) => (h.head.tbf?.queued ?? 0) + (h.head.draining?.queued ?? 0))
            : name === 'fifo'
              ? sum((h) => h.head.fifoQueued)
              : 0,
          active: serves ? active : 0,
        })
      }
    }
    return formatNrsPolicies(out)
  }

  /** Value of nrs_tbf_rule; ENODEV unless the last queue runs TBF, EAGAIN while its TBF is stopping. */
  readRules(): Result<string, Errno> {
    let out = ''
    let last: Errno | undefined
    for (const queue of this.#hp ? (['reg', 'hp'] as const) : (['reg'] as const)) {
      out += formatQueueTitle(queue)
      last = 'ENODEV'
      for (const h of this.#heads.filter((x) => x.queue === queue)) {
        const tbf = h.head.tbf
        if (!tbf) {
          if (h.head.draining) last = 'EAGAIN'
          continue
        }
        last = undefined
        out += formatCptTitle(h.cpt)
        for (const r of tbf.rules) {
          out += formatRuleLine({ name: r.name, conditions: r.conditions.text, rate: r.rate, ref: r.ref })
        }
      }
    }
    return last === undefined ? ok(out) : fail(last)
  }

  /** Writes nrs_policies: `fifo` or `tbf TYPE`, with `reg` or `hp` before the argument. */
  writePolicies(value: string): Result<undefined, Errno> {
    const words = value.split(' ')
    const name = words[0] ?? ''
    const selector = words[1] === 'reg' || words[1] === 'hp' ? words[1] : undefined
    const arg = words.slice(selector ? 2 : 1).join(' ')
    if (name.length > ARG_MAX) return fail('EINVAL')
    if (!(POLICIES as readonly string[]).includes(name)) return fail('ENOENT')
    if (selector === 'hp' && !this.#hp) return fail('ENODEV')
    if (name !== 'fifo' && name !== 'tbf') return fail('EINVAL')
    const fields = name === 'tbf' ? parseTbfType(arg) : undefined
    if (fields && !fields.ok) return fields
    for (const h of this.#heads.filter((x) => selector === undefined || x.queue === selector)) {
      // The same policy with the same argument is success and keeps the rules.
      if (fields && h.head.tbf && this.#types.get(h.head) === arg) continue
      // A policy that is stopping takes no orders; a second one to drain would be lost.
      if (h.head.draining && (fields || h.head.tbf)) return fail('EAGAIN')
      h.head.select(fields ? new TbfHead<R>(fields.value, this.#defaults) : undefined)
      if (fields) this.#types.set(h.head, arg)
    }
    return ok(undefined)
  }

  /** Writes nrs_tbf_rule. Errors as in spec/lustre 1.2; heads walked before the failing one keep the change. */
  writeRule(value: string): Result<undefined, Errno> {
    const command = parseRuleCommand(value)
    if (!command.ok) return command
    const { queue, verb } = command.value
    if (queue === 'hp' && !this.#hp) return fail('ENODEV')
    const targets = this.#heads.filter((x) => queue === undefined || x.queue === queue)
    // A start is read under the type of the last queue before any head sees it; heads of another type refuse it.
    const type = targets.at(-1)?.head.tbf?.fields
    if (verb === 'start') {
      if (!type) return fail('EINVAL')
      const conditions = parseConditions(command.value.conditions, type)
      if (!conditions.ok) return conditions
    }
    for (const { head } of targets) {
      if (!head.tbf) return fail(verb === 'start' ? 'EINVAL' : head.draining ? 'EAGAIN' : 'ENODEV')
      if (verb === 'start' && !isSameType(head.tbf.fields, type)) return fail('EINVAL')
      const done = head.tbf.command(command.value)
      if (!done.ok) return done
    }
    return ok(undefined)
  }
}
