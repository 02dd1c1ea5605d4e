/**
 * The rules of one queue on one CPT, in match order: the newest first, `default` last.
 *
 * Source: spec/lustre 2.4. A start bumps the list's sequence, which makes classes look for a better rule at their next RPC; a
 * change of rate bumps the rule's generation, which resets the buckets of its classes; a change of rank does neither, so known
 * classes keep their rule.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import { BucketTerms } from './bucket.ts'
import type { Conditions, RequestKey } from './conditions.ts'

export interface Rule {
  readonly name: string
  readonly conditions: Pick<Conditions, 'text' | 'matches' | 'jobIds'>
  rate: number
  readonly depth: number
  readonly realtime: boolean
  /** Bumped by every change of rate, even to the same value. */
  generation: number
  /** Classes attached, idle ones included. */
  ref: number
  stopped: boolean
  /** Bucket terms since the last change of the rule; created on first use. */
  terms: RuleTerms | undefined
  /** Sort key: smaller for rules earlier in the list. */
  place: number
}

/** A rule's setting at one of its generations. */
export class RuleTerms extends BucketTerms {
  readonly rule: Rule
  readonly generation: number

  constructor(rule: Rule) {
    super(rule)
    this.rule = rule
    this.generation = rule.generation
  }
}

export interface RuleDefaults {
  /** Module parameter tbf_rate: rate of `default` and of rules started without one. */
  readonly rate: number
  /** Module parameter tbf_depth. */
  readonly depth: number
}

export const LUSTRE_DEFAULTS: RuleDefaults = { rate: 10_000, depth: 3 }

const NEW = { generation: 0, ref: 0, stopped: false, terms: undefined, place: 0 }

/** Bytes kept of a name; only releases that do not check names can have longer ones. */
const NAME_MAX = 15

/**
 * Index for `match`: for each job the first rule that names exactly this job, and all rules with other conditions, in order.
 */
interface MatchIndex {
  readonly byJob: Map<string, Rule>
  readonly others: readonly Rule[]
  /** True if two rules name the same job. */
  hasHidden: boolean
}

export class RuleList {
  readonly #defaults: RuleDefaults
  readonly #fallback: Rule
  /**
   * The list in reverse order, so that a start is a push; stopped rules are purged when they are half of it or the whole list
   * is read.
   */
  #backwards: Rule[]
  #stopped = 0
  /** The list in match order, cached until the next change. */
  #forwards: readonly Rule[] | undefined
  #sequence = 0
  #index: MatchIndex | undefined
  readonly #byName = new Map<string, Rule>()
  /** True if truncation made two names equal; the first in the list is meant then. */
  #hasTwins = false

  /** @param defaults  read at every start, so that they can be changed in place. */
  constructor(defaults: RuleDefaults) {
    this.#defaults = defaults
    this.#fallback = this.#make('default', { text: '*', matches: () => true }, defaults.rate, false)
    this.#backwards = [this.#fallback]
    this.#byName.set(this.#fallback.name, this.#fallback)
  }

  get rules(): readonly Rule[] {
    return (this.#forwards ??= this.#current().toReversed())
  }

  #current(): Rule[] {
    if (this.#stopped > 0) this.#backwards = this.#backwards.filter((r) => !r.stopped)
    this.#stopped = 0
    return this.#backwards
  }

  /** Number of starts so far; a class that matched at an older one matches again. */
  get sequence(): number {
    return this.#sequence
  }

  #make(name: string, conditions: Rule['conditions'], rate: number, realtime: boolean): Rule {
    const { depth } = this.#defaults
    return { name: name.slice(0, NAME_MAX), conditions, rate, depth, realtime, ...NEW }
  }

  find(name: string): Rule | undefined {
    return this.#hasTwins ? this.rules.find((r) => r.name === name) : this.#byName.get(name)
  }

