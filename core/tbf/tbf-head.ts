/**
 * The TBF policy on one queue of one CPT: classifies RPCs, keeps one bucket per class, and releases them by deadline.
 *
 * Source: spec/lustre 2.1-2.4. Only the class at the heap's root is examined: while it has no token the whole head is
 * throttled until the timer at its C + N, or until a class with an earlier deadline arrives.
 */
import { ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import { classKey, parseConditions, type Field, type RequestKey } from './conditions.ts'
import { DeadlineHeap } from './deadline-heap.ts'
import type { RuleCommand } from './rule-command.ts'
import { LUSTRE_DEFAULTS, RuleList, type RuleDefaults } from './rule-list.ts'
import { TbfClass } from './tbf-class.ts'

/** Idle classes kept with their tokens; beyond it the oldest go, down to three quarters (tbf_jobid_cache_size). */
const IDLE_MAX = 8192

export class TbfHead<R extends RequestKey> {
  readonly fields: readonly Field[]
  readonly #rules: RuleList
  readonly #classes = new Map<string, TbfClass<R>>()
  /** Idle classes by key, the one idle for longest first. */
  readonly #idle = new Map<string, TbfClass<R>>()
  readonly #heap = new DeadlineHeap<TbfClass<R>>()
  #queued = 0
  #nextId = 0
  #wakeAt = 0

  /** @param fields  the TBF type: what makes a class key and what rules may match by. */
  constructor(fields: readonly Field[], defaults: RuleDefaults = LUSTRE_DEFAULTS) {
    this.fields = fields
    this.#rules = new RuleList(defaults)
  }

  get rules(): RuleList['rules'] {
    return this.#rules.rules
  }

  /** RPCs waiting in all classes. */
  get queued(): number {
    return this.#queued
  }

  /**
   * Earliest instant at which `dequeue` can succeed: 0 when it may now, Infinity when nothing is queued.
   * A caller with an idle service thread sets its timer to this.
   */
  get wakeAt(): number {
    return this.#queued === 0 ? Infinity : this.#wakeAt
  }

  /** Carries out a rule command on this head. Errors as in spec/lustre 1.2. */
  command(c: RuleCommand): Result<undefined, Errno> {
    if (c.verb === 'stop') return this.#rules.stop(c.name)
    if (c.verb === 'change') {
      const changed = this.#rules.change(c.name, c)
      return changed.ok ? ok(undefined) : changed
    }
    const conditions = parseConditions(c.conditions, this.fields)
    if (!conditions.ok) return conditions
    const started = this.#rules.start(c.name, conditions.value, c)
    return started.ok ? ok(undefined) : started
  }

  /** Takes an arriving RPC into its class. */
  enqueue(now: number, request: R): void {
    const key = classKey(this.fields, request)
    let c = this.#classes.get(key)
    if (!c) {
      c = new TbfClass<R>(now, key, this.#nextId++, this.#rules.match(request), this.#rules.sequence)
      this.#classes.set(key, c)
    } else {
      this.#idle.delete(key)
      const rule = c.mustMatch(this.#rules.sequence) ? this.#rules.match(request) : c.rule
      c.follow(now, rule, this.#rules.sequence)
      if (c.position >= 0) this.#heap.resift(c)
    }
    c.push(request)
    this.#queued++
    if (c.position < 0) {
      c.deadline = c.bucket.due
      this.#heap.insert(c)
    }
    // A class that became the root may have a token although the head was throttled on another one.
    if (this.#heap.root === c) this.#wakeAt = 0
  }

  /**
   * Releases the next RPC that has a token.
   *
   * @param force  draining: at least one RPC per call, tokens or not.
   * @returns      undefined when nothing is queued or the head is throttled until `wakeAt`.
   */
  dequeue(now: number, force = false): R | undefined {
    for (;;) {
      const c = this.#heap.root
      if (!c) return undefined
      if (c.bucket.take(now, force)) {
        const request = c.shift()
        this.#queued--
        if (c.queued > 0) {
          if (!c.bucket.realtime) c.deadline = now + c.bucket.nsPerToken
          this.#heap.resift(c)
        } else {
          this.#heap.remove(c)
          this.#idle.set(c.key, c)
          if (this.#idle.size > IDLE_MAX) this.#forgetIdle()
        }
        this.#wakeAt = 0
        return request
      }
      if (c.bucket.realtime && c.deadline !== c.bucket.due) {
        c.deadline = c.bucket.due
        this.#heap.resift(c)
        if (this.#heap.root !== c) continue
      }
      // At C + N the floor may still give no token (R that does not divide 1e9): then a later ns is due.
      this.#wakeAt = Math.max(c.bucket.due, now + 1)
      return undefined
    }
  }

  #forgetIdle(): void {
    for (const [key, c] of this.#idle) {
      if (this.#idle.size <= (IDLE_MAX * 3) / 4) break
      this.#idle.delete(key)
      this.#classes.delete(key)
      c.drop()
    }
  }
}
