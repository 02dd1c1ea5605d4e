/** Keys of emulated servers: who is let in, and by what they are known. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import ssh2, { type ParsedKey } from 'ssh2'
import { fail, ok, type Result } from '#core/base/result.ts'

/** A folder for one run, for its user only. */
export interface RunFolder {
  readonly path: string
  remove(): void
}

export function runFolder(): RunFolder {
  const path = mkdtempSync(join(tmpdir(), 'sluice-emulate-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** The key that is let in. */
export interface LoginKey {
  /** Path of the private half. */
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

/** ssh2 1.17 loses the first byte of a public key when it is 0: one pair of 256 is none, and another one is made. */
function newPair(comment: string): { readonly private: string; readonly public: string } {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment })
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair
  }
}

/** A key pair that is there: only its public half is read. Failure: EMULATE_KEY. */
export function existingKey(file: string): Result<LoginKey> {
  const identity = resolve(file.replace(/\.pub$/, ''))
  const half = `${identity}.pub`
  let text: string
  try {
    text = readFileSync(half, 'utf8')
  } catch (e) {
    return unusable(half, e instanceof Error ? e.message : String(e))
  }
  // Of a private key given by mistake nothing is taken.
  if (text.includes('PRIVATE KEY')) return unusable(half, 'it holds a private key')
  const parsed = parsePublic(text, half)
  return parsed.ok ? ok({ identity, publicKey: parsed.value }) : parsed
}

/** A new ed25519 key pair in a folder, readable to its owner only. */
export function newKey(folder: string): Result<LoginKey> {
  const identity = join(folder, 'id_ed25519')
  const pair = newPair('sluice emulate')
  writeFileSync(identity, pair.private, { mode: 0o600, flag: 'wx' })
  writeFileSync(`${identity}.pub`, `${pair.public}\n`, { mode: 0o600, flag: 'wx' })
  const parsed = parsePublic(pair.public, identity)
  return parsed.ok ? ok({ identity, publicKey: parsed.value }) : parsed
}

/** A host key of one run. */
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
