/** Connections by number, as controllers name them. */
export class Links<T> extends Map<number, T> {
  #last = 0

  /** A number that no connection has had. */
  next(): number {
    return ++this.#last
  }
}
