/** Public keys of servers, created in process: lines, bytes and fingerprints in OpenSSH's format. */
import { createHash, generateKeyPairSync } from 'node:crypto'

export interface TestHostKey {
  /** `ssh-ed25519 AAAA…` */
  readonly line: string
  readonly blob: Buffer
  readonly fingerprint: string
}

function field(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Encodes an integer of a key: minimal length, and never negative. */
function number(base64url: string): Buffer {
  const bytes = Buffer.from(base64url, 'base64url')
  return field((bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes)
}

function keyOf(type: string, ...fields: Buffer[]): TestHostKey {
  const blob = Buffer.concat([field(Buffer.from(type)), ...fields])
  const hash = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')
  return { line: `${type} ${blob.toString('base64')}`, blob, fingerprint: `SHA256:${hash}` }
}

export function ed25519Key(): TestHostKey {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  return keyOf('ssh-ed25519', field(Buffer.from(x, 'base64url')))
}

export function rsaKey(bits: number): TestHostKey {
  const { e = '', n = '' } = generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' })
  return keyOf('ssh-rsa', number(e), number(n))
}
