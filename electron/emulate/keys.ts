/** Keys of emulated servers: the authorized login key and the host keys. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import ssh2, { type ParsedKey } from 'ssh2'
import { fail, ok, type Result } from '#core/base/result.ts'

/** Private folder of one run. */
export interface RunFolder {
  readonly path: string
  remove(): void
}

export function runFolder(): RunFolder {
  const path = mkdtempSync(join(tmpdir(), 'sluice-emulate-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** The authorized login key. */
export interface LoginKey {
  /** Path of the private key. */
  readonly identity: string
  readonly publicKey: ParsedKey
}

const unusable = (file: string, why: string): Result<never> =>
  fail({
    code: 'EMULATE_KEY',
    what: `The key ${file} cannot be used`,
    why,
    next: 'Name a private key whose .pub is beside it.',
  })

function parsePublic(text: string, file: string): Result<ParsedKey> {
  const parsed = ssh2.utils.parseKey(text)
  if (parsed instanceof Error) return unusable(file, parsed.message)
  return ok(parsed)
}

/**
 * Creates a key pair. ssh2 1.17 drops the first byte of a public key if it is 0: one pair of 256 is invalid, and is created again.
 */
function newPair(comment: string): { readonly private: string; readonly public: string } {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment })
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair
  }
}

/** Uses an existing key pair, of which only the public half is read. Failure: EMULATE_KEY. */
export function existingKey(file: string): Result<LoginKey> {
  const identity = resolve(file.replace(/\.pub$/, ''))
  const half = `${identity}.pub`
  let text: string
  try {
    text = readFileSync(half, 'utf8')
  } catch (e) {
    return unusable(half, e instanceof Error ? e.message : String(e))
  }
  // A private key given by mistake is not used.
  if (text.includes('PRIVATE KEY')) return unusable(half, 'it holds a private key')
  const parsed = parsePublic(text, half)
  return parsed.ok ? ok({ identity, publicKey: parsed.value }) : parsed
}

/** Creates an ed25519 key pair in a folder, readable to its owner only. */
export function newKey(folder: string): Result<LoginKey> {
  const identity = join(folder, 'id_ed25519')
  const pair = newPair('sluice emulate')
  writeFileSync(identity, pair.private, { mode: 0o600, flag: 'wx' })
  writeFileSync(`${identity}.pub`, `${pair.public}\n`, { mode: 0o600, flag: 'wx' })
  const parsed = parsePublic(pair.public, identity)
  return parsed.ok ? ok({ identity, publicKey: parsed.value }) : parsed
}

/** Host key of one run. */
export interface RunHostKey {
  readonly private: string
  /** `ssh-ed25519 AAAA…` */
  readonly public: string
  readonly blob: Buffer
}

export function newHostKey(): RunHostKey {
  const pair = newPair('host')
  const half = pair.public.split(' ').slice(0, 2).join(' ')
  return { private: pair.private, public: half, blob: Buffer.from(half.split(' ')[1] ?? '', 'base64') }
}
