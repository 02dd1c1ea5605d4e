/** The bins of a run's series: counters are read at their edges, so that a bin holds what happened in it. */

/** Most points of one series. */
const POINTS_MAX = 240
/** Bins as people read them, s. */
const STEPS: readonly number[] = [1, 2, 5].flatMap((m) => [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].map((e) => m * 10 ** e))

/**
 * Length of a bin, s: 1 s, or a sixtieth of a short run, or as long as 240 of them last the run.
 *
 * @param seconds  of the run, > 0.
 */
export function binOf(seconds: number): number {
  const least = Math.max(seconds / POINTS_MAX, Math.min(1, seconds / 60))
  // A hair more than a step is that step: 0.1 has no exact double.
  return STEPS.filter((s) => s >= least * (1 - 1e-9)).sort((a, b) => a - b)[0] ?? least
}

export const binsOf = (seconds: number): number => Math.max(1, Math.ceil(seconds / binOf(seconds) - 1e-9))

/** What of a counter that only grows fell into each bin. */
export class Binned {
  readonly #bins: Float64Array
  #before = 0

  constructor(count: number) {
    this.#bins = new Float64Array(count)
  }

  /** A bin ends with the counter at `total`. */
  end(bin: number, total: number): void {
    this.#bins[bin] = total - this.#before
    this.#before = total
  }

  times(k: number): Float64Array {
    return k === 1 ? this.#bins : this.#bins.map((n) => n * k)
  }
}
