/** Control periods of servers in the contract, and the parts of a period with their budgets. */
import * as z from 'zod'

const count = z.number().int().nonnegative()

export interface PeriodPart {
  readonly id: string
  readonly label: string
  /** Budget, part of the period; all parts sum to 1. */
  readonly share: number
  /** Explanation for the window, one sentence. */
  readonly means: string
}

/** Parts of a control period of one server, in their order. */
export const PERIOD_PARTS = [
  {
    id: 'collect',
    label: 'Collection',
    share: 0.4,
    means: 'From the request for counters and rules until they are parsed.',
  },
  { id: 'decide', label: 'Decision', share: 0.1, means: 'Controllers of all targets, fences and the plan.' },
  { id: 'write', label: 'Write', share: 0.3, means: 'Audit record, lease, and the commands that change rules.' },
  {
    id: 'readBack',
    label: 'Read-back',
    share: 0.2,
    means: 'Rules are read again after they were written, and compared.',
  },
] as const satisfies readonly PeriodPart[]

export type PeriodPartId = (typeof PERIOD_PARTS)[number]['id']

/** Time of each part, ms. */
export type PeriodTimes = Readonly<Record<PeriodPartId, number>>

/** Budget of a part in a period, ms. */
export const periodBudget = (part: PeriodPart, periodMs: number): number => part.share * periodMs

/** Control period of one server of a live cluster. */
export const serverPeriod = z.object({
  host: z.string(),
  /** true: the server is read and controlled by its own clock; false: with the samples. */
  hasOwnClock: z.boolean(),
  /** Configured and effective length, ms, and the reason for the difference; empty without one. */
  setMs: z.number(),
  runMs: z.number(),
  why: z.string(),
  /** Periods and missed deadlines of the last minute. */
  periods: count,
  missed: count,
  /** Time between two periods over the last minute, ms; null before the second one. */
  p50Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
  /** Durations of the parts, means of recent periods, ms; null before the first. */
  timesMs: z.object({ collect: z.number(), decide: z.number(), write: z.number(), readBack: z.number() }).nullable(),
})
export type ServerPeriodFrame = z.infer<typeof serverPeriod>
