/** State of a session, as values that a window can show. Times in Unix ms. */
import type { Negotiated } from './algorithms.ts'
import type { SshFailure } from './failures.ts'
import type { Offered } from './identities.ts'
import type { HostKeyReport } from './host-key-report.ts'

export type Step = 'jump' | 'dns' | 'tcp' | 'host key' | 'auth' | 'shell'

export interface StepTime {
  readonly step: Step
  readonly tookMs: number
}

/** Properties of an established connection. */
export interface Connected {
  /** Version string of the server; printable, bounded. */
  readonly software: string
  readonly negotiated: Negotiated
  readonly hostKey: HostKeyReport
  readonly offered: readonly Offered[]
  readonly steps: readonly StepTime[]
  /** Mode of running commands; with `exec`, the reason why the channel is not used. */
  readonly commands: { readonly mode: 'channel' } | { readonly mode: 'exec'; readonly why: string }
}

export type SessionState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting'; readonly step: Step; readonly attempt: number; readonly done: readonly StepTime[] }
  | { readonly kind: 'connected'; readonly sinceMs: number; readonly connected: Connected }
  /** retryAtMs undefined: no automatic retry. */
  | {
      readonly kind: 'lost'
      readonly failure: SshFailure
      readonly sinceMs: number
      readonly retryAtMs: number | undefined
      /** Consecutive failed attempts; absent without automatic retry. */
      readonly retry?: { readonly attempt: number; readonly baseMs: number; readonly mostMs: number } | undefined
    }
  /** Requires action by a person; failure.hostKey has the fingerprint to compare. */
  | { readonly kind: 'refused'; readonly failure: SshFailure; readonly sinceMs: number }
