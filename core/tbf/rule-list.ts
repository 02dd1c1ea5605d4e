/**
 * The rules of one queue on one CPT, in match order: the newest first, `default` last.
 *
 * Source: spec/lustre 2.4. A start bumps the list's sequence, which makes classes look for a better rule at their next
 * RPC; a change of rate bumps the rule's generation, which resets the buckets of its classes; a change of rank does
 * neither, so known classes keep their rule.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import type { Conditions, RequestKey } from './conditions.ts'

export interface Rule {
  readonly name: string
  readonly conditions: Conditions
  rate: number
  readonly depth: number
  readonly realtime: boolean
  /** Bumped by every change of rate, an unchanged one too. */
  generation: number
  /** Classes attached, idle ones included. */
  ref: number
  stopped: boolean
}

export interface RuleDefaults {
  /** Module parameter tbf_rate: rate of `default` and of rules started without one. */
  readonly rate: number
  /** Module parameter tbf_depth. */
  readonly depth: number
}

export const LUSTRE_DEFAULTS: RuleDefaults = { rate: 10_000, depth: 3 }

export class RuleList {
  readonly #defaults: RuleDefaults
  readonly #fallback: Rule
  #rules: Rule[]
  #sequence = 0

  constructor(defaults: RuleDefaults) {
    this.#defaults = defaults
    this.#fallback = this.#make('default', { text: '*', matches: () => true }, defaults.rate, false)
    this.#rules = [this.#fallback]
  }

  get rules(): readonly Rule[] {
    return this.#rules
  }

  /** Number of starts so far; a class that matched at an older one looks again. */
  get sequence(): number {
    return this.#sequence
  }

  #make(name: string, conditions: Conditions, rate: number, realtime: boolean): Rule {
    return { name, conditions, rate, depth: this.#defaults.depth, realtime, generation: 0, ref: 0, stopped: false }
  }

  find(name: string): Rule | undefined {
    return this.#rules.find((r) => r.name === name)
  }

  /** First rule in list order that matches; `default` when none does, wherever it stands. */
  match(request: RequestKey): Rule {
    for (const rule of this.#rules) if (rule !== this.#fallback && rule.conditions.matches(request)) return rule
    return this.#fallback
  }

  /** Places a new rule at the head, or right before `rank`. Errors: EEXIST, ENOENT (rank unknown). */
  start(
    name: string,
    conditions: Conditions,
    options: { rate?: number | undefined; rank?: string | undefined; realtime?: boolean } = {},
  ): Result<Rule, Errno> {
    if (this.find(name)) return fail('EEXIST')
    const at = options.rank === undefined ? 0 : this.#rules.findIndex((r) => r.name === options.rank)
    if (at < 0) return fail('ENOENT')
    const rule = this.#make(name, conditions, options.rate ?? this.#defaults.rate, options.realtime ?? false)
    this.#rules.splice(at, 0, rule)
    this.#sequence++
    return ok(rule)
  }

  /** Changes rate, then rank; a rate that was applied stays when the rank is unknown. Errors: ENOENT. */
  change(name: string, options: { rate?: number | undefined; rank?: string | undefined }): Result<Rule, Errno> {
    const rule = this.find(name)
    if (!rule) return fail('ENOENT')
    if (options.rate !== undefined) {
      rule.rate = options.rate
      rule.generation++
    }
    if (options.rank !== undefined && options.rank !== name) {
      if (!this.find(options.rank)) return fail('ENOENT')
      this.#rules = this.#rules.filter((r) => r !== rule)
      this.#rules.splice(
        this.#rules.findIndex((r) => r.name === options.rank),
        0,
        rule,
      )
    }
    return ok(rule)
  }

  /** Takes a rule off the list; an unknown name is success. Errors: EPERM for `default`. */
  stop(name: string): Result<undefined, Errno> {
    if (name === this.#fallback.name) return fail('EPERM')
    const rule = this.find(name)
    if (rule) {
      rule.stopped = true
      this.#rules = this.#rules.filter((r) => r !== rule)
    }
    return ok(undefined)
  }
}
