/** Messages for refused host keys: reason and next step for each verdict that cannot be overridden here. */
import type { ShownKey } from '#core/api/clusters.ts'

export interface RefusalMessage {
  readonly what: string
  readonly why: string
  readonly next: string
}

export function refusalMessage({ verdict, host }: Pick<ShownKey, 'verdict' | 'host'>): RefusalMessage {
  const advice = `Ask the administrator of ${host}, through a channel other than this network.`
  switch (verdict) {
    case 'changed':
      return {
        what: 'The key has changed.',
        why: 'The server had another key before. Either it was reinstalled, or the connection is being intercepted. No login was attempted.',
        next: `${advice} If the new key is right, remove the old entry from its file, then test again.`,
      }
    case 'revoked':
      return {
        what: 'The key is revoked.',
        why: 'A line of known_hosts marks it @revoked: it must not be trusted. No login was attempted.',
        next: `${advice} The server needs a new host key.`,
      }
    case 'weak':
      return {
        what: 'The key is too weak.',
        why: 'Keys of its type or length can be forged. No login was attempted.',
        next: `${advice} ssh-keygen -A makes an ED25519 key for sshd; that one can be trusted.`,
      }
    case 'unreadable':
      return {
        what: 'The stored keys of the server cannot be read.',
        why: 'A file with trusted keys is damaged or unreadable, so the key cannot be verified. No login was attempted.',
        next: 'Repair the named file, then test again.',
      }
    case 'match':
    case 'unknown':
    case 'other-type':
      return {
        what: 'The key cannot be trusted here.',
        why: 'The Sluice host does not allow it to be trusted. No login was attempted.',
        next: advice,
      }
  }
}
