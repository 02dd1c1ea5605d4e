/** One class ("client" in the kernel): a bucket with the RPCs of one key, under the terms of its rule. */
import { TokenBucket } from './bucket.ts'
import { Ring } from '../base/ring.ts'
import type { RuleTerms } from './rule-list.ts'

// A class extends its bucket instead of owning one, and shares its terms: with thousands of classes, every cache line counts.
export class TbfClass<R> extends TokenBucket<RuleTerms> {
  /** Number in the head; reused after the class is dropped. */
  readonly id: number
  #sequence: number
  /** The next RPC; the ring behind it is created for the second one. */
  #next: R | undefined
  #behind: Ring<R> | undefined

  constructor(now: number, id: number, terms: RuleTerms, sequence: number) {
    super(now, terms)
    this.id = id
    this.#sequence = sequence
    terms.rule.ref++
  }

  /** True if a rule was started since the last match, or its rule was stopped. */
  mustMatch(sequence: number): boolean {
    return this.#sequence !== sequence || this.terms.rule.stopped
  }

  /** True if its rule was changed since the last match. */
  get isOutdated(): boolean {
    return this.terms.generation !== this.terms.rule.generation
  }

  /** Records a match; resets the bucket to full if the terms changed. */
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

  /** Takes the oldest RPC of a non-empty class. */
  shift(): R {
    const request = this.#next as R
    this.#next = this.#behind?.shift()
    return request
  }
}
