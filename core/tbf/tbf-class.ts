/** One class ("client" in the kernel): the RPCs of one key, their bucket and the rule they run under. */
import { TokenBucket } from './bucket.ts'
import type { HeapItem } from './deadline-heap.ts'
import type { Rule } from './rule-list.ts'

export class TbfClass<R> implements HeapItem {
  readonly key: string
  readonly id: number
  readonly bucket: TokenBucket
  deadline = 0
  position = -1
  #rule: Rule
  #sequence: number
  #generation: number
  #queue: R[] = []
  #head = 0

  constructor(now: number, key: string, id: number, rule: Rule, sequence: number) {
    this.key = key
    this.id = id
    this.bucket = new TokenBucket(now, rule)
    this.#rule = rule
    this.#sequence = sequence
    this.#generation = rule.generation
    rule.ref++
  }

  get checkTime(): number {
    return this.bucket.checkTime
  }

  get rule(): Rule {
    return this.#rule
  }

  /** Whether a rule was started since the last match, or the rule it has was stopped. */
  mustMatch(sequence: number): boolean {
    return this.#sequence !== sequence || this.#rule.stopped
  }

  /** Takes over the matched rule; the bucket starts full when the rule, or its generation, is another one. */
  follow(now: number, rule: Rule, sequence: number): void {
    this.#sequence = sequence
    if (rule === this.#rule && rule.generation === this.#generation) return
    if (rule !== this.#rule) {
      this.#rule.ref--
      rule.ref++
      this.#rule = rule
    }
    this.#generation = rule.generation
    this.bucket.reset(now, rule)
  }

  /** Detaches from its rule when the class is dropped. */
  drop(): void {
    this.#rule.ref--
  }

  get queued(): number {
    return this.#queue.length - this.#head
  }

  push(request: R): void {
    this.#queue.push(request)
  }

  shift(): R {
    const request = this.#queue[this.#head++] as R
    if (this.#head === this.#queue.length) {
      this.#queue = []
      this.#head = 0
    } else if (this.#head > 256) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    return request
  }
}
