/** Periods in a row in which clients of data nodes missed what they reserved, counted once when a period is over. */
import type { ReservationFigures } from '#core/alerts/figures.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { DataNodeRun } from '#core/emulator/data-node.ts'
import type { ClusterSource } from '../../base/connection.ts'
import { missedIn } from '../views/tokens/place.ts'

interface Streak {
  missed: number
  sinceNs: number
}

interface Seen {
  readonly run: DataNodeRun
  /** End of the newest period that was counted, on the run's clock. */
  endNs: number
  readonly streaks: Map<number, Streak>
  figures: readonly ReservationFigures[]
}

export class MissedReservations {
  readonly #source: ClusterSource
  readonly #seen = new Map<string, Seen>()

  constructor(source: ClusterSource) {
    this.#source = source
  }

  /** Of every client that has a reservation; undefined where there is no data node. */
  take(): ReservationFigures[] | undefined {
    const { dataNodes } = this.#source
    if (!dataNodes || dataNodes.length === 0) return undefined
    const atNs = this.#source.nowNs()
    return dataNodes.flatMap((node) => {
      const run = node.run(atNs)
      return run ? this.#of(node.name, run) : []
    })
  }

  #of(node: string, run: DataNodeRun): readonly ReservationFigures[] {
    let seen = this.#seen.get(node)
    // A run that begins anew promises anew.
    if (seen?.run !== run) this.#seen.set(node, (seen = { run, endNs: 0, streaks: new Map(), figures: [] }))
    const fresh = newPeriods(run, seen.endNs)
    const last = fresh.at(-1)
    if (!last) return seen.figures
    for (const period of fresh) {
      const missed = new Set(missedIn(run, period))
      for (const client of [...seen.streaks.keys()]) if (!missed.has(client)) seen.streaks.delete(client)
      for (const client of missed) {
        const s = seen.streaks.get(client)
        if (s) s.missed++
        else seen.streaks.set(client, { missed: 1, sinceNs: period.startNs })
      }
    }
    seen.endNs = last.endNs
    const { streaks } = seen
    seen.figures = (last.monitor?.clients ?? []).map(({ client, reservation }) => {
      const s = streaks.get(client)
      const scenario = run.clients[client]
      return {
        ...{ node, client: scenario?.name ?? String(client), job: scenario?.job ?? '', reservation },
        ...{ missed: s?.missed ?? 0, completed: last.completed[client] ?? 0 },
        sinceMs: this.#source.toUnixMs(0) + (run.fromNs + (s?.sinceNs ?? last.endNs)) / NS_PER_MS,
      }
    })
    return seen.figures
  }
}

/** Whole periods that ended after an instant, oldest first. */
function newPeriods(run: DataNodeRun, afterNs: number): DataNodeRun['node']['periods']['items'] {
  const { items } = run.node.periods
  let first = items.length
  while (first > 0 && (items[first - 1]?.endNs ?? 0) > afterNs) first--
  return items.slice(first)
}
