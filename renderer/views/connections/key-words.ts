/** Why a key is refused, and what to do about it: words for each verdict that no person can overrule here. */
import type { ShownKey } from '#core/api/clusters.ts'

export interface RefusalWords {
  readonly what: string
  readonly why: string
  readonly next: string
}

export function refusalWords({ verdict, host }: Pick<ShownKey, 'verdict' | 'host'>): RefusalWords {
  const ask = `Ask whoever runs ${host}, by another way than this network.`
  switch (verdict) {
    case 'changed':
      return {
        what: 'The key has changed.',
        why: 'The server was known by another one. Either it was installed anew, or something stands between here and there. No login was tried.',
        next: `${ask} If the new key is right, the old entry is removed where it stands, by hand; then the server is a new one.`,
      }
    case 'revoked':
      return {
        what: 'The key is revoked.',
        why: 'A line of known_hosts marks it @revoked: it must not be trusted by anyone. No login was tried.',
        next: `${ask} The server needs a new host key.`,
      }
    case 'weak':
      return {
        what: 'The key is too weak.',
        why: 'Its kind or its length can be forged. No login was tried.',
        next: `${ask} ssh-keygen -A makes an ED25519 key for sshd; that one can be trusted.`,
      }
    case 'unreadable':
      return {
        what: 'What is known of the server cannot be read.',
        why: 'A file that could say whether the key is right is damaged or unreadable, so it is not taken for right. No login was tried.',
        next: 'Mend the file that is named here, then test again.',
      }
    case 'match':
    case 'unknown':
    case 'other-type':
      return {
        what: 'The key cannot be trusted here.',
        why: 'The host does not let it be vouched for. No login was tried.',
        next: ask,
      }
  }
}
