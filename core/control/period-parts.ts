/** Parts of a control period of one server, each with its budget: what a period may spend on it. */

export interface PeriodPart {
  readonly id: 'collect' | 'decide' | 'write' | 'readBack'
  readonly label: string
  /** Budget, part of the period; all parts sum to 1. */
  readonly share: number
  /** Explanation for the window, one sentence. */
  readonly means: string
}

export const PERIOD_PARTS = [
  {
    id: 'collect',
    label: 'collection',
    share: 0.4,
    means: 'From the request for counters and rules until they are parsed.',
  },
  { id: 'decide', label: 'decision', share: 0.1, means: 'Controllers of all targets, fences and the plan.' },
  { id: 'write', label: 'write', share: 0.3, means: 'Record in the audit, lease, and commands that change rules.' },
  { id: 'readBack', label: 'read-back', share: 0.2, means: 'Rules read again after they were written, and compared.' },
] as const satisfies readonly PeriodPart[]

export type PeriodPartId = (typeof PERIOD_PARTS)[number]['id']

/** Time of each part, ms. */
export type PeriodTimes = Readonly<Record<PeriodPartId, number>>

/** Budget of a part in a period, ms. */
export const budgetOf = (id: PeriodPartId, periodMs: number): number =>
  (PERIOD_PARTS.find((p) => p.id === id)?.share ?? 0) * periodMs
