/**
 * Private keys in files: their public half without a passphrase, and unlocked keys kept in memory as long as the
 * console runs.
 */
import ssh2, { type ParsedKey } from 'ssh2'
import { wireStrings } from './host-key.ts'
import { plainLine } from './failures.ts'
import { readPlainFile } from './plain-file.ts'

// Node detects only few of the names that this CommonJS module exports.
const { utils } = ssh2

const KEY_BYTES = 64 << 10
const TRIES = 3
const MAGIC = 'openssh-key-v1\0'

/** Offered key types: those for which the console has sufficiently strong signatures. */
const OFFERED_TYPES: readonly string[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
]

export interface PassphraseRequest {
  readonly file: string
  /** Number of the attempt, from 1; the previous passphrases were wrong. */
  readonly attempt: number
}

/** Asks the user. The receiver zeroes the bytes after use; undefined: skip this key. */
export type PromptPassphrase = (request: PassphraseRequest) => Promise<Buffer | undefined>

/** Public half of an identity, and whether the file has the private one. */
export interface Identity {
  readonly file: string
  readonly blob: Buffer
  readonly hasPrivate: boolean
}

/** Public key that an OpenSSH private key file contains in the clear, encrypted or not. */
export function publicBlobOf(pem: string): Buffer | undefined {
  const m = /-----BEGIN OPENSSH PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END OPENSSH PRIVATE KEY-----/.exec(pem)
  const bytes = Buffer.from(m?.[1] ?? '', 'base64')
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined
  const head = wireStrings(bytes, MAGIC.length, 3)
  if (!head) return undefined
  const at = MAGIC.length + head.reduce((sum, s) => sum + 4 + s.length, 0)
  if (at + 4 > bytes.length || bytes.readUInt32BE(at) !== 1) return undefined
  return wireStrings(bytes, at + 4, 1)?.[0]
}

function parsePublic(text: string | Buffer): Buffer | undefined {
  const key = utils.parseKey(text)
  return key instanceof Error || !OFFERED_TYPES.includes(key.type) ? undefined : key.getPublicSSH()
}

/** @returns reason if the identity cannot be offered; undefined if there is no such file. */
export function readIdentity(file: string): Identity | string | undefined {
  const read = readPlainFile(file, KEY_BYTES, 'others-cannot-read')
  const text = read.kind === 'read' ? read.bytes.toString('latin1') : ''
  if (text.includes('PRIVATE KEY-----')) {
    const blob = publicBlobOf(text) ?? parsePublic(text) ?? publicBeside(file)
    if (blob) return { file, blob, hasPrivate: true }
    return `${file}: it is encrypted in an old format, or of an unknown one; \`ssh-keygen -p -f\` rewrites it`
  }
  // A public key file refers to a key that the agent holds, and may be readable to all.
  const content = readPlainFile(file, KEY_BYTES)
  const blob =
    (content.kind === 'read' && !content.bytes.includes('PRIVATE KEY-----') && parsePublic(content.bytes)) ||
    publicBeside(file)
  if (blob) return { file, blob, hasPrivate: false }
  if (read.kind === 'unreadable') return `${file}: ${read.why}`
  return read.kind === 'absent' ? undefined : `${file}: it is not a key`
}

function publicBeside(file: string): Buffer | undefined {
  const read = readPlainFile(`${file}.pub`, KEY_BYTES)
  return read.kind === 'read' ? parsePublic(read.bytes) : undefined
}

/**
 * Unlocked keys by file. One for the whole console: a passphrase is requested once, for the first server that needs the
 * key.
 */
export class KeyRing {
  readonly #prompt: PromptPassphrase | undefined
  readonly #keys = new Map<string, ParsedKey>()
  readonly #pending = new Map<string, Promise<ParsedKey | string>>()

  constructor(prompt?: PromptPassphrase) {
    this.#prompt = prompt
  }

  /** True until the key is unlocked: using it may require a passphrase. */
  isLocked(file: string): boolean {
    return !this.#keys.has(file)
  }

  /** @returns key, or the reason why it cannot be used. */
  async unlock(file: string): Promise<ParsedKey | string> {
    const known = this.#keys.get(file)
    if (known) return known
    const pending = this.#pending.get(file) ?? this.#unlock(file).finally(() => this.#pending.delete(file))
    this.#pending.set(file, pending)
    return pending
  }

  /** Forgets every unlocked key: on lock of the screen, on request. */
  forget(): void {
    this.#keys.clear()
  }

  async #unlock(file: string): Promise<ParsedKey | string> {
    const read = readPlainFile(file, KEY_BYTES, 'others-cannot-read')
    if (read.kind !== 'read') return `${file}: ${read.kind === 'absent' ? 'it is gone' : read.why}`
    try {
      const open = utils.parseKey(read.bytes)
      if (!(open instanceof Error)) return this.#keep(file, open)
      if (!/no passphrase given/.test(open.message)) return `${file}: ${plainLine(open.message)}`
      if (!this.#prompt) return `${file}: it needs a passphrase, and no prompt is available`
      for (let attempt = 1; attempt <= TRIES; attempt++) {
        const passphrase = await this.#prompt({ file, attempt })
        if (passphrase === undefined) return `${file}: no passphrase was given`
        try {
          const key = passphrase.length === 0 ? open : utils.parseKey(read.bytes, passphrase)
          if (!(key instanceof Error)) return this.#keep(file, key)
        } finally {
          passphrase.fill(0)
        }
      }
      return `${file}: the passphrase was wrong ${TRIES} times`
    } finally {
      read.bytes.fill(0)
    }
  }

  #keep(file: string, key: ParsedKey): ParsedKey | string {
    if (!key.isPrivateKey()) return `${file}: it has no private key`
    this.#keys.set(file, key)
    return key
  }
}
