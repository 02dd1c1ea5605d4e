/** Vouching for a host key that a server showed. Which keys may be vouched for at all is decided where they are shown. */
import { fail, type Result } from '#core/base/result.ts'
import type { SshAccess } from '../../cluster/live/ssh-access.ts'

export interface TrustInput {
  readonly host: string
  readonly port: number
  readonly type: string
  readonly fingerprint: string
  readonly compared: boolean
}

/**
 * Only a key that the server showed to this console, and that nothing known speaks against, can be vouched for.
 * It is on record before it holds. Failures: NO_TRUST_STORE, KEY_NOT_SHOWN, NOT_ON_RECORD, and those of the store.
 */
export function trustKey(
  access: SshAccess,
  key: TrustInput,
  record: (server: string, text: string) => Result<undefined>,
): Result<undefined> {
  const refuse = (code: string, why: string, next: string): Result<undefined> =>
    fail({ code, what: `The key of ${key.host} was not trusted`, why, unaffected: 'Nothing was sent to it.', next })
  if (!access.store) return refuse('NO_TRUST_STORE', 'this console keeps nothing', 'Start it with a data folder.')
  if (!access.openKey(key.host, key.port, key.type, key.fingerprint)) {
    return refuse(
      'KEY_NOT_SHOWN',
      'the server did not show this key, or it is one that nobody may vouch for here',
      'Connect again and compare the key that it shows.',
    )
  }
  const how = key.compared ? 'after comparing it' : 'without comparing it'
  const text = `trusted ${key.type} ${key.fingerprint} of ${key.host}:${key.port} ${how}`
  const recorded = record(key.host, text)
  if (!recorded.ok) return recorded
  return access.store.trust(key.host, key.port, key.type, key.fingerprint, Date.now())
}
