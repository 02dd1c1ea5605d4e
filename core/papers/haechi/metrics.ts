/** Metrics of a run of a data node: means and extremes over its measured periods. */
import { mean } from '../../base/statistics.ts'
import type { NodeRun } from './node-run.ts'

export const meanTotal = ({ totals, warmUp }: NodeRun): number => mean(totals.slice(warmUp))

/** Mean I/Os per period of each client. */
export const meanClients = ({ completed, warmUp }: NodeRun): number[] =>
  (completed[0] ?? []).map((_, client) => mean(completed.slice(warmUp).map((period) => period[client]!)))

/** Completed over reserved I/Os of one client, period by period. */
export const ratios = ({ completed, reservations }: NodeRun, client: number): number[] =>
  completed.map((period) => period[client]! / reservations[client]!)

/** Least completed / reserved of any client with a reservation, over all measured periods together. */
export function leastMet(run: NodeRun): number {
  const clients = meanClients(run)
  return Math.min(
    ...clients.flatMap((n, client) => (run.reservations[client]! > 0 ? n / run.reservations[client]! : [])),
  )
}

/** The same in the worst period. */
export const leastMetPeriod = (run: NodeRun): number =>
  Math.min(...run.reservations.map((_, client) => Math.min(...ratios(run, client).slice(run.warmUp))))
