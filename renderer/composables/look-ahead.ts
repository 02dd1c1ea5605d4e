/**
 * Frames of the samples around the current one, so that a cursor step is drawn in the next animation frame and does not
 * wait for the host. The host sends the frame of the step nevertheless; if it differs, it replaces this one.
 */

/** Both neighbors, and a few previous positions of the cursor. */
const MOST = 6

interface Framed {
  readonly seq: number
  readonly sample: number
  readonly isAhead?: boolean | undefined
}

/** Deep equality of frame values. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((v, i) => isSame(v, b[i]))
  const names = Object.keys(a)
  const others = Object.keys(b)
  return (
    names.length === others.length &&
    names.every((name) => name in b && isSame(a[name as keyof typeof a], b[name as keyof typeof b]))
  )
}

/** True if both frames show the same; sequence number and origin are ignored. */
export function isSamePicture(a: Framed, b: Framed): boolean {
  const { seq: _a, isAhead: _x, ...one } = a
  const { seq: _b, isAhead: _y, ...other } = b
  return isSame(one, other)
}

export class LookAhead<F extends Framed> {
  readonly #frames = new Map<number, F>()

  /** Stores a frame and evicts the oldest. */
  keep(frame: F): void {
    this.#frames.delete(frame.sample)
    this.#frames.set(frame.sample, frame)
    for (const sample of this.#frames.keys()) {
      if (this.#frames.size <= MOST) return
      this.#frames.delete(sample)
    }
  }

  of(sample: number): F | undefined {
    return this.#frames.get(sample)
  }
}
