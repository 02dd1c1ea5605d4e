/**
 * Remarks on parts of policies that rules cannot express, with the lines of the policies. Equal remarks about several
 * servers are merged.
 */
import type { UnexpressedLine } from './shares.ts'

/** Remarks beyond this many are counted, not kept. */
const REMARKS_MAX = 500

export class Remarks {
  readonly #places = new Map<string, { readonly line: number; readonly text: string; readonly hosts: Set<string> }>()
  #more = 0

  /** @param lines  lines of the policies concerned; 0 for none. */
  add(lines: readonly number[], text: string, host = ''): void {
    for (const line of lines) {
      const key = `${line}\u0000${text}`
      let place = this.#places.get(key)
      if (!place) {
        if (this.#places.size >= REMARKS_MAX) {
          this.#more++
          continue
        }
        this.#places.set(key, (place = { line, text, hosts: new Set() }))
      }
      if (host !== '') place.hosts.add(host)
    }
  }

  /** Remarks by line; those of no policy last. */
  get lines(): UnexpressedLine[] {
    const all = [...this.#places.values()].map(({ line, text, hosts }) => ({
      line,
      text: hosts.size === 0 ? text : `${text} (${[...hosts].join(', ')})`,
    }))
    if (this.#more > 0) all.push({ line: 0, text: `${this.#more} more remarks` })
    return all.sort((a, b) => (a.line || Infinity) - (b.line || Infinity) || 0)
  }
}
