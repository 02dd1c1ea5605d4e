/** One class ("client" in the kernel): a bucket with the RPCs of one key, under the terms of its rule. */
import { TokenBucket } from './bucket.ts'
import { Ring } from '../base/ring.ts'
import type { RuleTerms } from './rule-list.ts'

// It is a bucket rather than has one, and shares its terms: with thousands of classes, every cache line of one counts.
export class TbfClass<R> extends TokenBucket<RuleTerms> {
  /** Its number in the head; given again when it is dropped. */
  readonly id: number
  #sequence: number
  /** The RPC that goes next; the ring behind it is made for the second one. */
  #next: R | undefined
  #behind: Ring<R> | undefined

  constructor(now: number, id: number, terms: RuleTerms, sequence: number) {
    super(now, terms)
    this.id = id
    this.#sequence = sequence
    terms.rule.ref++
  }

  /** Whether a rule was started since the last match, or the rule it has was stopped. */
  mustMatch(sequence: number): boolean {
    return this.#sequence !== sequence || this.terms.rule.stopped
  }

  /** Whether the rule it has was changed since. */
  get isOutdated(): boolean {
    return this.terms.generation !== this.terms.rule.generation
  }

  /** Notes that it was matched; its bucket starts full when the terms are other ones. */
  follow(now: number, terms: RuleTerms, sequence: number): void {
    this.#sequence = sequence
    if (terms === this.terms) return
    this.terms.rule.ref--
    terms.rule.ref++
    this.reset(now, terms)
  }

  /** Detaches from its rule when the class is dropped. */
  drop(): void {
    this.terms.rule.ref--
  }

  get isEmpty(): boolean {
    return this.#next === undefined
  }

  push(request: R): void {
    if (this.#next === undefined) this.#next = request
    else (this.#behind ??= new Ring<R>()).push(request)
  }

  /** Takes the oldest RPC of a class that has one. */
  shift(): R {
    const request = this.#next as R
    this.#next = this.#behind?.shift()
    return request
  }
}
