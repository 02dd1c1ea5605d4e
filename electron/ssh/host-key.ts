/** Public key of a server in wire format (RFC 4253 6.6): its type, its fingerprint, and its strength. */
import { createHash } from 'node:crypto'

/** Smaller RSA keys are refused, as in RHEL 9's policy; OpenSSH's own minimum is 1024. */
export const RSA_BITS_LEAST = 2048

export interface HostKey {
  /** `ssh-ed25519`, `ecdsa-sha2-nistp256`, `ssh-rsa`, ...: type of the key, not the signature algorithm. */
  readonly type: string
  /** `SHA256:` and 43 characters of base64, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string
  readonly blob: Buffer
  /** Key length; only for RSA keys. */
  readonly bits?: number | undefined
}

export const fingerprintOf = (blob: Buffer): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`

export const isFingerprint = (text: string): boolean => /^SHA256:[A-Za-z0-9+/]{43}$/.test(text)

/** Length-prefixed strings (RFC 4251 5) from `at`; undefined if the bytes do not hold them. */
export function wireStrings(bytes: Buffer, at: number, count: number): Buffer[] | undefined {
  const strings: Buffer[] = []
  for (let p = at; strings.length < count;) {
    if (p + 4 > bytes.length) return undefined
    const length = bytes.readUInt32BE(p)
    p += 4
    if (length > bytes.length - p) return undefined
    strings.push(bytes.subarray(p, p + length))
    p += length
  }
  return strings
}

function rsaBits(modulus: Buffer): number {
  let at = 0
  while (modulus[at] === 0) at++
  const first = modulus[at]
  return first === undefined ? 0 : (modulus.length - at) * 8 - Math.clz32(first) + 24
}

/** @returns undefined for anything but a key. */
export function parseHostKey(blob: Buffer): HostKey | undefined {
  const type = wireStrings(blob, 0, 1)?.[0]?.toString('latin1')
  if (type === undefined || !/^[a-z0-9@.-]{1,64}$/i.test(type)) return undefined
  const modulus = type === 'ssh-rsa' ? wireStrings(blob, 0, 3)?.[2] : undefined
  if (type === 'ssh-rsa' && !modulus) return undefined
  return { type, fingerprint: fingerprintOf(blob), blob, bits: modulus && rsaBits(modulus) }
}
