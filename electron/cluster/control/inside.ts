/**
 * What only a source that owns its servers can tell of a target: RPCs by job that Lustre does not count, and the time of the
 * device. The emulator does; a live cluster does not.
 */
import type { TargetInside } from '../../base/connection.ts'

/** One period of a target from inside. */
export interface InsidePeriod {
  readonly jobs: ReadonlyMap<string, Record<'arrivals' | 'dispatched' | 'queued', number>>
  /** 0..1. */
  readonly deviceBusy: number
}

/** Turns the counters into what a period moved. The first reading is a base, as is one after a break. */
export class InsideDeltas {
  #before: { readonly atNs: number; readonly inside: TargetInside } | undefined

  update(atNs: number, inside: TargetInside): InsidePeriod | undefined {
    const { busyNs } = inside
    const before = this.#before
    const flow = new Map([...inside.flow].map(([id, f]) => [id, { ...f }]))
    this.#before = { atNs, inside: { flow, busyNs } }
    if (!before || !(atNs > before.atNs)) return undefined
    const jobs = new Map(
      [...flow].map(([id, now]) => {
        const then = before.inside.flow.get(id) ?? { arrived: 0, dispatched: 0 }
        return [
          id,
          {
            arrivals: now.arrived - then.arrived,
            dispatched: now.dispatched - then.dispatched,
            queued: now.arrived - now.dispatched,
          },
        ]
      }),
    )
    const deviceBusy = Math.min(1, Math.max(0, (busyNs - before.inside.busyNs) / (atNs - before.atNs)))
    return { jobs, deviceBusy }
  }

  reset(): void {
    this.#before = undefined
  }
}
