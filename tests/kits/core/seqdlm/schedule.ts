/** Schedule of a run: operations of the clients, order of events, and faults. */
import type { ClientLimits } from '#core/seqdlm/ccpfs-client.ts'
import type { LockMode } from '#core/seqdlm/modes.ts'
import type { DlmPolicy } from '#core/seqdlm/policy.ts'

export interface Step {
  readonly client: number
  /** Operations of one thread are sequential; threads of a client share its caches. */
  readonly thread: number
  readonly kind: 'write' | 'read' | 'append' | 'truncate' | 'fsync' | 'atomic'
  readonly offset: number
  readonly length: number
  /** Mode to request instead of the selected one. */
  readonly mode?: LockMode | undefined
}

export interface Fault {
  /** Step before which the fault occurs. */
  readonly at: number
  readonly kind: 'crash-server' | 'crash-client' | 'repeat' | 'overtake'
  readonly who: number
}

export interface Schedule {
  readonly policy: DlmPolicy
  readonly clients: number
  readonly servers: number
  readonly stripes: number
  readonly stripeSize: number
  /** Number of entries above which an extent cache is cleaned. */
  readonly threshold: number
  readonly limits: Partial<ClientLimits>
  readonly program: readonly Step[]
  /** Choices among the possible steps, each modulo their number; after the last one always the first step. */
  readonly choices: readonly number[]
  readonly faults: readonly Fault[]
}

export function showStep({ kind, thread, offset, length, mode }: Step): string {
  const by = `${kind}${mode === undefined ? '' : ` (${mode})`}`
  const where = { append: ` ${length} bytes`, truncate: ` to ${offset}`, fsync: '' }
  return `${by}${kind in where ? where[kind as keyof typeof where] : ` ${offset}+${length}`} (thread ${thread})`
}
