/** Files that a window has written where a person chose: the place is known here alone, and a file is there only when it is whole. */
import { randomBytes } from 'node:crypto'
import { basename } from 'node:path'
import { plainText } from '#core/base/plain-text.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { WholeParts } from '../../files/whole-parts.ts'

/** Files that are being written at once. */
const OPEN = 4
/** A window that says nothing more is gone, ms. */
const LATE_MS = 60_000
const NAME_MOST = 150
/** Questions in a minute: a window that goes on asking is not left with the dialog in the way of everything else. */
const ASKED_MOST = 12
const MINUTE_MS = 60_000
/** Kinds of files that the console writes. Another name is of a text: nothing that a desktop would start on a double click. */
const KIND = /\.(?:csv|json|jsonl|md|png|sh|svg|tar|toml|tsv|txt|yaml|yml|zip|zst|gz)$/i
/** Devices of Windows, whatever stands behind the dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

const refuse = (code: string, why: string, next?: string): { ok: false; error: Failure } =>
  fail({ code, what: 'The file was not written', why, unaffected: 'A file of that name stays as it was.', next })

/** The name that is proposed: no path, nothing hidden, nothing that reads as another one. */
export function proposedName(name: string): string {
  const plain = name
    .replace(/[^\p{L}\p{N} ._-]+/gu, '-')
    .replace(/^[. -]+/, '')
    .replace(/[. ]+$/, '')
  const kind = KIND.exec(plain)?.[0] ?? (plain.includes('.') ? '.txt' : '')
  const stem = KIND.test(plain) ? plain.slice(0, -kind.length) : plain
  const whole = [...stem].slice(0, NAME_MOST - kind.length).join('')
  return `${whole.trim().replace(DEVICE, '$&-') || 'sluice'}${kind}`
}

interface Save {
  readonly peer: string
  readonly file: string
  readonly bytes: number
  readonly parts: WholeParts
  isBusy: boolean
  late: NodeJS.Timeout
}

export interface SavePart {
  readonly id: string
  readonly at: number
  readonly base64: string
  readonly isLast: boolean
}

export class Saves {
  readonly #ask: (name: string) => Promise<Result<string | null>>
  readonly #open = new Map<string, Save>()
  #asking = false
  #askedMs: number[] = []

  /** @param ask  asks a person for the place of a file; null: nowhere. */
  constructor(ask: (name: string) => Promise<Result<string | null>>) {
    this.#ask = ask
  }

  /** @returns under which id its parts are taken; null: the person chose no place. Failures: SAVE_BUSY, SAVE_FAILED, SHELL. */
  async begin(peer: string, name: string, bytes: number): Promise<Result<string | null>> {
    if (this.#asking || this.#open.size >= OPEN) {
      return refuse('SAVE_BUSY', 'another file is being written', 'Wait for its end.')
    }
    const nowMs = performance.now()
    this.#askedMs = this.#askedMs.filter((t) => nowMs - t < MINUTE_MS)
    if (this.#askedMs.length >= ASKED_MOST) {
      return refuse('SAVE_BUSY', `a place was asked for ${ASKED_MOST} times in a minute`, 'Wait a minute.')
    }
    this.#askedMs.push(nowMs)
    this.#asking = true
    const chosen = await this.#ask(proposedName(name)).finally(() => (this.#asking = false))
    if (!chosen.ok || chosen.value === null) return chosen
    const file = chosen.value
    try {
      const parts = await WholeParts.open(file)
      const id = randomBytes(12).toString('hex')
      this.#open.set(id, { peer, file, bytes, parts, isBusy: false, late: this.#lateOf(id) })
      return ok(id)
    } catch (e) {
      return failed(e)
    }
  }

  /** @returns the file's name with its last part. Failures: NO_SUCH_SAVE, SAVE_ORDER, SAVE_FAILED. */
  async put(peer: string, { id, at, base64, isLast }: SavePart): Promise<Result<string | null>> {
    const save = this.#open.get(id)
    if (save?.peer !== peer) return refuse('NO_SUCH_SAVE', 'nobody writes it any more', 'Export it again.')
    clearTimeout(save.late)
    const bytes = Buffer.from(base64, 'base64')
    const size = at + bytes.length
    if (save.isBusy || at !== save.parts.size || size > save.bytes || isLast !== (size === save.bytes)) {
      await this.#end(id)
      return refuse('SAVE_ORDER', 'its parts did not come in order', 'Export it again.')
    }
    save.isBusy = true
    try {
      await save.parts.add(bytes)
      if (!isLast) {
        save.late = this.#lateOf(id)
        return ok(null)
      }
      await save.parts.finish()
      this.#open.delete(id)
      return ok(plainText(basename(save.file)))
    } catch (e) {
      await this.#end(id)
      return failed(e)
    } finally {
      save.isBusy = false
    }
  }

  async drop(peer: string, id: string): Promise<void> {
    if (this.#open.get(id)?.peer === peer) await this.#end(id)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.#end(id)))
  }

  #lateOf(id: string): NodeJS.Timeout {
    const late = setTimeout(() => void this.#end(id), LATE_MS)
    late.unref()
    return late
  }

  async #end(id: string): Promise<void> {
    const save = this.#open.get(id)
    this.#open.delete(id)
    clearTimeout(save?.late)
    await save?.parts.drop()
  }
}

const failed = (e: unknown): { ok: false; error: Failure } =>
  refuse('SAVE_FAILED', e instanceof Error ? e.message : String(e), 'Choose another place.')
