/**
 * Questions to the person at the window: passphrases of private keys. Nothing of an answer is kept here; where it is asked for, the
 * system's keychain keeps it, and a key that it opens is not asked for again.
 */
import { randomBytes } from 'node:crypto'
import type { Ask } from '#core/api/clusters.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { AskPassphrase } from '../../ssh/private-key.ts'
import type { KeptSecrets } from '../shell/kept-secrets.ts'

/** Nobody at the window: a session is not held up for ever, ms. */
const LATE_MS = 300_000
const WAITING = 64

export class Asks {
  readonly #open = new Map<string, { readonly ask: Ask; readonly answer: (bytes: Buffer | undefined) => void }>()
  readonly #changed: () => void
  readonly #kept: KeptSecrets | undefined

  constructor(changed: () => void, kept?: KeptSecrets) {
    this.#changed = changed
    this.#kept = kept
  }

  get list(): Ask[] {
    return [...this.#open.values()].map((o) => o.ask)
  }

  readonly passphrase: AskPassphrase = async ({ file, attempt }) => {
    // One that did not open the key is worth nothing.
    if (attempt > 1) this.#kept?.forget(file)
    const kept = attempt === 1 ? await this.#kept?.of(file) : undefined
    if (kept) return kept
    if (this.#open.size >= WAITING) return undefined
    const id = randomBytes(6).toString('hex')
    return new Promise((resolve) => {
      const answer = (bytes: Buffer | undefined): void => {
        clearTimeout(late)
        this.#open.delete(id)
        resolve(bytes)
        this.#changed()
      }
      const late = setTimeout(() => answer(undefined), LATE_MS)
      late.unref()
      this.#open.set(id, { ask: { id, file, host: '', attempt }, answer })
      this.#changed()
    })
  }

  /** Failures: NO_SUCH_ASK; those of the keychain where it is to be kept, and then it waits on. */
  async answer(id: string, passphrase: string | null, remember = false): Promise<Result<undefined>> {
    const ask = this.#open.get(id)?.ask
    if (ask && remember && passphrase !== null && passphrase !== '') {
      const kept = (await this.#kept?.keep(ask.file, passphrase)) ?? ok(undefined)
      if (!kept.ok) return kept
    }
    const open = this.#open.get(id)
    if (!open) {
      return fail({
        code: 'NO_SUCH_ASK',
        what: 'The passphrase was not used',
        why: 'nobody waits for it any more',
        next: 'Connect again; it is asked for when a server wants the key.',
      })
    }
    open.answer(passphrase === null ? undefined : Buffer.from(passphrase, 'utf8'))
    return ok(undefined)
  }

  /** Nobody will answer any more. */
  close(): void {
    for (const o of [...this.#open.values()]) o.answer(undefined)
  }
}
