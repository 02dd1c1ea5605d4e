/**
 * Key of the pseudonyms: 32 random bytes in the data folder, readable by the owner only, created at first use. With it
 * anyone can test which name a pseudonym belongs to; without it no one can. It never leaves this machine, and is never
 * replaced automatically, since all pseudonyms would change.
 */
import { hash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { NameKind } from '#core/snapshot/notebook.ts'

export type NameCode = (kind: NameKind, text: string) => string

export const KEY_FILE = 'pseudonym.key'
const HEAD = 'sluice pseudonym key 1'
const CONTENT = /^sluice pseudonym key 1\n([0-9a-f]{64})\n$/
const KEY_BYTES = 32
/** Digits and letters that are not easily confused. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'

let inMemory: NameCode | undefined
/** Keys and codes by file, so that the next export reuses cached codes. */
const byFile = new Map<string, { readonly key: Buffer; readonly code: NameCode }>()

/** Encodes bytes as letters, five bits each. */
function lettersOf(bytes: Buffer): string {
  let out = ''
  let held = 0
  let bits = 0
  for (const b of bytes) {
    held = ((held << 8) | b) & 0x1fff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      out += DIGITS[(held >> bits) & 31] as string
    }
  }
  return out
}

const BLOCK_BYTES = 64
/** Most cached codes: an export needs those of its preview again. */
const CODES_MOST = 50_000

/**
 * HMAC-SHA256 (RFC 2104) over the kind and the name. For ten thousand names it takes a third of the time of createHmac.
 */
export function codeOf(key: Buffer): NameCode {
  const padded = (with_: number): Buffer =>
    Buffer.alloc(BLOCK_BYTES)
      .fill(key, 0, key.length)
      .map((b) => b ^ with_) as Buffer
  const inner = padded(0x36)
  const outer = padded(0x5c)
  const known = new Map<string, string>()
  return (kind, text) => {
    const what = `${kind}\u0000${text}`
    let code = known.get(what)
    if (code === undefined) {
      code = codeFor(what)
      if (known.size < CODES_MOST) known.set(what, code)
    }
    return code
  }
  function codeFor(what: string): string {
    const message = Buffer.from(what)
    const digest = hash('sha256', Buffer.concat([inner, message]), 'buffer')
    return lettersOf(hash('sha256', Buffer.concat([outer, digest]), 'buffer'))
  }
}

function rememberedCode(file: string, key: Buffer): NameCode {
  const last = byFile.get(file)
  if (last?.key.equals(key) === true) return last.code
  const code = codeOf(key)
  byFile.set(file, { key, code })
  return code
}

const RESTORE = 'Restore the key from a backup; or move the file away, which changes every pseudonym.'

const refused = (file: string, why: string, next = RESTORE): Result<never> =>
  fail({
    code: 'PSEUDONYM_KEY',
    what: 'Names cannot be replaced by pseudonyms',
    why: `${file} ${why}`,
    unaffected: 'Nothing was exported, and no key was changed.',
    next,
  })

const codeIn = (e: unknown): string => (e instanceof Error && 'code' in e ? String(e.code) : '')

/** True for a file of another user than root; never if this process is root. A history may be in a folder that others can write to. */
function isOfOtherUser(uid: number): boolean {
  const processUid = process.getuid?.()
  return processUid !== undefined && processUid !== 0 && uid !== processUid && uid !== 0
}

/** Key of a folder, if it has one. */
function read(file: string): Result<Buffer | undefined> {
  let text: string
  try {
    const stat = lstatSync(file)
    // A link may lead to another user's file, and a pipe would block.
    if (!stat.isFile()) return refused(file, 'is not a regular file')
    if (stat.size > 1_024) return refused(file, 'is not a key: it is too long')
    if (isOfOtherUser(stat.uid)) return refused(file, 'belongs to another user, who would know every name')
    text = readFileSync(file, 'utf8')
    if (CONTENT.test(text) && (stat.mode & 0o077) !== 0) chmodSync(file, 0o600)
  } catch (e) {
    if (codeIn(e) === 'ENOENT') return ok(undefined)
    return refused(file, `cannot be read: ${e instanceof Error ? e.message : String(e)}`)
  }
  const hex = CONTENT.exec(text)?.[1]
  return hex === undefined ? refused(file, 'is damaged') : ok(Buffer.from(hex, 'hex'))
}

/** Creates a key if there is none. Of two concurrent creations the first wins. @throws the file system error. */
function make(file: string): void {
  const temporary = `${file}.${randomBytes(4).toString('hex')}`
  try {
    const handle = openSync(temporary, 'wx', 0o600)
    try {
      writeSync(handle, `${HEAD}\n${randomBytes(KEY_BYTES).toString('hex')}\n`)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    linkSync(temporary, file)
  } catch (e) {
    if (codeIn(e) !== 'EEXIST') throw e
  } finally {
    rmSync(temporary, { force: true })
  }
}

/**
 * Pseudonyms of names under this console's key.
 *
 * @param dataDir  undefined: the key lives as long as this process.
 * @returns        failures: PSEUDONYM_KEY if the key is damaged, cannot be read or cannot be created.
 */
export function pseudonymCode(dataDir: string | undefined): Result<NameCode> {
  if (dataDir === undefined) return ok((inMemory ??= codeOf(randomBytes(KEY_BYTES))))
  const file = join(dataDir, KEY_FILE)
  const known = read(file)
  if (!known.ok) return known
  if (known.value) return ok(rememberedCode(file, known.value))
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    make(file)
  } catch (e) {
    const why = `cannot be created: ${e instanceof Error ? e.message : String(e)}`
    return refused(file, why, 'Free space in the data folder, or make it writable, and try again.')
  }
  const made = read(file)
  if (!made.ok) return made
  return made.value ? ok(rememberedCode(file, made.value)) : refused(file, 'was removed')
}
