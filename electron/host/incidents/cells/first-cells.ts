/** First cells of a new incident: the state at that time, without empty cells. */
import { ended, type Steps } from '#core/base/steps.ts'
import type { Cell, ChartCell, Incident } from '#core/snapshot/notebook.ts'
import { TEXT_MOST } from '#core/snapshot/notebook.ts'
import type { Result } from '#core/base/result.ts'
import { formatNumber } from '#core/base/figure-text.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import type { FinishedRun } from '../../sandbox/run.ts'
import {
  jobChart,
  locksChart,
  planeChart,
  serverQueueChart,
  targetsChart,
  topJobsInSteps,
  type NewChart,
} from './charts.ts'
import { diffs } from './diff.ts'
import type { Standpoint } from './standpoint.ts'
import { measuredStateInSteps as inSteps, type MeasuredState } from './measured-state.ts'
import { compared, type RangeMs } from './ranges.ts'
import { moversTable, planeMoversTables } from './tables.ts'
import { LINES_AT_FIRST, transcript } from './transcript.ts'
import { belongs, verdictCell } from './verdict.ts'
import { oneLine, sentenceOf, titleOf } from './summary-text.ts'

/** Alert that opened an incident, and the threshold of its rule. */
interface AlertGiven {
  readonly alert: NonNullable<Incident['alert']>
  readonly threshold: number | undefined
}

/** Time over which the median is taken, as in the queue rule, and a minimum of RPCs. */
const USUAL_MS = 900_000
const QUEUE_LEAST = 64

/** Multiple of the median queue of a server before an instant. */
function queueLimit(
  standpoint: Standpoint,
  reader: HistoryReader,
  { alert, threshold }: AlertGiven,
): ChartCell['limit'] {
  if (threshold === undefined) return null
  const before = { fromMs: Math.max(0, alert.atMs - USUAL_MS), toMs: alert.atMs }
  const known =
    serverQueueChart(standpoint, reader, before, alert.where)?.series[0]?.values.filter((v) => v !== null) ?? []
  if (known.length === 0) return null
  known.sort((a, b) => a - b)
  const value = Math.max(QUEUE_LEAST, threshold * (known[known.length >> 1] as number))
  return { value, label: `alert from ${formatNumber(value)}` }
}

/**
 * Chart of the alerting measure, with the alert's threshold if that is in the unit of the chart; undefined if the
 * measure is not kept as samples.
 */
function alertChart(
  standpoint: Standpoint,
  reader: HistoryReader,
  span: RangeMs,
  given: AlertGiven,
): NewChart | undefined {
  const { alert, threshold } = given
  switch (alert.kind) {
    case 'queue':
      return serverQueueChart(standpoint, reader, span, alert.where, queueLimit(standpoint, reader, given))
    case 'starvation':
      return jobChart(standpoint, reader, span, 'rpcs', alert.where)
    case 'convoy': {
      const limit = threshold === undefined ? null : { value: threshold, label: `alert from ${threshold}` }
      return locksChart(standpoint, reader, span, limit)
    }
    case 'disconnect': {
      // For a silent server the missing values are gaps.
      const ownTargets = reader.allTargets().filter((t) => t.node === alert.where)
      return ownTargets.length > 0 ? targetsChart(standpoint, reader, span, 'rpcs', ownTargets) : undefined
    }
    case 'ping-pong':
    case 'lock-wait':
    case 'eviction':
    case 'lock-server':
      return locksChart(standpoint, reader, span, null)
    case 'mds':
      return serverQueueChart(standpoint, reader, span, alert.where)
    case 'metadata-wait':
      return planeChart(standpoint, reader, span, {
        table: 'metadata_jobs',
        columns: ['asked_per_s', 'served_per_s', 'allocated_per_s'],
        isSeries: (s) => s.jobId === alert.where,
        place: { kind: 'job', names: [alert.where] },
      })
    case 'false-allocation':
      return planeChart(standpoint, reader, span, {
        table: 'metadata_jobs',
        columns: ['false_allocation_per_s'],
        isSeries: (s) => s.name === alert.where,
        place: { kind: 'cluster', names: [standpoint.source.cluster] },
      })
    case 'reservation':
    case 'token-client':
      return planeChart(standpoint, reader, span, {
        table: 'token_clients',
        columns: ['used', 'reservation'],
        isSeries: (s) => s.name === alert.where,
        place: { kind: 'host', names: [alert.where] },
      })
    case 'pool-empty':
    case 'pool-idle':
    case 'capacity':
      return planeChart(standpoint, reader, span, {
        table: 'token_nodes',
        columns: ['used', 'estimate', 'reserved'],
        isSeries: (s) => s.name === alert.where,
        place: { kind: 'host', names: [alert.where] },
      })
    case 'stage':
    case 'controller':
      return undefined
  }
}

/** Cell without a place in a notebook yet. */
export type NewCell = Cell extends infer C ? (C extends Cell ? Omit<C, 'id' | 'atMs'> : never) : never

