/**
 * How fairly the targets were shared out: Jain's index of what each job was served over its max-min fair share.
 *
 * Targets are shared one by one and bin by bin: what one target served in one bin is divided by weighted max-min fairness among
 * the jobs that wanted something of it then, weighted by nodes, none above its demand. A job's fair share is the sum. The demand
 * of a job in a bin is what it was served and what still waits at its end, over its targets in equal parts; of a job in a closed
 * loop, which asks for the next only when the last is there, it is at least what its RPCs under way could fetch from an idle
 * system.
 *
 * Source: R. Jain, D.-M. Chiu, W. Hawe, DEC-TR-301, 1984 (the index and "fair throughput" as its reference).
 */
import { maxMinShares } from './max-min.ts'

/** What one job did on one target in one bin. */
export interface Use {
  readonly job: number
  readonly served: number
  /** RPCs; >= served. */
  readonly demand: number
}

/** (sum x)^2 / (n sum x^2), 1/n..1; NaN with fewer than two values or without any service. */
export function jainIndex(values: readonly number[]): number {
  const sum = values.reduce((s, x) => s + x, 0)
  const squares = values.reduce((s, x) => s + x * x, 0)
  return values.length < 2 || squares === 0 ? NaN : (sum * sum) / (values.length * squares)
}

export class FairShares {
  readonly #nodes: readonly number[]
  readonly #fair: Float64Array
  readonly #served: Float64Array

  /** @param nodes  by job; what its share is weighted by. */
  constructor(nodes: readonly number[]) {
    this.#nodes = nodes
    this.#fair = new Float64Array(nodes.length)
    this.#served = new Float64Array(nodes.length)
  }

  /** Takes in what the jobs did on one target in one bin. */
  add(uses: readonly Use[]): void {
    const capacity = uses.reduce((sum, u) => sum + u.served, 0)
    if (capacity === 0) return
    const shares = maxMinShares(
      capacity,
      uses.map((u) => Math.max(u.served, u.demand)),
      uses.map((u) => this.#nodes[u.job] ?? 1),
    )
    uses.forEach(({ job, served }, i) => {
      this.#fair[job]! += shares[i] as number
      this.#served[job]! += served
    })
  }

  /** Fair share of a job so far. */
  fairOf(job: number): number {
    return this.#fair[job] ?? 0
  }

  /** Jain's index over all jobs that had a fair share. */
  get jain(): number {
    const parts: number[] = []
    this.#fair.forEach((fair, job) => {
      if (fair > 0) parts.push((this.#served[job] as number) / fair)
    })
    return jainIndex(parts)
  }
}
