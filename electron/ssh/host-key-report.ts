/** Report on a server's key: the verdict, and its basis. The rules are in verdict.ts. */
import type { KnownKey } from './known-hosts.ts'

export type Verdict = 'match' | 'unknown' | 'other-type' | 'changed' | 'revoked' | 'weak' | 'unreadable'

export interface HostKeyReport {
  readonly verdict: Verdict
  readonly host: string
  readonly port: number
  readonly type: string
  readonly fingerprint: string
  /** Lines or stores behind the verdict; keys that the host is known by, if they differ. */
  readonly known: readonly KnownKey[]
  /** Lines of certificate authorities for this host, which are not used. */
  readonly authorities: number
  /** Reasons why sources could not be read. */
  readonly faults: readonly string[]
}
