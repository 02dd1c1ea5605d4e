/**
 * Inputs beyond the validated range of each part of the model: rates, periods, numbers of participants, lock patterns,
 * the mix of reads and writes. Within these bounds its results were compared with published or measured ones; outside
 * it still runs, with low confidence. Sizes of Lustre's RPCs are checked in model-range.ts.
 */
import { ADAPTBF } from '../controllers/registry.ts'
import type { Scenario } from '../emulator/scenario.ts'

/** Kinds of input; names and units for display are the console's. */
export type LimitedInput =
  | 'rule rate'
  | 'controller period'
  | 'control cycle'
  | 'burst interval'
  | 'write size'
  | 'lock clients'
  | 'partial pages'
  | 'token period'
  | 'token clients'
  | 'token writes'

/** One input beyond a bound; `apart`: it is of a kind without a model. */
export interface Limit {
  /** Lustre job with low-confidence results that could be omitted; empty if it is not a single job. */
  readonly jobId: string
  /** Subject of the input: a job, a data node, a client of one; empty for the whole cluster. */
  readonly of: string
  readonly plane: 'lustre' | 'padll' | 'locks' | 'tokens'
  readonly input: LimitedInput
  /** RPC/s, ms, bytes, a count, or a share 0..1, by input. */
  readonly value: number
  readonly least: number | null
  readonly most: number | null
  readonly side: 'below' | 'above' | 'apart'
}

/** Bounds, with their sources. */
export const LIMITS = {
  /** Rates that a TBF rule accepts, RPC/s: 1 to 999,999. */
  ruleRate: { least: null, most: 999_999 },
  /** AdapTBF was reproduced with dt = 100 ms; one cycle costs 25 ms (paper IV-G), which the model does not charge. */
  controllerPeriodMs: { least: 100, most: null },
  /** PADLL's controllers were reproduced with cycles of 1 s and 5 s. */
  controlCycleMs: { least: 1_000, most: 5_000 },
  /** Figures 16 to 20 of SeqDLM: 16 KiB to 1 MiB. */
  writeBytes: { least: 16 * 1024, most: 1024 * 1024 },
  /** Figures 21 to 24: up to 96 clients. */
  lockClients: { least: null, most: 96 },
  /** Haechi: T = 1 s and up to 10 clients; only reads. */
  tokenPeriodMs: { least: 1_000, most: 1_000 },
  tokenClients: { least: null, most: 10 },
} as const
/** Partial pages that an append writes are read first, which is not modeled. */
const PAGE_BYTES = 4096

type Bound = { readonly least: number | null; readonly most: number | null }
type Whose = Pick<Limit, 'jobId' | 'of' | 'plane' | 'input'>

function beyond(whose: Whose, value: number, { least, most }: Bound): Limit[] {
  const side = least !== null && value < least ? 'below' : most !== null && value > most ? 'above' : null
  return side === null ? [] : [{ ...whose, value, least, most, side }]
}
const apart = (whose: Whose, value: number): Limit => ({ ...whose, value, least: null, most: null, side: 'apart' })

function lustreLimits({ control, jobs, fork }: Scenario): Limit[] {
  const base = { jobId: '', of: '', plane: 'lustre' } as const
  const period = { ...base, input: 'controller period' } as const
  return [
    ...beyond({ ...base, input: 'rule rate' }, control.max_rate, LIMITS.ruleRate),
    ...(control.controller === ADAPTBF ? beyond(period, control.period_ms, LIMITS.controllerPeriodMs) : []),
    ...jobs.flatMap(({ id, pattern }) =>
      // The interval of bursts is observed only if there were two.
      fork === undefined || pattern.kind !== 'bursts'
        ? []
        : beyond({ jobId: id, of: id, plane: 'lustre', input: 'burst interval' }, pattern.every_s * 1000, {
            least: null,
            most: fork.span_s * 1000,
          }),
    ),
  ]
}

function lockLimits({ ccpfs }: Scenario): Limit[] {
  const workloads = ccpfs?.workloads ?? []
  const clients = new Set(workloads.flatMap((w) => w.clients)).size
  return [
    ...beyond({ jobId: '', of: '', plane: 'locks', input: 'lock clients' }, clients, LIMITS.lockClients),
    ...workloads.flatMap(({ job, pattern, size_bytes: bytes }) => {
      const whose = { jobId: '', of: job, plane: 'locks' } as const
      return pattern === 'append' && bytes % PAGE_BYTES !== 0
        ? [apart({ ...whose, input: 'partial pages' }, bytes)]
        : beyond({ ...whose, input: 'write size' }, bytes, LIMITS.writeBytes)
    }),
  ]
}

function tokenLimits({ haechi }: Scenario): Limit[] {
  return haechi.flatMap(({ name, period_ms, clients }) => {
    const whose = { jobId: '', of: name, plane: 'tokens' } as const
    return [
      ...beyond({ ...whose, input: 'token period' }, period_ms, LIMITS.tokenPeriodMs),
      ...beyond({ ...whose, input: 'token clients' }, clients.length, LIMITS.tokenClients),
      ...clients.flatMap(({ name: client, records }) =>
        records === undefined || records.reads === 1
          ? []
          : [apart({ ...whose, of: `${client} on ${name}`, input: 'token writes' }, 1 - records.reads)],
      ),
    ]
  })
}

/** Returns inputs beyond a bound: those of the Lustre cluster first, then those of the other planes. */
export function limitsOf(scenario: Scenario): Limit[] {
  const cycle = scenario.padll?.interval_ms
  const whose = { jobId: '', of: '', plane: 'padll', input: 'control cycle' } as const
  return [
    ...lustreLimits(scenario),
    ...(cycle === undefined ? [] : beyond(whose, cycle, LIMITS.controlCycleMs)),
    ...lockLimits(scenario),
    ...tokenLimits(scenario),
  ]
}
