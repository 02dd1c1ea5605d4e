/**
 * The TBF policy on one queue of one CPT: classifies RPCs, keeps one bucket per class, and releases them by deadline.
 *
 * Source: spec/lustre 2.1-2.4. Only the class at the heap's root is examined: while it has no token the whole head is throttled
 * until a one-shot timer at its C + N. Effects of an arrival on a throttled head:
 * - a class that was idle moves the timer to its own deadline, if that is earlier, and is not released before: a new class of
 *   R RPC/s gets its burst 1/R later, an unlimited one 0.1 ms later, one that idled for 1/R when the timer can fire. No class
 *   loses any of its rate by this (part 2, 5); an unlimited neighbor pays the timer's latency (part 2, 8: 1100 instead of
 *   1300/s). One with a later deadline waits for the timer (part 2, 5: 84, 81, 81 RPCs of three equal jobs);
 * - a class that is reset and is the root is released at once. spec/lustre does not mention this, but servers do it: 3 RPCs within
 *   20 ms of the first arrival after a change (part 2, 3); 19 and 17 RPCs in the second in which a class came from 5/s to 20/s
 *   (part 2, 4), where waiting for the old timer would give 16 and 13.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import { ClassIndex, type ClassKey } from './class-index.ts'
import { parseConditions } from './conditions.ts'
import { DeadlineHeap } from './deadline-heap.ts'
import { IdleList } from './idle-list.ts'
import type { Field, RequestKey } from './request-key.ts'
import type { RuleCommand } from './rule-command.ts'
import { LUSTRE_DEFAULTS, RuleList, RuleTerms, type Rule } from './rule-list.ts'
import { TbfClass } from './tbf-class.ts'
import { JOBID_CACHE_SIZE, type TbfModule } from './tbf-module.ts'

export class TbfHead<R extends RequestKey> {
  readonly fields: readonly Field[]
  readonly #module: TbfModule
  readonly #rules: RuleList
  readonly #classes: ClassIndex<TbfClass<R>>
  /** Classes by number; numbers of dropped ones are reused. */
  readonly #numbered: (TbfClass<R> | undefined)[] = []
  readonly #keys: ClassKey[] = []
  readonly #free: number[] = []
  readonly #idle = new IdleList()
  readonly #heap = new DeadlineHeap()
  #queued = 0
  /** Time that the timer was last set for, and time at which it fires; the head is throttled before that. */
  #timerAt = 0
  #firesAt = 0

  /**
   * @param fields  the TBF type: fields of a class key and of rule conditions.
   * @param module  read live, except the rate and depth of existing rules.
   */
  constructor(fields: readonly Field[], module: TbfModule = LUSTRE_DEFAULTS) {
    this.fields = fields
    this.#module = module
    this.#rules = new RuleList(module)
    this.#classes = new ClassIndex(fields)
  }

  get rules(): RuleList['rules'] {
    return this.#rules.rules
  }

  /** RPCs waiting in all classes. */
  get queued(): number {
    return this.#queued
  }

  /**
   * Earliest time at which `dequeue` can succeed, not after now if it can now; Infinity when nothing is queued. A caller with
   * an idle service thread sets its timer to this; the latency of the server's own timer is included.
   */
  get wakeAt(): number {
    return this.#queued === 0 ? Infinity : this.#firesAt
  }

  /** Executes a rule command on this head. Errors as in spec/lustre 1.2. */
  command(c: RuleCommand): Result<undefined, Errno> {
    if (c.verb === 'stop') return this.#rules.stop(c.name)
    if (c.verb === 'change') {
      const changed = this.#rules.change(c.name, c)
      return changed.ok ? ok(undefined) : changed
    }
    const read = c.parsed ? ok(c.parsed) : parseConditions(c.conditions, this.fields)
    if (!read.ok) return fail(read.error.errno)
    const started = this.#rules.start(c.name, read.value, c)
    return started.ok ? ok(undefined) : started
  }

  /**
   * Adds an arriving RPC to its class.
   *
   * @complexity O(log of the classes that have RPCs waiting); allocates nothing for a known class.
   */
  enqueue(now: number, request: R): void {
    const c = this.#classes.get(request) ?? this.#admit(now, request)
    const { terms, isEmpty } = c
    if (c.mustMatch(this.#rules.sequence))
      c.follow(now, this.#termsOf(this.#rules.match(request)), this.#rules.sequence)
    else if (c.isOutdated) c.follow(now, this.#termsOf(terms.rule), this.#rules.sequence)
    c.push(request)
    this.#queued++
    if (isEmpty) this.#wake(now, c)
    else if (c.terms !== terms && this.#heap.root === c.id) this.#firesAt = 0
  }

  /** Adds an idle class to the heap. */
  #wake(now: number, c: TbfClass<R>): void {
    this.#idle.remove(c.id)
    const deadline = c.due
    this.#heap.insert(c.id, deadline, c.checkTime)
    if (now < this.#firesAt && deadline < this.#timerAt) this.#setTimer(now, deadline)
  }

  /**
   * Releases the next RPC that has a token.
   *
   * @param force  draining: at least one RPC per call, tokens or not, throttled or not.
   * @returns      undefined when nothing is queued or the head is throttled until `wakeAt`.
   * @complexity   O(log of the classes that have RPCs waiting); allocates nothing.
   */
  dequeue(now: number, force = false): R | undefined {
    if (now < this.#firesAt && !force) return undefined
    for (;;) {
      const { root } = this.#heap
      if (root < 0) return undefined
      const c = this.#numbered[root] as TbfClass<R>
      if (c.take(now, force)) return this.#release(now, c)
      const { due } = c
      if (c.terms.realtime && this.#heap.rootDeadline !== due) {
        this.#heap.moveRoot(due, c.checkTime)
        if (this.#heap.root !== root) continue
      }
      this.#setTimer(now, due)
      // At C + N the floor may still give no token (R that does not divide 1e9): the timer fires again, at least 1 ns later.
      if (this.#firesAt === now) this.#firesAt++
      return undefined
    }
  }

  /** Removes and returns the oldest RPC of the root, which has a token for it. */
  #release(now: number, c: TbfClass<R>): R {
    const request = c.shift()
    this.#queued--
    if (c.isEmpty) {
      this.#heap.removeRoot()
      this.#idle.add(c.id)
      this.#forgetIdle()
    } else this.#heap.moveRoot(c.terms.realtime ? this.#heap.rootDeadline : now + c.terms.nsPerToken, c.checkTime)
    return request
  }

  #setTimer(now: number, at: number): void {
    this.#timerAt = at
    this.#firesAt = Math.max(at, now) + (this.#module.timerLatencyNs ?? 0)
  }

  /** Current terms of a rule's classes: one shared object. */
  #termsOf(rule: Rule): RuleTerms {
    if (rule.terms?.generation !== rule.generation) rule.terms = new RuleTerms(rule)
    return rule.terms
  }

  #admit(now: number, request: R): TbfClass<R> {
    const id = this.#free.pop() ?? this.#numbered.length
    const c = new TbfClass<R>(now, id, this.#termsOf(this.#rules.match(request)), this.#rules.sequence)
    this.#keys[id] = this.#classes.add(request, c)
    this.#numbered[id] = c
    this.#idle.add(id)
    return c
  }

  /** Evicts the oldest idle classes above the cache size, down to three quarters of it. */
  #forgetIdle(): void {
    const most = this.#module.jobidCacheSize ?? JOBID_CACHE_SIZE
    if (this.#idle.size <= most) return
    while (this.#idle.size > (most * 3) / 4) {
      const id = this.#idle.oldest
      const c = this.#numbered[id] as TbfClass<R>
      this.#idle.remove(id)
      this.#classes.remove(this.#keys[id] as ClassKey)
      c.drop()
      this.#numbered[id] = undefined
      this.#free.push(id)
    }
  }
}
