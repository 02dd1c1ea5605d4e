/** Policy file of metadata control: its faults, its steps over time, and the policies in force at a time. */
import type { PolicyInForce } from '#core/padll/mds/shares.ts'
import { parsePolicies, PolicySchedule } from '#core/padll/rules/policy-schedule.ts'
import type { RuleFault } from '#core/padll/rules/rule-fault.ts'
import type { MetadataStep } from './state.ts'

export interface PoliciesAt {
  readonly steps: readonly MetadataStep[]
  readonly inForce: readonly PolicyInForce[]
  /** Time until the next step, s; null if none is waiting. */
  readonly nextInS: number | null
}

export const NO_POLICIES: PoliciesAt = { steps: [], inForce: [], nextInS: null }

/** A policy file and its current position; its time never goes back. */
export class MetadataPolicies {
  readonly #schedule: PolicySchedule
  #inForce: readonly PolicyInForce[] = []

  constructor(text: string) {
    this.#schedule = new PolicySchedule(parsePolicies(text))
  }

  get faults(): readonly RuleFault[] {
    return this.#schedule.file.faults
  }

  /**
   * Applies the steps that are due.
   *
   * @param atS  seconds since the policies were applied.
   * @returns    policies in force: the same list as in the last call while nothing changed.
   */
  advance(atS: number): readonly PolicyInForce[] {
    const due = this.#schedule.advance(atS)
    if (due.length > 0) this.#inForce = this.#schedule.now
    return this.#inForce
  }

  /** @param isKnown  true for a job that was seen. */
  at(atS: number, isKnown: (job: string) => boolean): PoliciesAt {
    const inForce = this.advance(atS)
    const { nextS } = this.#schedule
    const nextInS = nextS === undefined ? null : Math.max(0, nextS - atS)
    return { steps: this.#schedule.steps(isKnown), inForce, nextInS }
  }
}

/** Parses policies, at second 0. */
export const readPolicies = (text: string): MetadataPolicies => new MetadataPolicies(text)
