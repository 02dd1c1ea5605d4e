/**
 * Verdict on the identity of a server, decided from its public key before anything of the user is sent.
 *
 * | verdict | when | can a person accept it |
 * |---|---|---|
 * | match | a source has exactly this key | |
 * | unknown | no source has a key of the host; a line of a certificate authority alone counts as none | yes, after
 * comparing |
 * | other-type | the host is known by keys of other types only | yes, after comparing |
 * | changed | a source has another key of this type, and none has this one | no |
 * | revoked | a source revokes this key, whatever the others have | no |
 * | weak | RSA below 2048 bits | no |
 * | unreadable | a source cannot be read, so nothing can be ruled out | no |
 */
import type { SshFailure } from './failures.ts'
import type { HostKeyReport, Verdict } from './host-key-report.ts'
import { RSA_BITS_LEAST, parseHostKey, type HostKey } from './host-key.ts'
import { readKnownKeys, type KnownHostsFile, type KnownKey } from './known-hosts.ts'
import { hostAndPort } from './names.ts'
import type { TrustStore } from './trust-store.ts'

export interface HostKeySources {
  readonly knownHosts: readonly KnownHostsFile[]
  readonly store?: TrustStore | undefined
  /** Fingerprints trusted for this run (`--trust`); they do not override a changed or revoked key. */
  readonly trusted?: readonly string[] | undefined
}

interface Known {
  readonly keys: readonly KnownKey[]
  readonly faults: readonly string[]
}

/** The only place that accepts a host key. A session cannot be made without it. */
export class HostKeys {
  readonly #sources: HostKeySources

  constructor(sources: HostKeySources) {
    this.#sources = sources
  }

  /** Copy with additional files for one host (UserKnownHostsFile). */
  withKnownHosts(files: readonly KnownHostsFile[]): HostKeys {
    return new HostKeys({ ...this.#sources, knownHosts: [...this.#sources.knownHosts, ...files] })
  }

  #known(host: string, port: number): Known {
    const fromFiles = readKnownKeys(this.#sources.knownHosts, host, port)
    const stored = this.#sources.store?.read()
    if (!stored) return fromFiles
    if (!stored.ok)
      return { keys: fromFiles.keys, faults: [...fromFiles.faults, `${stored.error.what}: ${stored.error.why}`] }
    const name = hostAndPort(host, port)
    const userKeys = stored.value
      .filter((k) => k.name === name)
      .map((k) => ({ kind: 'key' as const, type: k.type, fingerprint: k.fingerprint, where: 'trusted here' }))
    return { keys: [...fromFiles.keys, ...userKeys], faults: fromFiles.faults }
  }

  /**
   * Key types that the host is known by: they are requested first, or a known server would look like an unknown one.
   */
  knownTypes(host: string, port: number): readonly string[] {
    const keys = this.#known(host, port).keys.filter((k) => k.kind === 'key')
    return [...new Set(keys.map((k) => k.type))]
  }

  judge(host: string, port: number, blob: Buffer): HostKeyReport {
    const key = parseHostKey(blob)
    const { keys, faults } = this.#known(host, port)
    const plain = keys.filter((k) => k.kind === 'key')
    const report = (verdict: Verdict, known: readonly KnownKey[]): HostKeyReport => ({
      verdict,
      host,
      port,
      type: key?.type ?? 'unreadable',
      fingerprint: key?.fingerprint ?? '',
      known,
      authorities: keys.filter((k) => k.kind === 'authority').length,
      faults,
    })
    if (!key) return report('weak', plain)
    const isThis = (k: KnownKey): boolean => k.fingerprint === key.fingerprint
    const revoked = keys.filter((k) => k.kind === 'revoked' && isThis(k))
    if (revoked.length > 0) return report('revoked', revoked)
    if (faults.length > 0) return report('unreadable', plain)
    if (key.bits !== undefined && key.bits < RSA_BITS_LEAST) return report('weak', plain)
    const match = plain.filter(isThis)
    if (match.length > 0) return report('match', match)
    if (plain.some((k) => k.type === key.type)) return report('changed', plain)
    if (this.#sources.trusted?.includes(key.fingerprint)) return report('match', [approvedKey(key)])
    return report(plain.length > 0 ? 'other-type' : 'unknown', plain)
  }

  /**
   * True if a person may accept now a key that a server presented before: since then another one may have become known,
   * or this one may have been revoked, and then it is a changed key.
   */
  mayTrust(host: string, port: number, type: string, fingerprint: string): boolean {
    const { keys, faults } = this.#known(host, port)
    const isAgainst = (k: KnownKey): boolean =>
      k.kind === 'revoked'
        ? k.fingerprint === fingerprint
        : k.kind === 'key' && k.type === type && k.fingerprint !== fingerprint
    return faults.length === 0 && !keys.some(isAgainst)
  }
}

const approvedKey = (key: HostKey): KnownKey => ({
  kind: 'key',
  type: key.type,
  fingerprint: key.fingerprint,
  where: 'trusted for this run',
})

/** True if a person may accept the key after comparing its fingerprint. */
export const canPromptToTrust = (r: HostKeyReport): boolean => r.verdict === 'unknown' || r.verdict === 'other-type'

const COMPARE = 'Compare the fingerprint with the one that `ssh-keygen -lf` prints on the server itself, then trust it.'
const REPLACED =
  'If the key was replaced on purpose, remove the old one where it is stored; otherwise this may be a man-in-the-middle attack.'

/** @returns undefined for a match. */
export function hostKeyFailure(r: HostKeyReport): SshFailure | undefined {
  const at = hostAndPort(r.host, r.port)
  const shown = `it presented ${r.type} ${r.fingerprint}`
  const places = r.known.slice(0, 4).map((k) => `${k.type} ${k.fingerprint} (${k.where})`)
  const authority = r.authorities > 0 ? '; the line of its certificate authority is not used' : ''
  const refused = (code: SshFailure['code'], what: string, why: string, next: string): SshFailure => ({
    code,
    what,
    why,
    next,
    hostKey: r,
  })
  switch (r.verdict) {
    case 'match':
      return undefined
    case 'unknown':
      return refused('SSH_HOST_KEY_UNKNOWN', `The host key of ${at} is not known`, `${shown}${authority}`, COMPARE)
    case 'other-type': {
      const why = `${shown}; known: ${places.join(', ')}`
      return refused('SSH_HOST_KEY_OTHER_TYPE', `${at} is known by keys of other types`, why, COMPARE)
    }
    case 'changed': {
      const why = `${shown}; known: ${places.join(', ')}`
      return refused('SSH_HOST_KEY_CHANGED', `The host key of ${at} has changed`, why, REPLACED)
    }
    case 'revoked': {
      const why = `${shown}; revoked by ${r.known.map((k) => k.where).join(', ')}`
      return refused(
        'SSH_HOST_KEY_REVOKED',
        `The host key of ${at} is revoked`,
        why,
        'The server needs a new host key.',
      )
    }
    case 'weak': {
      const why = `${shown}; RSA needs ${RSA_BITS_LEAST} bits`
      return refused('SSH_HOST_KEY_WEAK', `The host key of ${at} is too weak`, why, 'The server needs a new host key.')
    }
    case 'unreadable':
      return refused(
        'SSH_HOST_KEY_UNREADABLE',
        `The host key of ${at} cannot be checked`,
        r.faults.slice(0, 4).join('; '),
        'Fix the file; until then no key is trusted.',
      )
  }
}
