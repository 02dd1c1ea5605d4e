/**
 * Host keys that a person trusted on this machine: SHA256 fingerprints by `host`, `[host]:port` and key type. Not
 * synchronized, not exported, and apart from ~/.ssh/known_hosts, which is never written.
 *
 * Its file is replaced atomically, readable by its owner only. A damaged or newer one, or one that others may write, is
 * refused and not changed: starting empty would turn a changed key into an unknown one.
 */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import { fail, ok } from '#core/base/result.ts'
import { fileErrorText } from '../files/faults.ts'
import { writeFileAtomic } from '../files/atomic-file.ts'
import type { SshResult } from './failures.ts'
import { isFingerprint } from './host-key.ts'
import { hostAndPort } from './names.ts'
import { readPlainFile } from './plain-file.ts'

const VERSION = 1
const FILE_BYTES = 4 << 20
const ENTRIES = 10_000

const entry = z.strictObject({
  name: z.string().min(1).max(300),
  type: z.string().min(1).max(64),
  fingerprint: z.string().refine(isFingerprint),
  /** Unix ms. */
  sinceMs: z.number().int().nonnegative(),
})
const content = z.strictObject({ version: z.literal(VERSION), keys: z.array(entry).max(ENTRIES) })

export type TrustedKey = z.infer<typeof entry>

export class TrustStore {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** Reads all keys, or returns why they cannot be read. */
  read(): SshResult<readonly TrustedKey[]> {
    const read = readPlainFile(this.path, FILE_BYTES, 'others-cannot-write')
    if (read.kind === 'absent') return ok([])
    if (read.kind === 'unreadable') return this.#fault('cannot be read', read.why)
    let document: unknown
    try {
      document = JSON.parse(read.bytes.toString('utf8'))
    } catch {
      return this.#fault('cannot be read', 'it is not JSON')
    }
    const parsed = content.safeParse(document)
    return parsed.success ? ok(parsed.data.keys) : this.#fault('cannot be read', 'it is damaged, or of a newer Sluice')
  }

  /**
   * Adds one key of a server; one of each type is allowed, and another one of a known type is refused: it must be
   * removed first. The verdict decides whether a key may be trusted at all.
   */
  trust(host: string, port: number, type: string, fingerprint: string, nowMs: number): SshResult<undefined> {
    const name = hostAndPort(host, port)
    const added = entry.safeParse({ name, type, fingerprint, sinceMs: Math.floor(nowMs) })
    if (!added.success) return this.#fault('was not changed', 'this is not a key of a host')
    const keys = this.read()
    if (!keys.ok) return keys
    const there = keys.value.find((k) => k.name === name && k.type === type)
    if (there && there.fingerprint !== fingerprint) {
      return this.#fault('was not changed', `it has another ${type} key of ${name}`)
    }
    return there ? ok(undefined) : this.#rewrite((all) => [...all, added.data])
  }

  /** Removes a server, so that a new key can be accepted after the old one was replaced on purpose. */
  forget(host: string, port: number): SshResult<undefined> {
    const name = hostAndPort(host, port)
    return this.#rewrite((keys) => keys.filter((k) => k.name !== name))
  }

  #rewrite(change: (keys: readonly TrustedKey[]) => readonly TrustedKey[]): SshResult<undefined> {
    const keys = this.read()
    if (!keys.ok) return keys
    const text = `${JSON.stringify({ version: VERSION, keys: change(keys.value) }, null, 2)}\n`
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
      writeFileAtomic(this.path, text)
      return ok(undefined)
    } catch (e) {
      return this.#fault('cannot be written', fileErrorText(e))
    }
  }

  #fault(what: string, why: string): SshResult<never> {
    const next = 'Fix it, or move it away and check the fingerprints again.'
    return fail({ code: 'SSH_TRUST_STORE', what: `The trust store ${this.path} ${what}`, why, next })
  }
}
