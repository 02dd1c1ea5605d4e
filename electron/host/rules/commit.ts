/** One commit, server by server while it is sent; kept until the next one, so that its result can be inspected. */
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
  /** Resolves when the commit ends. */
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

  /** Outcome of every server; empty while sending, and if nothing was sent. */
  get ends(): readonly NodeEnd[] {
    return this.#ends
  }

  /** Rolls back the first server while it is watched; the remaining servers get nothing. */
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

  /** @param ends  outcome per server; empty if the commit was refused. */
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
