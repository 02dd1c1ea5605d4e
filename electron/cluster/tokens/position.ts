/** Periods of a data node: the one at an instant and those before it, missed reservations, idle tokens. */
import type { DataNodeRun, SampleRows } from '#core/haechi/data-node.ts'
import { idleTokens } from '#core/haechi/sim/idle-tokens.ts'
import type { PeriodRecord } from '#core/haechi/sim/node-views.ts'

/** Instant of a run, the period around it and earlier ones. */
export interface Place {
  readonly run: DataNodeRun
  /** Time on the run's clock, ns. */
  readonly atNs: number
  readonly startNs: number
  readonly endNs: number
  /** undefined: that period is not over yet. */
  readonly record: PeriodRecord | undefined
  readonly epoch: number
  /** Sample at or before the instant; undefined if it is no longer kept. */
  readonly row: number | undefined
  /** Completed periods before this one, oldest first. */
  readonly before: readonly PeriodRecord[]
}

/** Completed period that contains an instant; a border belongs to the period that ends, as its sample does. */
export const periodAt = (periods: readonly PeriodRecord[], atNs: number): PeriodRecord | undefined =>
  periods.findLast((p) => p.startNs < atNs && atNs <= p.endNs)

/** Number of the sample at or before an instant; the k-th was taken at (k + 1) x `everyNs`. */
export function rowAt(samples: SampleRows, everyNs: number, atNs: number): number | undefined {
  const { first, end } = samples.kept
  const row = Math.min(end - 1, Math.floor(atNs / everyNs) - 1)
  return row >= first && row >= 0 ? row : undefined
}

/**
 * Rows of a range, at most `most` of them, evenly spaced by their number since the start: later calls select the same
 * ones.
 */
export function rowsOf(samples: SampleRows, everyNs: number, fromNs: number, toNs: number, most: number): number[] {
  const { first, end } = samples.kept
  const from = Math.max(first, Math.ceil(fromNs / everyNs) - 1, 0)
  const to = Math.min(end - 1, Math.floor(toNs / everyNs) - 1)
  const every = Math.max(1, Math.ceil((toNs - fromNs) / everyNs / most))
  const rows: number[] = []
  for (let row = Math.ceil(from / every) * every; row <= to; row += every) rows.push(row)
  return rows
}

/**
 * Clients that missed their reservation in a period although they had requests: completions plus yielded tokens are
 * less than R by more than can be in flight at the period's ends and than decay frees between two reports. Literal
 * decay also takes tokens that are needed: requests still waiting at the end were not yielded. A crashed client has no
 * requests.
 */
export function missedIn(run: DataNodeRun, period: PeriodRecord): number[] {
  const { samples, setup } = run.node
  const { window, checkNs, periodNs, decay } = setup.settings
  const row = decay === 'literal' ? rowAt(samples, setup.samples.everyNs, period.endNs) : undefined
  return (period.monitor?.clients ?? [])
    .filter(({ client, reservation, yielded }) => {
      if (hasCrashed(run, client, period.endNs)) return false
      const slack = window + Math.ceil((reservation * checkNs) / periodNs)
      const queued = row === undefined ? 0 : samples.clientValue(row, client, 'queued')
      return (period.completed[client] ?? 0) + Math.max(0, yielded - queued) + slack < reservation
    })
    .map((c) => c.client)
}

/** True if a client had crashed by then. */
export const hasCrashed = (run: DataNodeRun, client: number, atNs: number): boolean =>
  run.marks.some(
    (m) => m.kind === 'client' && m.text === 'crashes' && m.client === run.clients[client]?.name && m.atNs <= atNs,
  )

/** Most rows from which the idle share is computed. */
const IDLE_ROWS = 250

/** Share of the tokens of a period, up to an instant, that were idle while a client was starved; null without tokens or samples. */
export const idleShareOf = ({ node }: DataNodeRun, startNs: number, atNs: number): number | null =>
  idleTokens(node, rowsOf(node.samples, node.setup.samples.everyNs, startNs + 1, atNs, IDLE_ROWS))
