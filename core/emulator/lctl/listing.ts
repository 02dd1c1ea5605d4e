/**
 * The order in which lctl prints what it found.
 *
 * Since 2.16 everything is collected before it is printed: first what the name itself matched, then each directory that
 * `-R` went into, one after the other. A directory that lies in two trees is gone into twice, so get_param prints its
 * values twice (measured A22), while list_param drops names it has. Before that, a directory's content stood right behind
 * its name.
 */
export interface ListedItem {
  readonly name: string
  /** What is printed for it. */
  readonly text: string
}

interface Section {
  readonly path: string
  /** By name, in the order in which the names came; each holds what is printed for it. */
  readonly items: Map<string, string[]>
  readonly below: Section[]
}

const makeSection = (path: string): Section => ({ path, items: new Map(), below: [] })

export class Listing {
  readonly #root = makeSection('')
  readonly #drops: boolean
  readonly #isCollected: boolean
  readonly #parts: string[] = []
  readonly #seen = new Set<string>()

  /**
   * @param options.dropsRepeats  whether what was listed before is left out.
   * @param options.isCollected   whether sections are printed after what they belong to.
   */
  constructor(options: { dropsRepeats: boolean; isCollected: boolean }) {
    this.#drops = options.dropsRepeats
    this.#isCollected = options.isCollected
  }

  /** The section that a directory's content belongs to. */
  section(path: string): Section {
    if (!this.#isCollected) return this.#root
    let at = this.#root
    for (;;) {
      // lctl looks for the path of a known section anywhere in the new one: `ldlm/x/mdt/` lands below `mdt/`.
      const known = at.below.find((s) => path.includes(s.path))
      if (!known) {
        const made = makeSection(path)
        at.below.push(made)
        return made
      }
      if (known.path.length === path.length) return known
      at = known
    }
  }

  get root(): Section {
    return this.#root
  }

  add(to: Section, { name, text }: ListedItem): void {
    if (!this.#isCollected) {
      if (this.#drops && this.#seen.has(name)) return
      this.#seen.add(name)
      this.#parts.push(text)
      return
    }
    const known = to.items.get(name)
    if (!known) to.items.set(name, [text])
    else if (!this.#drops || !known.includes(text)) known.push(text)
  }

  /** Whether a directory of this name is listed already: before 2.16, list_param does not go into it again. */
  has(name: string): boolean {
    return !this.#isCollected && this.#drops && this.#seen.has(name)
  }

  toString(): string {
    const print = (s: Section): void => {
      for (const texts of s.items.values()) this.#parts.push(...texts)
      for (const b of s.below) print(b)
    }
    print(this.#root)
    this.#root.items.clear()
    this.#root.below.length = 0
    return this.#parts.join('')
  }
}

export type { Section }
