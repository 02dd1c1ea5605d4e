/** Connections by number, as controllers refer to them. */
export class Links<T> extends Map<number, T> {
  #last = 0

  /** Returns an unused number. */
  next(): number {
    return ++this.#last
  }
}
