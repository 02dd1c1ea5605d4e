/** What is said of a server's key: the verdict, and what it rests on. The rules are in verdict.ts. */
import type { KnownKey } from './known-hosts.ts'

export type Verdict = 'match' | 'unknown' | 'other-type' | 'changed' | 'revoked' | 'weak' | 'unreadable'

export interface HostKeyReport {
  readonly verdict: Verdict
  readonly host: string
  readonly port: number
  readonly type: string
  readonly fingerprint: string
  /** Which line or store said so; keys that the host is known by, where they differ. */
  readonly known: readonly KnownKey[]
  /** Lines of certificate authorities for this host, which are not used. */
  readonly authorities: number
  /** Why something could not be read. */
  readonly faults: readonly string[]
}
