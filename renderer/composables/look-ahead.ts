/**
 * Frames of the samples around the one on screen, so that a step of the cursor has its picture in the next frame of the browser and
 * does not wait for the host. The host sends the frame of the step nevertheless: where it tells anything else, that is shown.
 */

/** Both sides, and a few that the cursor came from. */
const MOST = 6

interface Framed {
  readonly seq: number
  readonly sample: number
  readonly isAhead?: boolean | undefined
}

/** Whether two values of frames are the same, to the last figure. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((v, i) => isSame(v, b[i]))
  const [names, others] = [Object.keys(a), Object.keys(b)]
  return (
    names.length === others.length &&
    names.every((name) => name in b && isSame(a[name as keyof typeof a], b[name as keyof typeof b]))
  )
}

/** Whether both frames make the same picture: how they came does not matter. */
export function isSamePicture(a: Framed, b: Framed): boolean {
  const { seq: _a, isAhead: _x, ...one } = a
  const { seq: _b, isAhead: _y, ...other } = b
  return isSame(one, other)
}

export class LookAhead<F extends Framed> {
  readonly #frames = new Map<number, F>()

  /** Keeps a frame; the one kept longest goes. */
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
