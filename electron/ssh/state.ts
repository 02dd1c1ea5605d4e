/** What a session is doing, as values that a window can show. Instants in Unix ms. */
import type { Negotiated } from './algorithms.ts'
import type { SshFailure } from './failures.ts'
import type { Offered } from './identities.ts'
import type { HostKeyReport } from './host-key-report.ts'

export type Step = 'jump' | 'dns' | 'tcp' | 'host key' | 'auth' | 'shell'

export interface StepTime {
  readonly step: Step
  readonly tookMs: number
}

/** What is known of a connection that stands. */
export interface Connected {
  /** As the server names itself; printable, bounded. */
  readonly software: string
  readonly negotiated: Negotiated
  readonly hostKey: HostKeyReport
  readonly offered: readonly Offered[]
  readonly steps: readonly StepTime[]
  /** How commands run, and where not in the channel, why not. */
  readonly commands: { readonly mode: 'channel' } | { readonly mode: 'exec'; readonly why: string }
}

export type SessionState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting'; readonly step: Step; readonly attempt: number; readonly done: readonly StepTime[] }
  | { readonly kind: 'connected'; readonly sinceMs: number; readonly connected: Connected }
  /** retryAtMs undefined: nobody tries again by itself. */
  | {
      readonly kind: 'lost'
      readonly failure: SshFailure
      readonly sinceMs: number
      readonly retryAtMs: number | undefined
      /** Attempts that failed in a row; absent where nobody tries again. */
      readonly retry?: { readonly attempt: number; readonly baseMs: number; readonly mostMs: number } | undefined
    }
  /** A person has to do something first; failure.hostKey has the fingerprint to compare. */
  | { readonly kind: 'refused'; readonly failure: SshFailure; readonly sinceMs: number }
