/**
 * Schedule of policies: the ones in force at a second after loading. All due policies are applied at once (upstream
 * applies one a cycle); the last of a kind for a job and a scope replaces earlier ones.
 */
import type { Scope } from '../vocabulary.ts'
import { looksLikeYaml, parsePolicyYaml } from './policy-yaml.ts'
import { isEnforced, type Policy, type PolicyFile, type PolicyKind } from './policy.ts'
import { parsePolicyText } from './policy-text.ts'

/** Parses policies in either format. */
export const parsePolicies = (text: string): PolicyFile =>
  looksLikeYaml(text) ? parsePolicyYaml(text) : parsePolicyText(text)

/** A policy that is in force. */
export interface PolicyNow {
  readonly line: number
  readonly kind: PolicyKind
  readonly job: string
  readonly scope: Scope
  readonly value: number
}

export type StepState = 'waiting' | 'active' | 'replaced' | 'unknown-job' | 'ignored'

export interface PolicyStep extends Policy {
  readonly state: StepState
}

const keyOf = (p: Policy): string => JSON.stringify([p.kind, p.scope, p.job])

export class PolicySchedule {
  readonly file: PolicyFile
  /** Sorted by second, within a second by the order of the file. */
  readonly #inOrder: readonly Policy[]
  #due = 0
  readonly #now = new Map<string, PolicyNow>()
  /** Policies already in force as last step; a line may hold several. */
  readonly #last = new Map<string, Policy>()

  constructor(file: PolicyFile) {
    this.file = file
    this.#inOrder = file.policies
      .map((p, i) => ({ p, i }))
      .sort((a, b) => a.p.atS - b.p.atS || a.i - b.i)
      .map(({ p }) => p)
  }

  /**
   * Applies the policies due at a second, which must not decrease. @returns the policies that came into force, in
   * order.
   */
  advance(second: number): Policy[] {
    const due: Policy[] = []
    for (let p = this.#inOrder[this.#due]; p && p.atS <= second; p = this.#inOrder[++this.#due]) {
      due.push(p)
      if (!isEnforced(p)) continue
      const { line, kind, job, scope, value } = p
      this.#now.set(keyOf(p), { line, kind, job, scope, value })
      this.#last.set(keyOf(p), p)
    }
    return due
  }

  /** Policies in force since the last call of `advance`. */
  get now(): readonly PolicyNow[] {
    return [...this.#now.values()]
  }

  /** Second of the next pending policy; undefined if there is none. */
  get nextS(): number | undefined {
    return this.#inOrder[this.#due]?.atS
  }

  /** Returns every policy with its state, in the order of the file. */
  steps(isKnown: (job: string) => boolean): PolicyStep[] {
    const taken = new Set(this.#inOrder.slice(0, this.#due))
    return this.file.policies.map((p) => ({ ...p, state: this.#stateOf(p, taken.has(p), isKnown) }))
  }

  #stateOf(p: Policy, isTaken: boolean, isKnown: (job: string) => boolean): StepState {
    if (!isEnforced(p)) return 'ignored'
    if (!isTaken) return 'waiting'
    if (this.#last.get(keyOf(p)) !== p) return 'replaced'
    return isKnown(p.job) ? 'active' : 'unknown-job'
  }
}
