/** One commit, server by server as it is sent; kept until the next one, so that its end can be looked at. */
import type { CommitProgress, NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import type { ServerProgress, WatchProgress } from '../../enforce/change.ts'

export class Commit {
  readonly service: ServiceName
  readonly planId: string
  readonly #nodes = new Map<string, ServerProgress>()
  readonly #abort = new AbortController()
  readonly #changed: () => void
  #watch: WatchProgress | undefined
  #isOver = false
  #ends: readonly NodeEnd[] = []
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

  /** How every server ended; empty while it is sent, and where nothing was. */
  get ends(): readonly NodeEnd[] {
    return this.#ends
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

  /** @param ends  of the servers; none where the commit was refused. */
  end(ends: readonly NodeEnd[]): void {
    this.#isOver = true
    this.#ends = ends
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
