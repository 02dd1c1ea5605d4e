/** Setup of a real node, validated before any thread is started. */
import { fail, ok, type Result } from '#core/base/result.ts'
import {
  checkProfile,
  checkSettings,
  DEFAULT_SETTINGS,
  type CapacityProfile,
  type HaechiSettings,
} from '#core/haechi/settings.ts'
import { checkClient } from '#core/haechi/sim/setup.ts'
import type { RecordMix } from '#core/haechi/workloads/records.ts'
import type { Workload } from '#core/haechi/workloads/request-source.ts'
import { layoutOf, type NodeShape } from './layout.ts'

export interface RealClient {
  /** R, I/Os a period. */
  readonly reservation: number
  /** I/Os a period, null for none. */
  readonly limit: number | null
  readonly workload: Workload
  readonly mix: Omit<RecordMix, 'records'>
}

export interface RealNodeSetup extends NodeShape {
  /** `bare`: no tokens, no monitor. */
  readonly mode: 'haechi' | 'bare'
  readonly settings: HaechiSettings
  readonly profile: CapacityProfile
  /** Completions that a client takes at a time; Q at most. */
  readonly completionBatch: number
  readonly seed: number
  readonly clients: readonly RealClient[]
}

/**
 * The default settings, but a client is taken for silent only after 100 missed reports: threads of one machine may wait for a core
 * much longer than a NIC waits for anything, and the tokens of a client that is wrongly taken for dead would be given away while
 * it holds them.
 */
export const NODE_SETTINGS: HaechiSettings = { ...DEFAULT_SETTINGS, name: 'real-memory', missedReports: 100 }

export const REAL_NODE_DEFAULTS: Omit<RealNodeSetup, 'profile'> = {
  mode: 'haechi',
  settings: NODE_SETTINGS,
  slots: 16,
  records: 16_384,
  completionBatch: 16,
  seed: 1,
  clients: [],
}

export function checkRealNode(setup: RealNodeSetup): Result<RealNodeSetup> {
  const settings = checkSettings(setup.settings)
  if (!settings.ok) return settings
  const profile = checkProfile(setup.profile)
  if (!profile.ok) return profile
  const layout = layoutOf(setup)
  if (!layout.ok) return layout
  const { completionBatch: n, clients, slots } = setup
  if (!(Number.isInteger(n) && n >= 1 && n <= setup.settings.window)) {
    const next = `Give a whole number from 1 to Q = ${setup.settings.window}.`
    return fail({ code: 'E_COMPLETIONS', what: `Completions cannot be taken ${n} at a time`, next })
  }
  if (clients.length > slots) {
    return fail({ code: 'E_SLOTS', what: `There are ${clients.length} clients for ${slots} report slots` })
  }
  for (const client of clients) {
    const checked = checkRealClient(client, setup)
    if (!checked.ok) return checked
  }
  return ok(setup)
}

export function checkRealClient(client: RealClient, { records }: NodeShape): Result<RealClient> {
  const { reservation, limit, workload, mix } = client
  const refusal = checkClient({ name: '', reservation, limit, workload, records: { ...mix, records } })
  return refusal ? fail(refusal) : ok(client)
}
