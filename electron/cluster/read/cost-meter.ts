/** Cost of reading the servers: text received, and their response time, over the last second of wall time. */

export interface Cost {
  readonly bytesPerSec: number
  readonly serverMsPerSec: number
}

export class CostMeter {
  #since: number | undefined
  #bytes = 0
  #tookMs = 0
  #cost: Cost = { bytesPerSec: 0, serverMsPerSec: 0 }

  get cost(): Cost {
    return this.#cost
  }

  add(readings: readonly { readonly bytes: number; readonly tookMs: number }[], wallMs: number): void {
    this.#since ??= wallMs
    for (const r of readings) {
      this.#bytes += r.bytes
      this.#tookMs += r.tookMs
    }
    const wall = wallMs - this.#since
    if (wall < 1000) return
    this.#cost = { bytesPerSec: (this.#bytes / wall) * 1000, serverMsPerSec: (this.#tookMs / wall) * 1000 }
    this.#since = wallMs
    this.#bytes = 0
    this.#tookMs = 0
  }
}
