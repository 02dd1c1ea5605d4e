/**
 * Files that a window saves at a place the operator chose: only the host knows the path, and a file exists only once it
 * is complete.
 */
import { randomBytes } from 'node:crypto'
import { basename } from 'node:path'
import { plainText } from '#core/base/plain-text.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { PartialFile } from '../../files/partial-file.ts'

/** Most files being written at once. */
const OPEN = 4
/** Time after which a silent window is considered gone, ms. */
const LATE_MS = 60_000
const NAME_MOST = 150
/** Most dialogs per minute: a misbehaving window must not block everything else with them. */
const PROMPTS_MAX = 12
const MINUTE_MS = 60_000
/**
 * File types that the console writes. Other names are treated as text, so that nothing is started by a double click.
 */
const KIND = /\.(?:csv|json|jsonl|md|png|sh|svg|tar|toml|tsv|txt|yaml|yml|zip|zst|gz)$/i
/** Device names of Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

const refuse = (code: string, why: string, next?: string): { ok: false; error: Failure } =>
  fail({
    code,
    what: 'The file was not written',
    why,
    unaffected: 'An existing file of that name is not changed.',
    next,
  })

/** Sanitizes a proposed file name: no path, not hidden, no confusable characters. */
export function proposedName(name: string): string {
  const plain = name
    .replace(/[^\p{L}\p{N} ._-]+/gu, '-')
    .replace(/^[. -]+/, '')
    .replace(/[. ]+$/, '')
  const kind = KIND.exec(plain)?.[0] ?? (plain.includes('.') ? '.txt' : '')
  const stem = KIND.test(plain) ? plain.slice(0, -kind.length) : plain
  const shortened = [...stem].slice(0, NAME_MOST - kind.length).join('')
  return `${shortened.trim().replace(DEVICE, '$&-') || 'sluice'}${kind}`
}

interface Save {
  readonly peer: string
  readonly file: string
  readonly bytes: number
  readonly parts: PartialFile
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
  readonly #prompt: (name: string) => Promise<Result<string | null>>
  readonly #open = new Map<string, Save>()
  #isPrompting = false
  #promptedMs: number[] = []

  /** @param prompt  asks the operator for the place of a file; null: canceled. */
  constructor(prompt: (name: string) => Promise<Result<string | null>>) {
    this.#prompt = prompt
  }

  /** @returns id for the parts; null: the operator canceled. Failures: SAVE_BUSY, SAVE_FAILED, SHELL. */
  async begin(peer: string, name: string, bytes: number): Promise<Result<string | null>> {
    if (this.#isPrompting || this.#open.size >= OPEN) {
      return refuse('SAVE_BUSY', 'another file is being written', 'Wait until it ends.')
    }
    const nowMs = performance.now()
    this.#promptedMs = this.#promptedMs.filter((t) => nowMs - t < MINUTE_MS)
    if (this.#promptedMs.length >= PROMPTS_MAX) {
      return refuse('SAVE_BUSY', `the save dialog was opened ${PROMPTS_MAX} times in a minute`, 'Wait a minute.')
    }
    this.#promptedMs.push(nowMs)
    this.#isPrompting = true
    const chosen = await this.#prompt(proposedName(name)).finally(() => (this.#isPrompting = false))
    if (!chosen.ok || chosen.value === null) return chosen
    const file = chosen.value
    try {
      const parts = await PartialFile.open(file)
      const id = randomBytes(12).toString('hex')
      this.#open.set(id, { peer, file, bytes, parts, isBusy: false, late: this.#lateOf(id) })
      return ok(id)
    } catch (e) {
      return failed(e)
    }
  }

  /** @returns name of the file after its last part. Failures: NO_SUCH_SAVE, SAVE_ORDER, SAVE_FAILED. */
  async put(peer: string, { id, at, base64, isLast }: SavePart): Promise<Result<string | null>> {
    const save = this.#open.get(id)
    if (save?.peer !== peer) return refuse('NO_SUCH_SAVE', 'it is no longer being written', 'Export it again.')
    clearTimeout(save.late)
    const bytes = Buffer.from(base64, 'base64')
    const size = at + bytes.length
    if (save.isBusy || at !== save.parts.size || size > save.bytes || isLast !== (size === save.bytes)) {
      await this.#end(id)
      return refuse('SAVE_ORDER', 'its parts arrived out of order', 'Export it again.')
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
