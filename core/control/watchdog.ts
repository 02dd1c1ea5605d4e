/**
 * Watchdog for partial observations: a controller does not decide on a server with unmeasured targets. Its rules are held, and removed if
 * the condition lasts: rules are never tightened without data. A server that does not answer at all keeps its rules until its lease
 * expires.
 */

/** Time after which the present targets count as complete: the missing ones failed over, or were unmounted. */
const FORGET_NS = 60e9

/** Completeness of a server's reading: all targets measured, some of them, or some of them for longer than the hold time. */
export type Sight = 'act' | 'hold' | 'relax'

interface Seen {
  targets: ReadonlySet<string>
  /** Start of the partial state, ns; undefined while complete. */
  partialNs: number | undefined
  /** Last observation, ns. */
  atNs: number
}

export class Watchdog {
  readonly #holdNs: number
  readonly #servers = new Map<string, Seen>()

  constructor(holdNs: number) {
    this.#holdNs = holdNs
  }

  /** Servers whose rules were removed because of partial observations. */
  get relaxed(): readonly string[] {
    return [...this.#servers].flatMap(([host, s]) =>
      s.partialNs !== undefined && s.atNs - s.partialNs >= this.#holdNs ? [host] : [],
    )
  }

  /**
   * Returns the sight of one server.
   *
   * @param targets  targets in the reading; `deltas` is undefined for one without counts of this interval.
   */
  look(host: string, targets: readonly { readonly target: string; readonly deltas: unknown }[], nowNs: number): Sight {
    const here = new Set(targets.filter((t) => t.deltas !== undefined).map((t) => t.target))
    let seen = this.#servers.get(host)
    if (!seen) this.#servers.set(host, (seen = { targets: new Set(), partialNs: undefined, atNs: nowNs }))
    seen.atNs = nowNs
    const isMeasured = here.size === targets.length && targets.length > 0
    const isComplete = isMeasured && [...seen.targets].every((t) => here.has(t))
    if (isComplete) {
      seen.targets = here
      seen.partialNs = undefined
      return 'act'
    }
    // Starts over if the clock was set back.
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
