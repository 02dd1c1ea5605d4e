/** Setup of a simulated data node and its clients, as data; validated before a run. */
import { fail, ok, type Failure, type Result } from '../../base/result.ts'
import {
  checkProfile,
  checkSettings,
  checkReservation,
  checkTokens,
  DEFAULT_SETTINGS,
  PAPER_PROFILE,
  type CapacityProfile,
  type HaechiSettings,
} from '../settings.ts'
import type { RecordMix } from '../workloads/records.ts'
import type { Workload } from '../workloads/request-source.ts'
import { PAPER_FABRIC, type Fabric } from './fabric.ts'

export interface ClientSetup {
  /** Hostile text; display only. */
  readonly name: string
  /** R, I/Os a period. */
  readonly reservation: number
  /** I/Os a period; null or absent for no limit. */
  readonly limit?: number | null
  readonly workload: Workload
  /** Records that it accesses; absent: not simulated. */
  readonly records?: RecordMix
  /** True for traffic that Haechi does not see: no tokens, no engine. */
  readonly isOutside?: boolean
}

/**
 * `haechi`: engines and monitor. `bare`: the same without tokens. `two-sided`: bare, and every I/O wakes the data node's CPU.
 */
export type NodeMode = 'haechi' | 'bare' | 'two-sided'

export interface NodeSetup {
  readonly mode: NodeMode
  readonly settings: HaechiSettings
  /** Profiled capacity of the node, in force unless `capacity` or `setCapacity` changes it. */
  readonly profile: CapacityProfile
  readonly fabric: Fabric
  readonly clients: readonly ClientSetup[]
  readonly seed: number
  /** Capacity changes by time, I/O/s, ascending: background traffic that uses part of it. */
  readonly capacity: readonly { readonly atNs: number; readonly iops: number }[]
  /** Each period's capacity varies uniformly by up to this share. */
  readonly noise: number
  /** Report slots, that is, clients that can ever join. */
  readonly slots: number
  /** Samples for views: one every `everyNs`, the newest `rows` kept; 0 rows for none. */
  readonly samples: { readonly everyNs: number; readonly rows: number }
  /** Periods whose records are kept. */
  readonly keptPeriods: number
}

export const NODE_DEFAULTS: NodeSetup = {
  mode: 'haechi',
  settings: DEFAULT_SETTINGS,
  profile: PAPER_PROFILE,
  fabric: PAPER_FABRIC,
  clients: [],
  seed: 1,
  capacity: [],
  noise: 0,
  slots: 64,
  samples: { everyNs: 1_000_000, rows: 2000 },
  keptPeriods: 1000,
}

const MAX_SLOTS = 4096
const MAX_SAMPLE_VALUES = 2 ** 24

export function checkSetup(setup: NodeSetup): Result<NodeSetup> {
  const settings = checkSettings(setup.settings)
  if (!settings.ok) return settings
  const profile = checkProfile(setup.profile)
  if (!profile.ok) return profile
  const { slots, clients, samples, noise, capacity, fabric, keptPeriods } = setup
  if (!(Number.isInteger(slots) && slots >= 1 && slots <= MAX_SLOTS)) return bad('E_SLOTS', `${slots} report slots`)
  if (clients.length > slots) return bad('E_SLOTS', `${clients.length} clients for ${slots} report slots`)
  const isSampled =
    Number.isInteger(samples.rows) && samples.rows >= 0 && isTime(samples.everyNs) && samples.everyNs > 0
  if (!isSampled || samples.rows * slots * 8 > MAX_SAMPLE_VALUES) return bad('E_SAMPLES', 'samples that cannot be kept')
  if (!(noise >= 0 && noise < 1)) return bad('E_CAPACITY', `noise of ${noise}`)
  if (!(Number.isInteger(keptPeriods) && keptPeriods >= 1)) return bad('E_PERIOD', `${keptPeriods} periods to keep`)
  if (![fabric.delayNs, fabric.sendNs, fabric.sendEachNs, fabric.conversionNs].every(isTime))
    return bad('E_FABRIC', 'a delay that is not a whole number of ns')
  if (!(fabric.faaShare > 0 && fabric.faaShare <= 1)) return bad('E_FABRIC', `FAAs of ${fabric.faaShare} data I/Os`)
  let from = 0
  for (const { atNs, iops } of capacity) {
    if (!isTime(atNs) || atNs < from || checkTokens('', iops) || iops === 0)
      return bad('E_CAPACITY', `${iops} I/O/s at ${atNs}`)
    from = atNs
  }
  for (const client of clients) {
    const refusal = checkClient(client)
    if (refusal) return fail(refusal)
  }
  return ok(setup)
}

export function checkClient({ reservation, limit, workload, records }: ClientSetup): Failure | null {
  const tokens = checkReservation(reservation)
  if (tokens) return tokens
  const most = limit === undefined || limit === null ? null : checkTokens('The limit', limit)
  if (most) return most
  const isMix = records === undefined || (inStore(records.records) && records.reads >= 0 && records.reads <= 1)
  if (!isMix) return failure('E_RECORDS', 'a record mix')
  return checkWorkload(workload)
}

export function checkWorkload(workload: Workload): Failure | null {
  if (workload.kind === 'burst' || workload.kind === 'constant') return checkTokens('The demand', workload.perPeriod)
  if (workload.kind === 'poisson') return checkTokens('The rate', workload.perSecond)
  if (workload.kind !== 'on-off') return null
  const { onNs, offNs } = workload
  if (!isTime(onNs) || !isTime(offNs) || onNs === 0) return failure('E_WORKLOAD', `on ${onNs} ns, off ${offNs} ns`)
  return checkTokens('The rate', workload.perSecond)
}

const isTime = (ns: number): boolean => Number.isSafeInteger(ns) && ns >= 0
const inStore = (records: number): boolean => Number.isInteger(records) && records >= 1 && records <= 2 ** 26
const failure = (code: string, what: string): Failure => ({ code, what: `A node cannot run with ${what}` })
const bad = (code: string, what: string): Result<never> => fail(failure(code, what))
