/**
 * Watches what a controller sees of each server: with a part of its targets it is not to decide. Rules are held then, and removed
 * when it stays so: never tightened blind. A server that does not answer at all keeps its rules until its lease runs out.
 */

/** After this a server is taken with the targets that it has: the others failed over, or were unmounted. */
const FORGET_NS = 60e9

/** Completeness of a server's reading: all targets measured, some of them, or some of them for longer than the hold time. */
export type Sight = 'act' | 'hold' | 'relax'

interface Seen {
  targets: ReadonlySet<string>
  /** Since when it has been partial, ns; undefined while it is whole. */
  partialNs: number | undefined
  /** When it was last looked at, ns. */
  atNs: number
}

export class Watchdog {
  readonly #holdNs: number
  readonly #servers = new Map<string, Seen>()

  constructor(holdNs: number) {
    this.#holdNs = holdNs
  }

  /** Servers whose rules were removed because they are seen in part. */
  get relaxed(): readonly string[] {
    return [...this.#servers].flatMap(([host, s]) =>
      s.partialNs !== undefined && s.atNs - s.partialNs >= this.#holdNs ? [host] : [],
    )
  }

  /**
   * What to do on one server.
   *
   * @param targets  those in the reading; `deltas` is undefined where one has no counts of this interval.
   */
  look(host: string, targets: readonly { readonly target: string; readonly deltas: unknown }[], nowNs: number): Sight {
    const here = new Set(targets.filter((t) => t.deltas !== undefined).map((t) => t.target))
    let seen = this.#servers.get(host)
    if (!seen) this.#servers.set(host, (seen = { targets: new Set(), partialNs: undefined, atNs: nowNs }))
    seen.atNs = nowNs
    const isMeasured = here.size === targets.length && targets.length > 0
    const isWhole = isMeasured && [...seen.targets].every((t) => here.has(t))
    if (isWhole) {
      seen.targets = here
      seen.partialNs = undefined
      return 'act'
    }
    // A clock that was set back begins anew.
    if (seen.partialNs === undefined || nowNs < seen.partialNs) seen.partialNs = nowNs
    const forNs = nowNs - seen.partialNs
    if (forNs >= FORGET_NS && isMeasured) {
      seen.targets = here
      seen.partialNs = undefined
      return 'act'
    }
    return forNs >= this.#holdNs ? 'relax' : 'hold'
  }
}
