/**
 * Made-up controller that gives every active job the same rate. Tests add it to the registry to check that all code finds
 * controllers there.
 */
import type { ControllerDefinition } from '#core/controllers/definitions.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { Controller, Decision, Observation } from '#core/control/controller.ts'
import type { ControllerName, RulingController } from '#core/controllers/registry.ts'

/** Typed as an existing controller, since the types allow no other name. */
export const EQUAL = 'evenly' as RulingController

export const EQUAL_DEFINITION = {
  name: EQUAL,
  title: 'Even rates',
  summary: 'the same rate for every active job',
  about: 'Every job that was active gets the same part of the rate.',
  rulePrefix: 'ev',
} satisfies ControllerDefinition & { name: ControllerName }

export class EqualController implements Controller {
  readonly name = EQUAL
  readonly #maxRatePerSec: number

  constructor({ maxRatePerSec }: { readonly maxRatePerSec: number }) {
    this.#maxRatePerSec = maxRatePerSec
  }

  step({ target, atNs, periodNs, jobs }: Observation): Decision {
    const active = jobs.filter(({ jobId, served }) => jobId !== '' && served > 0)
    const budget = Math.floor((this.#maxRatePerSec * periodNs) / NS_PER_S)
    const ratePerSec = Math.max(1, Math.floor(this.#maxRatePerSec / Math.max(1, active.length)))
    const tokens = Math.floor(budget / Math.max(1, active.length))
    const allocations = active.map(({ jobId }) => ({ jobId, tokens, ratePerSec, record: 0, recordDelta: 0 }))
    return { target, atNs, budget, allocations, records: new Map() }
  }
}
