/**
 * Policies in time: which of them are in force at a second after they were loaded. All that are due are taken at once (upstream
 * takes one a cycle); the last of a kind for a job and a scope replaces those before it.
 */
import type { Scope } from '../vocabulary.ts'
import { looksLikeYaml, parsePolicyYaml } from './policy-yaml.ts'
import { isEnforced, type Policy, type PolicyFile, type PolicyKind } from './policy.ts'
import { parsePolicyText } from './policy-text.ts'

/** Reads policies in whichever of the two formats they are written. */
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
  /** By second, those of one second in the order of the file. */
  readonly #inOrder: readonly Policy[]
  #due = 0
  readonly #now = new Map<string, PolicyNow>()
  /** Whose those are: a line may hold several. */
  readonly #last = new Map<string, Policy>()

  constructor(file: PolicyFile) {
    this.file = file
    this.#inOrder = file.policies
      .map((p, i) => ({ p, i }))
      .sort((a, b) => a.p.atS - b.p.atS || a.i - b.i)
      .map(({ p }) => p)
  }

  /** Takes what is due at a second that never goes back. @returns the policies that came into force, in order. */
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

  /** In force since the last call of `advance`. */
  get now(): readonly PolicyNow[] {
    return [...this.#now.values()]
  }

  /** Second of the next one that waits; undefined when none does. */
  get nextS(): number | undefined {
    return this.#inOrder[this.#due]?.atS
  }

  /** Every policy with its state, in the order of the file. */
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
