/** Readings of one server, one after another: two at once would cost it twice and measure each other. */
export class ServerQueue {
  #turn: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => undefined)
    return mine
  }
}
