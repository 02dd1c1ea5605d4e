/** The policy file of metadata control: its faults, its steps in time, and what of it is in force at an instant. */
import type { PolicyInForce } from '#core/padll/mds/shares.ts'
import { parsePolicies, PolicySchedule } from '#core/padll/rules/policy-schedule.ts'
import type { RuleFault } from '#core/padll/rules/rule-fault.ts'
import type { MetadataStep } from './state.ts'

export interface PoliciesAt {
  readonly steps: readonly MetadataStep[]
  readonly inForce: readonly PolicyInForce[]
  /** Until the next step is due, s; null: none is waiting. */
  readonly nextInS: number | null
}

export const NO_POLICIES: PoliciesAt = { steps: [], inForce: [], nextInS: null }

/** A policy file and where it stands; its time never goes back. */
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
   * Takes what is due.
   *
   * @param atS  seconds since the policies were put in force.
   * @returns    what is in force: the very list of the last call while nothing changed.
   */
  advance(atS: number): readonly PolicyInForce[] {
    const due = this.#schedule.advance(atS)
    if (due.length > 0) this.#inForce = this.#schedule.now
    return this.#inForce
  }

  /** @param isKnown  whether a job was seen. */
  at(atS: number, isKnown: (job: string) => boolean): PoliciesAt {
    const inForce = this.advance(atS)
    const { nextS } = this.#schedule
    const nextInS = nextS === undefined ? null : Math.max(0, nextS - atS)
    return { steps: this.#schedule.steps(isKnown), inForce, nextInS }
  }
}

/** A text of policies, at its second 0. */
export const readPolicies = (text: string): MetadataPolicies => new MetadataPolicies(text)
