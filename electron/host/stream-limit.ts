/** Most streams that one window can have open at once; views, dialogs and exports of a window together need a dozen. */
import { ORPCError } from '@orpc/server'
import type { Notice } from '#core/api/frames.ts'

export const MAX_STREAMS = 64

const TOO_MANY: Notice = {
  code: 'TOO_MANY_STREAMS',
  what: 'The stream was not opened',
  why: `this window has ${MAX_STREAMS} open`,
  unaffected: 'The streams that are open, and every other window.',
  next: 'Reload the window.',
}

type Stream = AsyncIterator<unknown, unknown, unknown>

const isStream = (output: unknown): output is Stream =>
  typeof output === 'object' && output !== null && Symbol.asyncIterator in output && 'next' in output

/** Counts the open streams of each window. */
export class StreamLimit {
  readonly #open = new Map<string, number>()

  /**
   * Output of a verb; a stream is counted until it ends or is closed. Throws the refusal if the window has too many
   * streams.
   */
  admit<T>(peer: string, output: T): T {
    if (!isStream(output)) return output
    const open = this.#open.get(peer) ?? 0
    if (open >= MAX_STREAMS) {
      void output.return?.()
      throw new ORPCError('REFUSED', { status: 409, message: TOO_MANY.what, data: TOO_MANY, defined: true })
    }
    this.#open.set(peer, open + 1)
    return counted(output, () => this.#release(peer)) as T
  }

  #release(peer: string): void {
    const remaining = (this.#open.get(peer) ?? 1) - 1
    if (remaining === 0) this.#open.delete(peer)
    else this.#open.set(peer, remaining)
  }
}

/** Stream that calls `release` once when it is over. A generator that never ran cannot signal this itself. */
function counted(stream: Stream, release: () => void): AsyncGenerator {
  let isOver = false
  const over = (): void => {
    if (!isOver) release()
    isOver = true
  }
  const watched = async (
    step: Promise<IteratorResult<unknown, unknown>>,
  ): Promise<IteratorResult<unknown, unknown>> => {
    try {
      const result = await step
      if (result.done === true) over()
      return result
    } catch (error) {
      over()
      throw error
    }
  }
  const end = (value: unknown): Promise<IteratorResult<unknown, unknown>> => {
    over()
    return stream.return?.(value) ?? Promise.resolve({ done: true, value })
  }
  return {
    next: (value: unknown) => watched(stream.next(value)),
    return: end,
    // A stream without a `throw` method ends with the error.
    throw: async (error: unknown) => {
      if (stream.throw) return watched(stream.throw(error))
      over()
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
    [Symbol.asyncDispose]: async () => void (await end(undefined)),
  }
}
