/**
 * Output order of lctl.
 *
 * Since 2.16 all results are collected before printing: first the matches of the name itself, then each directory that `-R`
 * entered, one after the other. A directory that exists in two trees is entered twice, so get_param prints its values twice
 * (measured A22), while list_param drops repeated names. Before 2.16, a directory's content followed its name directly.
 */
export interface ListedItem {
  readonly name: string
  /** Printed text. */
  readonly text: string
}

interface Section {
  readonly path: string
  /** Items by name, in order of insertion; each with its printed texts. */
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
   * @param options.dropsRepeats  true to omit names listed before.
   * @param options.isCollected   true to print sections after the items that they belong to.
   */
  constructor(options: { dropsRepeats: boolean; isCollected: boolean }) {
    this.#drops = options.dropsRepeats
    this.#isCollected = options.isCollected
  }

  /** Section of a directory's content. */
  section(path: string): Section {
    if (!this.#isCollected) return this.#root
    let at = this.#root
    for (;;) {
      // lctl looks for the path of a known section anywhere in the new one: `ldlm/x/mdt/` goes below `mdt/`.
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

  /** True if a directory of this name is already listed: before 2.16, list_param does not enter it again. */
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
