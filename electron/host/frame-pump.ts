/**
 * Frame streams with back-pressure: at most `hz` frames a second, at most two unacknowledged, always the newest. A
 * window that shows a fixed sample and has drawn it gets the adjacent samples' frames in advance. Windows are served
 * round-robin: one with many streams does not delay another.
 */
/** Most unacknowledged frames per stream. */
const UNACKNOWLEDGED = 2
/** Time after which a stream without acknowledgements is considered dead, ms. */
const SILENCE_MS = 60_000
const BEAT_MS = 1_000

/** Source of frames; notifies of new data. */
export interface Changing {
  onChange(listener: () => void): () => void
}

interface StreamQuery {
  readonly peer: string
  readonly stream: string
  readonly hz: number
  /** Sample to show; null = follow the newest. */
  readonly at: number | null
  readonly isFixed: boolean
  readonly beats: boolean
  readonly ahead?: boolean
}

interface Stream {
  at: number | null
  /** Samples that the window may step to next, the most likely first; their frames are not sent yet. */
  beside: number[]
  /** True if the cursor has moved since the last frame. */
  hasMoved: boolean
  sent: number
  acknowledged: number
  wake: (() => void) | undefined
}

/**
 * Samples to prefetch next to `at`: the next one in the direction of movement (the window has the one it came from); at
 * the first fixed sample both sides.
 */
function beside(from: number | null, at: number | null): number[] {
  if (at === null || at === from) return []
  if (from === null) return [at - 1, at + 1].filter((sample) => sample > 0)
  const next = at + Math.sign(at - from)
  // After a jump the window has neither neighbor.
  const other = Math.abs(at - from) === 1 ? [] : [2 * at - next]
  return [next, ...other].filter((sample) => sample > 0)
}

/** Serializes the building of frames, round-robin over windows, yielding to the event loop between frames. */
class RoundRobin {
  /** Waiting builds by window, in the order of service. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isTaken = false

  /** Resolves when `peer` may build; at once if nothing is waiting. */
  take(peer: string): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true
      setImmediate(() => this.#pass())
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(peer)
      if (waiting) waiting.push(resolve)
      else this.#waiting.set(peer, [resolve])
    })
  }

  #pass(): void {
    const [first] = this.#waiting
    if (!first) {
      this.#isTaken = false
      return
    }
    const [peer, [next, ...others]] = first
    this.#waiting.delete(peer)
    if (others.length > 0) this.#waiting.set(peer, others)
    next?.()
    setImmediate(() => this.#pass())
  }
}

export class FramePump {
  readonly #streams = new Map<string, Stream>()
  readonly #queue = new RoundRobin()

  /**
   * Acknowledges that the window behind `peer` has drawn frame `seq` of a stream. Unknown streams are ignored: they may
   * just have ended.
   */
  acknowledge(peer: string, stream: string, seq: number): void {
    const s = this.#streams.get(`${peer}\u0000${stream}`)
    if (!s) return
    s.acknowledged = Math.max(s.acknowledged, Math.min(seq, s.sent))
    s.wake?.()
  }

  /**
   * Moves the cursor of a stream: its next frame shows that sample, at once. Earlier moves not yet drawn are skipped.
   */
  seek(peer: string, stream: string, at: number | null): boolean {
    const s = this.#streams.get(`${peer}\u0000${stream}`)
    if (!s) return false
    s.beside = beside(s.at, at)
    s.at = at
    s.hasMoved = true
    s.wake?.()
    return true
  }

  /**
   * Frames of one view until the window closes it: by the signal, or by no longer reading.
   *
   * @param query.isFixed  a view of a fixed sample (`at`) is one frame until the cursor moves; otherwise every view
   * follows.
   * @param query.beats   a frame is sent at least once a second, also without a new sample.
   * @param query.ahead   frames of the samples adjacent to a fixed one follow it.
   * @param build         builds the frame with the given number, of the given sample, from the present state.
   */
  frames<F>(
    source: Changing,
    query: StreamQuery,
    signal: AbortSignal | undefined,
    build: (seq: number, at: number | null, isAhead: boolean) => F,
  ): AsyncGenerator<F, void, void> {
    const ended = new AbortController()
    const frames = this.#frames(source, query, signal ? AbortSignal.any([signal, ended.signal]) : ended.signal, build)
    // A generator waiting for a sample would not notice its end before the next one.
    const end = frames.return.bind(frames)
    frames.return = (value) => {
      ended.abort()
      return end(value)
    }
    return frames
  }

  async *#frames<F>(
    source: Changing,
    query: StreamQuery,
    signal: AbortSignal,
    build: (seq: number, at: number | null, isAhead: boolean) => F,
  ): AsyncGenerator<F, void, void> {
    const key = `${query.peer}\u0000${query.stream}`
    const s: Stream = {
      at: query.at,
      beside: beside(null, query.at),
      hasMoved: false,
      sent: 0,
      acknowledged: 0,
      wake: undefined,
    }
    this.#streams.set(key, s)
    const wake = (): void => s.wake?.()
    let fresh = true
    const offChange = source.onChange(() => {
      fresh = true
      wake()
    })
    signal.addEventListener('abort', wake)
    const gapMs = 1000 / query.hz
    let lastMs = -Infinity
    try {
      while (!signal.aborted) {
        const now = performance.now()
        if (query.beats && now - lastMs >= BEAT_MS) fresh = true
        const free = s.sent - s.acknowledged < UNACKNOWLEDGED
        const due = s.hasMoved ? 0 : lastMs + gapMs - now
        const isStill = query.isFixed && s.at !== null && s.sent > 0
        const isWanted = s.hasMoved || (fresh && !isStill)
        // Timers fire slightly late; a sample that is slightly early is sent now, not with the next one.
        if (isWanted && free && due <= 5) {
          await this.#queue.take(query.peer)
          if (signal.aborted) return
          fresh = s.hasMoved = false
          lastMs = Math.max(now, lastMs + gapMs)
          yield build(++s.sent, s.at, false)
          continue
        }
        // Only once the window has drawn everything requested: prefetching delays nothing.
        if (query.ahead && query.isFixed && s.at !== null && !s.hasMoved && s.sent > 0 && s.sent === s.acknowledged) {
          const next = s.beside.shift()
          if (next !== undefined) {
            yield build(++s.sent, next, true)
            continue
          }
        }
        if (!free && now - lastMs > SILENCE_MS) return
        await new Promise<void>((resolve) => {
          const idleMs = query.beats && free ? BEAT_MS : SILENCE_MS
          const timer = setTimeout(resolve, isWanted && free ? Math.max(1, due) : idleMs)
          s.wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        s.wake = undefined
      }
    } finally {
      offChange()
      signal.removeEventListener('abort', wake)
      if (this.#streams.get(key) === s) this.#streams.delete(key)
    }
  }
}
