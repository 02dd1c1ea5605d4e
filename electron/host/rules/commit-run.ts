/** A commit while it is sent, server by server, for whoever looks; kept until the next one. */
import type { CommitProgress, ServiceName } from '#core/api/rule-edits.ts'
import type { ServerProgress, WatchProgress } from '../../enforce/change.ts'

export class CommitRun {
  readonly service: ServiceName
  readonly planId: string
  readonly #nodes = new Map<string, ServerProgress>()
  readonly #abort = new AbortController()
  readonly #changed: () => void
  #watch: WatchProgress | undefined
  #isOver = false
  #ended: () => void = () => undefined
  /** Resolves at its end. */
  readonly over = new Promise<void>((resolve) => (this.#ended = resolve))

  constructor(service: ServiceName, planId: string, changed: () => void) {
    this.service = service
    this.planId = planId
    this.#changed = changed
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** The first server is brought back while it is watched; servers that nothing was sent to get nothing. */
  cancel(): void {
    this.#abort.abort()
    this.#changed()
  }

  readonly onServer = (p: ServerProgress): void => {
    this.#nodes.set(p.host, p)
    this.#changed()
  }

  readonly onWatch = (w: WatchProgress | undefined): void => {
    this.#watch = w
    this.#changed()
  }

  end(): void {
    this.#isOver = true
    this.#watch = undefined
    this.#ended()
  }

  get progress(): CommitProgress {
    const watch = this.#watch
    return {
      planId: this.planId,
      isOver: this.#isOver,
      isCancelled: this.#abort.signal.aborted,
      nodes: [...this.#nodes.values()],
      watch: watch ? { ...watch, says: [...watch.says] } : null,
    }
  }
}
