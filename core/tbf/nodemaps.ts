/**
 * Nodemaps of a server: names of client groups, and the ids that rules store.
 *
 * Source: spec/lustre 1.2. A rule stores the id it found: after the nodemap is deleted nothing matches, and a new one of the
 * same name has another id. `default` always exists.
 */
export class Nodemaps {
  readonly #ids = new Map([['default', 0]])
  #next = 1

  constructor(names: readonly string[] = []) {
    for (const name of names) this.add(name)
  }

  get names(): readonly string[] {
    return [...this.#ids.keys()]
  }

  idOf(name: string): number | undefined {
    return this.#ids.get(name)
  }

  /** Creates a nodemap; an existing one keeps its id. */
  add(name: string): number {
    const id = this.#ids.get(name) ?? this.#next++
    this.#ids.set(name, id)
    return id
  }

  /** Deletes a nodemap; `default` stays. */
  remove(name: string): void {
    if (name !== 'default') this.#ids.delete(name)
  }
}
