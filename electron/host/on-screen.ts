/**
 * The one thing that is on screen: a source, or what is played back of one. What verbs work on is always the source; what views
 * show is the playback while there is one.
 */
import type { ClusterMonitor } from '../cluster/monitor.ts'
import type { Console } from './console.ts'
import { viewsOf, type ViewSet } from './view-set.ts'

/** Something recorded in the place of the source, which goes on behind it. */
export interface OnPlayback {
  readonly views: ViewSet
  /** It is no longer on screen. */
  end(): void
}

export class OnScreen {
  #console: Console
  #views: ViewSet
  #playback: OnPlayback | undefined
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

  /** Calls `listener` when the source has something new, or is another one. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** What views show. */
  get views(): ViewSet {
    return this.#playback?.views ?? this.#views
  }

  /** How often something else has come on screen. */
  get turn(): number {
    return this.#turn
  }

  get playback(): OnPlayback | undefined {
    return this.#playback
  }

  /** Puts something recorded on screen, or with undefined the source again. */
  play(playback: OnPlayback | undefined): void {
    if (playback === this.#playback) return
    this.#playback?.end()
    this.#playback = playback
    this.#turn++
    this.#changed()
  }

  /** Puts a source on screen; a playback ends. */
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
