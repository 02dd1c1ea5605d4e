/** Client without QoS: requests become I/Os as far as the window allows. Models the bare system and outside traffic. */
export class BareEngine {
  readonly #post: (n: number) => void
  readonly #window: number
  #inflight = 0
  #queued = 0
  #completed = 0
  readonly isReady = true

  constructor(window: number, post: (n: number) => void) {
    this.#window = window
    this.#post = post
  }

  get inflight(): number {
    return this.#inflight
  }
  get queued(): number {
    return this.#queued
  }
  get canPost(): boolean {
    return this.#inflight < this.#window
  }
  /** I/Os completed since the start. */
  get completed(): number {
    return this.#completed
  }

  onRequest(n: number): void {
    this.#queued += n
    this.#pump()
  }

  dropQueue(): number {
    const dropped = this.#queued
    this.#queued = 0
    return dropped
  }

  onCompletion(n: number): void {
    this.#inflight -= n
    this.#completed += n
    if (this.#queued > 0) this.#pump()
  }

  #pump(): void {
    const n = Math.min(this.#queued, this.#window - this.#inflight)
    if (n <= 0) return
    this.#queued -= n
    this.#inflight += n
    this.#post(n)
  }
}
