/** Status documents of the recent past, as text: what stood at a paused sample is read again, exactly. Bounded by size. */
import { padllStatus, type PadllStatus } from '#core/padll/status.ts'
import { fail, ok, type Result } from '#core/base/result.ts'

/** Kept for as long as samples of a cluster can be in memory as they were taken, and up to so many characters in all. */
const KEPT_MS = 1_800_000
const CHARS_MAX = 32_000_000
/** An answer longer than this is not a status. */
export const DOCUMENT_MAX = 16_000_000

/** Reads a status document; the error says what is wrong with it. */
export function readStatus(text: string): Result<PadllStatus, string> {
  if (text.length > DOCUMENT_MAX) return fail(`the answer has ${text.length} characters`)
  let plain: unknown
  try {
    plain = JSON.parse(text)
  } catch {
    return fail('the answer is not JSON')
  }
  const read = padllStatus.safeParse(plain)
  if (read.success) return ok(read.data)
  const issue = read.error.issues[0]
  return fail(`${issue?.path.map(String).join('.').slice(0, 100) ?? ''}: ${issue?.message ?? 'not a status document'}`)
}

export class PadllDocuments {
  #kept: { readonly atMs: number; readonly text: string }[] = []
  #chars = 0
  #last: { readonly atMs: number; readonly status: PadllStatus } | undefined
  /** The one that a paused view asks for again and again. */
  #past: { readonly atMs: number; readonly status: PadllStatus | undefined } | undefined

  /** @param atMs  when it was read, on the source's clock, never going back. */
  add(atMs: number, text: string, status: PadllStatus): void {
    this.#kept.push({ atMs, text })
    this.#chars += text.length
    this.#last = { atMs, status }
    let gone = 0
    // The one before the first that is young enough stands still: it is what was known then.
    const isOver = (): boolean => this.#chars > CHARS_MAX || (this.#kept[gone + 1]?.atMs ?? Infinity) <= atMs - KEPT_MS
    while (gone < this.#kept.length - 1 && isOver()) this.#chars -= this.#kept[gone++]?.text.length ?? 0
    if (gone > 0) this.#kept.splice(0, gone)
  }

  get newest(): { readonly atMs: number; readonly status: PadllStatus } | undefined {
    return this.#last
  }

  /** The document that was newest at an instant; undefined before the first, and for what is no longer kept. */
  at(atMs: number): { readonly atMs: number; readonly status: PadllStatus } | undefined {
    if (this.#last && atMs >= this.#last.atMs) return this.#last
    let lo = 0
    let hi = this.#kept.length
    while (lo < hi) {
      const mid = (lo + hi) >> 1
      if ((this.#kept[mid]?.atMs ?? 0) <= atMs) lo = mid + 1
      else hi = mid
    }
    const found = this.#kept[lo - 1]
    if (!found) return undefined
    if (this.#past?.atMs !== found.atMs) {
      const read = readStatus(found.text)
      this.#past = { atMs: found.atMs, status: read.ok ? read.value : undefined }
    }
    const { status } = this.#past
    return status && { atMs: found.atMs, status }
  }
}
