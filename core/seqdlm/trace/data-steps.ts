/**
 * Amounts of data with arrival times, summed up to any time.
 *
 * Bounded: if there are too many, neighbors are merged at the later time. Past sums may then be too small, never too
 * large.
 */
export class DataSteps {
  #steps: number[]

  constructor(at: number, bytes: number) {
    this.#steps = [at, bytes]
  }

  add(at: number, bytes: number): void {
    if (this.#steps.length >= 2 * MAX_DATA_STEPS) this.#steps = halved(this.#steps)
    this.#steps.push(at, bytes)
  }

  bytesAt(to: number): number {
    const steps = this.#steps
    let bytes = 0
    for (let i = 0; i < steps.length; i += 2) if (steps[i]! <= to) bytes += steps[i + 1]!
    return bytes
  }

  /** Time of the latest arrival by `to`; undefined for none. */
  lastAt(to: number): number | undefined {
    const steps = this.#steps
    let last = -Infinity
    for (let i = 0; i < steps.length; i += 2) if (steps[i]! <= to) last = Math.max(last, steps[i]!)
    return last === -Infinity ? undefined : last
  }
}

const MAX_DATA_STEPS = 32

function halved(steps: readonly number[]): number[] {
  const out: number[] = []
  for (let i = 0; i < steps.length; i += 4) {
    const [at, bytes, nextAt, nextBytes] = steps.slice(i, i + 4) as [number, number, number?, number?]
    out.push(Math.max(at, nextAt ?? at), bytes + (nextBytes ?? 0))
  }
  return out
}
