/**
 * The active view: a source, or a playback of one. Verbs always act on the source; views show the playback while there
 * is one.
 */
import type { ClusterMonitor } from '../cluster/monitor.ts'
import type { Console } from './console.ts'
import { viewsOf, type ViewSet } from './view-set.ts'

/** Playback shown in place of the source, which keeps running. */
export interface ActivePlayback {
  readonly views: ViewSet
  /** Called when the playback ends. */
  end(): void
}

export class ActiveView {
  #console: Console
  #views: ViewSet
  #playback: ActivePlayback | undefined
  #off: () => void
  #turn = 0
  readonly #listeners = new Set<() => void>()

  constructor(console: Console) {
    this.#console = console
    this.#views = viewsOf(console)
    this.#off = console.monitor.onChange(() => this.#changed())
  }

  get console(): Console {
    return this.#console
  }

  get monitor(): ClusterMonitor {
    return this.#console.monitor
  }

  /** Calls `listener` when the source has new data, or is another one. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Frames of the playback, or else of the source. */
  get views(): ViewSet {
    return this.#playback?.views ?? this.#views
  }

  /** Number of switches to another source or playback. */
  get turn(): number {
    return this.#turn
  }

  get playback(): ActivePlayback | undefined {
    return this.#playback
  }

  /** Shows a playback, or with undefined the source again. */
  play(playback: ActivePlayback | undefined): void {
    if (playback === this.#playback) return
    this.#playback?.end()
    this.#playback = playback
    this.#turn++
    this.#changed()
  }

  /** Makes a source active; ends a playback. */
  show(console: Console): void {
    this.play(undefined)
    if (console === this.#console) return
    this.#off()
    this.#console = console
    this.#views = viewsOf(console)
    this.#off = console.monitor.onChange(() => this.#changed())
    this.#turn++
    this.#changed()
  }

  #changed(): void {
    for (const l of [...this.#listeners]) l()
  }
}
