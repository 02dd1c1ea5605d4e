/**
 * Streams of frames with back-pressure: at most `hz` a second, at most two not yet acknowledged, and always the newest.
 */
import type { ClusterMonitor } from '../cluster/monitor.ts'

/** Frames that may be under way to one window in one stream. */
const UNACKNOWLEDGED = 2
/** A stream whose window says nothing for this long is taken for dead, ms. */
const SILENCE_MS = 60_000

interface Stream {
  sent: number
  acknowledged: number
  wake: (() => void) | undefined
}

export class FramePump {
  readonly #streams = new Map<string, Stream>()

  /** The window behind `peer` has drawn frame `seq` of a stream. Unknown streams are ignored: they may just have ended. */
  acknowledge(peer: string, stream: string, seq: number): void {
    const s = this.#streams.get(`${peer}\u0000${stream}`)
    if (!s) return
    s.acknowledged = Math.max(s.acknowledged, Math.min(seq, s.sent))
    s.wake?.()
  }

  /**
   * Frames of one view until the window goes away.
   *
   * @param still  the view stands on a fixed sample: one frame is all there is to send.
   * @param build  makes the frame with the given number from the monitor's present state.
   */
  async *frames<F>(
    monitor: ClusterMonitor,
    query: { peer: string; stream: string; hz: number; still: boolean },
    signal: AbortSignal | undefined,
    build: (seq: number) => F,
  ): AsyncGenerator<F, void, void> {
    const key = `${query.peer}\u0000${query.stream}`
    const s: Stream = { sent: 0, acknowledged: 0, wake: undefined }
    this.#streams.set(key, s)
    const wake = (): void => s.wake?.()
    let fresh = true
    const offSample = monitor.onSample(() => {
      fresh = true
      wake()
    })
    signal?.addEventListener('abort', wake)
    const gapMs = 1000 / query.hz
    let lastMs = -Infinity
    try {
      while (!signal?.aborted) {
        const now = performance.now()
        const free = s.sent - s.acknowledged < UNACKNOWLEDGED
        const due = lastMs + gapMs - now
        // Timers fire a little late; a sample that comes a little early is not left for the next one.
        if (fresh && free && due <= 5 && !(query.still && s.sent > 0)) {
          fresh = false
          lastMs = now
          yield build(++s.sent)
          continue
        }
        if (!free && now - lastMs > SILENCE_MS) return
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, fresh && free && !query.still ? Math.max(1, due) : SILENCE_MS)
          s.wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        s.wake = undefined
      }
    } finally {
      offSample()
      signal?.removeEventListener('abort', wake)
      if (this.#streams.get(key) === s) this.#streams.delete(key)
    }
  }
}
