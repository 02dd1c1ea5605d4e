/**
 * Passphrases in the system keychain, if a real one exists. The file on disk can be decrypted only by the keychain of
 * this user on this machine; without a keychain nothing is stored, because the fallback key is public.
 */
import * as z from 'zod'
import { fail, ok, type Result } from '#core/base/result.ts'
import { readPlain } from '../../files/plain-file.ts'
import { writeFileAtomic } from '../../files/atomic-file.ts'
import type { Keychain, KeychainState } from './shell.ts'

const VERSION = 1
const MOST = 64
const FILE_BYTES = 1 << 20

const document = z.object({
  version: z.literal(VERSION),
  passphrases: z.record(z.string().min(1).max(4096), z.string().max(32_768)),
})

const NOT_SAVED = 'The passphrase was not stored'

export class SecretStore {
  readonly #file: string | undefined
  readonly #keychain: Keychain | undefined
  readonly #sealed: Map<string, string>

  /**
   * @param file      file of sealed texts; undefined: none.
   * @param keychain  undefined if there is none.
   */
  constructor(file: string | undefined, keychain: Keychain | undefined) {
    this.#file = file
    this.#keychain = keychain
    this.#sealed = new Map(file === undefined ? [] : Object.entries(stored(file)))
  }

  /** Key files with kept passphrases. */
  get files(): string[] {
    return [...this.#sealed.keys()]
  }

  async state(): Promise<KeychainState> {
    if (!this.#keychain) return { can: false, why: 'only the desktop application can use the keychain' }
    if (this.#file === undefined) return { can: false, why: 'this console has no data folder' }
    return this.#keychain.state()
  }

  /**
   * Returns the stored passphrase of a key file; undefined if there is none, or if the keychain does not open it. The
   * caller must zero the bytes after use.
   */
  async of(file: string): Promise<Buffer | undefined> {
    const sealed = this.#sealed.get(file)
    if (sealed === undefined || !this.#keychain) return undefined
    const opened = await this.#keychain.open(sealed)
    return opened.ok ? Buffer.from(opened.value, 'utf8') : undefined
  }

  /** Failures: KEYCHAIN, SECRETS_FULL, SECRETS_NOT_WRITTEN. */
  async keep(file: string, passphrase: string): Promise<Result<undefined>> {
    const state = await this.state()
    const next = 'Continue without storing it.'
    if (!state.can || !this.#keychain) return fail({ code: 'KEYCHAIN', what: NOT_SAVED, why: state.why, next })
    if (!this.#sealed.has(file) && this.#sealed.size >= MOST) {
      return fail({ code: 'SECRETS_FULL', what: NOT_SAVED, why: `there are ${MOST}`, next: 'Forget one.' })
    }
    const sealed = await this.#keychain.seal(passphrase)
    if (!sealed.ok) return sealed
    const before = this.#sealed.get(file)
    this.#sealed.set(file, sealed.value)
    const written = this.#write()
    if (!written.ok) {
      if (before === undefined) this.#sealed.delete(file)
      else this.#sealed.set(file, before)
    }
    return written
  }

  /** @returns number of removed passphrases. Failure: SECRETS_NOT_WRITTEN. */
  forget(file: string | null): Result<number> {
    const gone = file === null ? this.files : this.files.filter((f) => f === file)
    if (gone.length === 0) return ok(0)
    for (const f of gone) this.#sealed.delete(f)
    const written = this.#write()
    return written.ok ? ok(gone.length) : written
  }

  #write(): Result<undefined> {
    if (this.#file === undefined) return ok(undefined)
    try {
      writeFileAtomic(this.#file, JSON.stringify({ version: VERSION, passphrases: Object.fromEntries(this.#sealed) }))
      return ok(undefined)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return fail({ code: 'SECRETS_NOT_WRITTEN', what: 'The stored passphrases were not updated', why })
    }
  }
}

/** An unreadable file counts as empty: passphrases are asked for again. */
function stored(file: string): Record<string, string> {
  try {
    return document.parse(JSON.parse(readPlain(file, FILE_BYTES))).passphrases
  } catch {
    return {}
  }
}
