/** Questions to the person at the window: passphrases of private keys. Nothing of an answer is kept here. */
import { randomBytes } from 'node:crypto'
import type { Ask } from '#core/api/clusters.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { AskPassphrase } from '../../ssh/private-key.ts'

/** Nobody at the window: a session is not held up for ever, ms. */
const LATE_MS = 300_000
const WAITING = 64

export class Asks {
  readonly #open = new Map<string, { readonly ask: Ask; readonly answer: (bytes: Buffer | undefined) => void }>()
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  get list(): Ask[] {
    return [...this.#open.values()].map((o) => o.ask)
  }

  readonly passphrase: AskPassphrase = ({ file, attempt }) => {
    if (this.#open.size >= WAITING) return Promise.resolve(undefined)
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

  /** Failure: NO_SUCH_ASK. */
  answer(id: string, passphrase: string | null): Result<undefined> {
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