  /**
   * First rule in list order that matches; `default` if none does, wherever `default` is.
   *
   * @complexity O(rules with conditions other than single job ids), independent of the number of single-job rules.
   */
  match(request: RequestKey): Rule {
    const { byJob, others } = (this.#index ??= this.#makeIndex())
    const named = byJob.get(request.jobId)
    for (const rule of others) {
      if (named && rule.place > named.place) break
      if (rule.conditions.matches(request)) return rule
    }
    return named ?? this.#fallback
  }

  #makeIndex(): MatchIndex {
    const index = { byJob: new Map<string, Rule>(), others: [] as Rule[], hasHidden: false }
    for (const [place, rule] of this.rules.entries()) {
      rule.place = place
      const { jobIds } = rule.conditions
      if (rule === this.#fallback) continue
      if (!jobIds) index.others.push(rule)
      else
        for (const id of jobIds)
          if (index.byJob.has(id)) index.hasHidden = true
          else index.byJob.set(id, rule)
    }
    return index
  }

  /**
   * Inserts a rule at the head or before another one; the index is updated if it becomes the first and names single jobs, else
   * discarded.
   */
  #insert(rule: Rule, before: Rule | undefined): void {
    const list = before ? this.#current() : this.#backwards
    const first = list.at(-1) as Rule
    if (before && before !== first) list.splice(list.indexOf(before) + 1, 0, rule)
    else list.push(rule)
    this.#forwards = undefined
    const index = this.#index
    const { jobIds } = rule.conditions
    if (!index || (before && before !== first) || !jobIds) {
      this.#index = undefined
      return
    }
    rule.place = first.place - 1
    for (const id of jobIds) {
      index.hasHidden ||= index.byJob.has(id)
      index.byJob.set(id, rule)
    }
  }

  /**
   * Removes a rule from the list; the index is updated if the rule names single jobs and hides no other one, else discarded.
   */
  #remove(rule: Rule): void {
    this.#forwards = undefined
    if (!rule.stopped) this.#backwards.splice(this.#backwards.indexOf(rule), 1)
    else if (++this.#stopped * 2 > this.#backwards.length) this.#current()
    const { jobIds } = rule.conditions
    if (this.#index?.hasHidden || !jobIds) this.#index = undefined
    else for (const id of jobIds) this.#index?.byJob.delete(id)
  }

  /** Places a new rule at the head, or right before `rank`. Errors: EEXIST, ENOENT (rank unknown). */
  start(
    name: string,
    conditions: Rule['conditions'],
    options: { rate?: number | undefined; rank?: string | undefined; realtime?: boolean } = {},
  ): Result<Rule, Errno> {
    if (this.find(name)) return fail('EEXIST')
    const before = options.rank === undefined ? undefined : this.find(options.rank)
    if (options.rank !== undefined && !before) return fail('ENOENT')
    const rule = this.#make(name, conditions, options.rate ?? this.#defaults.rate, options.realtime ?? false)
    this.#hasTwins ||= this.#byName.has(rule.name)
    this.#byName.set(rule.name, rule)
    this.#insert(rule, before)
    this.#sequence++
    return ok(rule)
  }

  /** Changes rate, then rank; the rate change persists if the rank is unknown. Errors: ENOENT. */
  change(name: string, options: { rate?: number | undefined; rank?: string | undefined }): Result<Rule, Errno> {
    const rule = this.find(name)
    if (!rule) return fail('ENOENT')
    if (options.rate !== undefined) {
      rule.rate = options.rate
      rule.generation++
    }
    if (options.rank !== undefined && options.rank !== name) {
      const before = this.find(options.rank)
      if (!before) return fail('ENOENT')
      this.#remove(rule)
      this.#insert(rule, before)
    }
    return ok(rule)
  }

  /** Removes a rule; an unknown name is a success. Errors: EPERM for `default`. */
  stop(name: string): Result<undefined, Errno> {
    if (name === this.#fallback.name) return fail('EPERM')
    const rule = this.find(name)
    if (rule) {
      rule.stopped = true
      this.#byName.delete(name)
      this.#remove(rule)
    }
    return ok(undefined)
  }
}