export interface FirstParts {
  readonly standpoint: Standpoint
  readonly span: RangeMs
  /** Range to compare with; the one before the cursor by default. */
  readonly against?: RangeMs | undefined
  readonly note: string
  readonly alert: AlertGiven | undefined
  /** Newest sandbox result of which a variant was staged. */
  readonly stagedRun: () => Result<FinishedRun>
}

/** Collects cells one after the other; unreadable data becomes a line of explanation. */
class Filling {
  readonly cells: NewCell[] = []
  readonly faults: string[] = []

  add(what: string, make: () => NewCell | readonly NewCell[] | undefined): void {
    ended(
      this.addInSteps(what, function* () {
        return make()
      }),
    )
  }

  *addInSteps(what: string, make: () => Steps<NewCell | readonly NewCell[] | undefined>): Steps<void> {
    try {
      const made = yield* make()
      if (made !== undefined) this.cells.push(...(Array.isArray(made) ? (made as NewCell[]) : [made as NewCell]))
    } catch (e) {
      this.faults.push(`${what}: ${e instanceof Error ? e.message : String(e)}`.slice(0, 300))
    }
  }
}

/** State of targets and jobs around the cursor; undefined if too little is kept. */
export function stateAround(standpoint: Standpoint, span: RangeMs, against?: RangeMs): MeasuredState | undefined {
  return ended(measuredStateInSteps(standpoint, span, against))
}

function* measuredStateInSteps(
  standpoint: Standpoint,
  span: RangeMs,
  against?: RangeMs,
): Steps<MeasuredState | undefined> {
  const { reader } = standpoint
  if (against) return reader && (yield* inSteps(reader, against, span, true))
  const spans = compared(standpoint.atMs, span, standpoint.newestMs)
  return reader && spans && (yield* inSteps(reader, spans.a, spans.b))
}

/** Charts of the slow targets; of the largest jobs if none is slow. */
function* chartsOf(
  standpoint: Standpoint,
  reader: HistoryReader,
  span: RangeMs,
  state: MeasuredState | undefined,
): Steps<NewChart[]> {
  const { slow = [], queueing = [] } = state ?? {}
  const worst = slow.length > 0 ? slow : queueing
  const charts =
    worst.length > 0
      ? [
          targetsChart(standpoint, reader, span, 'serviceMs', worst),
          targetsChart(standpoint, reader, span, 'queued', queueing.length > 0 ? queueing : worst),
        ]
      : [yield* topJobsInSteps(standpoint, reader, span)]
  return charts.filter((c) => c !== undefined)
}

export const firstCells = (parts: FirstParts): FirstCells => ended(firstCellsInSteps(parts))

export interface FirstCells {
  readonly title: string
  readonly cells: NewCell[]
}

/** Same in steps of some milliseconds: with ten thousand jobs it takes a third of a second in all. */
export function* firstCellsInSteps(parts: FirstParts): Steps<FirstCells> {
  const { standpoint, span, alert } = parts
  const { reader } = standpoint
  const filling = new Filling()
  let state: MeasuredState | undefined
  yield* filling.addInSteps('state of targets', function* () {
    state = yield* measuredStateInSteps(standpoint, span, parts.against)
    return undefined
  })
  filling.add('note', () => {
    const text = noteOf(parts, state)
    return text === '' ? undefined : { kind: 'note', text }
  })
  if (reader) {
    yield* filling.addInSteps('chart', function* () {
      const alertCell = alert && alertChart(standpoint, reader, span, alert)
      const otherCells = yield* chartsOf(standpoint, reader, span, state)
      // The alert's own chart first; without an alert, the most relevant charts.
      return alertCell ? [alertCell, ...otherCells.filter((c) => c.title !== alertCell.title)].slice(0, 2) : otherCells
    })
    filling.add('largest changes', () => state && moversTable(standpoint, reader, state))
    yield
    filling.add('changes of locks, metadata and tokens', () => state && planeMoversTables(standpoint, reader, state))
    yield
    filling.add('rules', () => diffs(standpoint, reader, span))
    yield
  }
  filling.add('verdict', () => {
    const run = parts.stagedRun()
    return run.ok && belongs(run.value, standpoint, span) ? verdictCell(standpoint, span, run.value) : undefined
  })
  filling.add('transcript', () => transcript(standpoint, span, LINES_AT_FIRST))
  if (filling.faults.length > 0) {
    const text = `Parts of the history that could not be read:\n${filling.faults.join('\n')}`.slice(0, TEXT_MOST)
    filling.cells.push({ kind: 'note', text })
  }
  const title = alert ? oneLine(alert.alert.text, 200) : titleOf(state, standpoint.atMs)
  return { title: title === '' ? titleOf(undefined, standpoint.atMs) : title, cells: filling.cells }
}

/** Text of the operator; for an alert its message and the measurements meanwhile. */
function noteOf({ note, alert }: FirstParts, state: MeasuredState | undefined): string {
  const trimmed = note.trim()
  if (!alert) return trimmed
  const text = oneLine(alert.alert.text, 2_000)
  const sentence = state ? sentenceOf(state) : ''
  return [trimmed === '' ? text : trimmed, sentence]
    .filter((s) => s !== '')
    .join('\n')
    .slice(0, TEXT_MOST)
}
