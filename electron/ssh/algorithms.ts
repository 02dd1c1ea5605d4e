/**
 * Algorithms that a session may use, in order of preference, and the reason why a server that offers none of them is
 * refused.
 *
 * Excluded: SHA-1 anywhere, CBC, RC4, Diffie-Hellman groups below 2048 bits, DSA, MACs before encryption, compression.
 * chacha20-poly1305 only with strict key exchange: without it messages can be cut off undetected (CVE-2023-48795).
 * Post-quantum exchange is not in ssh2 1.17.
 */
import type { Algorithms, NegotiatedAlgorithms, ServerHostKeyAlgorithm } from 'ssh2'
import type { ServerOffer } from './server-offer.ts'

const HOST_KEYS: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]

const CHACHA = 'chacha20-poly1305@openssh.com'

export const ACCEPTED = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group18-sha512',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group-exchange-sha256',
  ],
  serverHostKey: [...HOST_KEYS],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr', CHACHA],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com'],
  compress: ['none'],
} as const satisfies Algorithms

const typeOf = (algorithm: string): string => (algorithm.startsWith('rsa-sha2-') ? 'ssh-rsa' : algorithm)

/** @param knownTypes  key types that the host is known by: preferred, so that a known server is recognized. */
export function algorithmsFor(knownTypes: readonly string[]): Algorithms {
  const isKnown = (a: ServerHostKeyAlgorithm): boolean => knownTypes.includes(typeOf(a))
  const serverHostKey = [...HOST_KEYS.filter(isKnown), ...HOST_KEYS.filter((a) => !isKnown(a))]
  return {
    kex: [...ACCEPTED.kex],
    serverHostKey,
    cipher: [...ACCEPTED.cipher],
    hmac: [...ACCEPTED.hmac],
    compress: [...ACCEPTED.compress],
  }
}

/** Algorithms negotiated with one server for display. */
export interface Negotiated {
  readonly kex: string
  readonly hostKey: string
  readonly cipher: string
  /** `implicit` for an AEAD cipher. */
  readonly mac: string
  /** True with strict key exchange: cutting off the beginning of the encrypted stream would be detected. */
  readonly isStrict: boolean
}

export const negotiatedOf = (n: NegotiatedAlgorithms, offer: ServerOffer): Negotiated => ({
  kex: n.kex,
  hostKey: n.serverHostKey,
  cipher: n.cs.cipher === n.sc.cipher ? n.cs.cipher : `${n.cs.cipher}, ${n.sc.cipher}`,
  mac: n.cs.mac || n.sc.mac || 'implicit',
  isStrict: offer.isStrict,
})

/** @returns reason why the negotiated algorithms are too weak all the same. */
export function weakAlgorithms(n: Negotiated): string | undefined {
  if (n.isStrict || !n.cipher.includes('chacha20')) return undefined
  return 'the server has chacha20-poly1305 without strict key exchange only (CVE-2023-48795)'
}

const few = (names: readonly string[]): string => {
  const shown = names.slice(0, 6).map((n) => n.slice(0, 60))
  return shown.join(', ') + (names.length > 6 ? ', …' : '')
}

/** @returns unacceptable offers of the server, by purpose; undefined if there is a common algorithm for each, or no offer yet. */
export function weakOffer(offer: ServerOffer): string | undefined {
  const { lists } = offer
  if (!lists) return undefined
  const parts: string[] = []
  const check = (what: string, offered: readonly string[], accepted: readonly string[]): void => {
    if (!offered.some((a) => accepted.includes(a))) parts.push(`${what}: only ${few(offered) || 'nothing'}`)
  }
  check(
    'key exchange',
    lists.kex.filter((a) => !/^(ext-info|kex-strict)-/.test(a)),
    ACCEPTED.kex,
  )
  check('host key', lists.hostKey, ACCEPTED.serverHostKey)
  check('cipher', lists.cipherIn, ACCEPTED.cipher)
  check('cipher', lists.cipherOut, ACCEPTED.cipher)
  const hasOwnMac = (a: string): boolean => a.includes('gcm') || a.includes('poly1305')
  const needsMac = (ciphers: readonly string[]): boolean => {
    const agreed = ACCEPTED.cipher.find((a) => ciphers.includes(a))
    return agreed !== undefined && !hasOwnMac(agreed)
  }
  if (needsMac(lists.cipherIn)) check('MAC', lists.macIn, ACCEPTED.hmac)
  if (needsMac(lists.cipherOut)) check('MAC', lists.macOut, ACCEPTED.hmac)
  check('compression', lists.compressIn, ACCEPTED.compress)
  return parts.length > 0 ? [...new Set(parts)].join('; ') : undefined
}
