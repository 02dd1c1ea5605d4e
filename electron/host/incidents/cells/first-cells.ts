/** First cells of a new incident: the state at that time, without empty cells. */
import { ended, type Steps } from '#core/base/steps.ts'
import type { Cell, ChartCell, Incident } from '#core/snapshot/notebook.ts'
import { TEXT_MOST } from '#core/snapshot/notebook.ts'
import type { Result } from '#core/base/result.ts'
import { formatNumber } from '#core/base/figure-text.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import type { KeptRun } from '../../sandbox/run.ts'
import { targetsChart, topJobsInSteps, type NewChart, jobChart, locksChart, serverQueueChart } from './charts.ts'
import { diffs } from './diff.ts'
import type { Standpoint } from './standpoint.ts'
import { measuredStateInSteps as inSteps, type MeasuredState } from './measured-state.ts'
import { compared, type StretchMs } from './ranges.ts'
import { moversTable } from './tables.ts'
import { LINES_AT_FIRST, transcript } from './transcript.ts'
import { belongs, verdictCell } from './verdict.ts'
import { oneLine, sentenceOf, titleOf } from './summary-text.ts'

/** Alert that opened an incident, and the threshold of its rule. */
interface AlertGiven {
  readonly alert: NonNullable<Incident['alert']>
  readonly threshold: number | undefined
}

/** As in the queue rule: the median over this time, and a minimum of RPCs. */
const USUAL_MS = 900_000
const QUEUE_LEAST = 64

/** Multiple of the median queue of a server before an instant. */
function queueLimit(stand: Standpoint, reader: HistoryReader, { alert, threshold }: AlertGiven): ChartCell['limit'] {
  if (threshold === undefined) return null
  const before = { fromMs: Math.max(0, alert.atMs - USUAL_MS), toMs: alert.atMs }
  const known = serverQueueChart(stand, reader, before, alert.where)?.series[0]?.values.filter((v) => v !== null) ?? []
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
  stand: Standpoint,
  reader: HistoryReader,
  span: StretchMs,
  given: AlertGiven,
): NewChart | undefined {
  const { alert, threshold } = given
  switch (alert.kind) {
    case 'queue':
      return serverQueueChart(stand, reader, span, alert.where, queueLimit(stand, reader, given))
    case 'starvation':
      return jobChart(stand, reader, span, 'rpcs', alert.where)
    case 'convoy': {
      const limit = threshold === undefined ? null : { value: threshold, label: `alert from ${threshold}` }
      return locksChart(stand, reader, span, limit)
    }
    case 'disconnect': {
      // For a silent server the missing values are gaps.
      const own = reader.allTargets().filter((t) => t.node === alert.where)
      return own.length > 0 ? targetsChart(stand, reader, span, 'rpcs', own) : undefined
    }
    case 'reservation':
      return undefined
  }
}

/** Cell without a place in a notebook yet. */
export type NewCell = Cell extends infer C ? (C extends Cell ? Omit<C, 'id' | 'atMs'> : never) : never

export interface FirstParts {
  readonly stand: Standpoint
  readonly span: StretchMs
  /** Range to compare with; the one before the cursor by default. */
  readonly against?: StretchMs | undefined
  readonly note: string
  readonly alert: AlertGiven | undefined
  /** Newest sandbox result. */
  readonly run: () => Result<KeptRun>
  readonly wallMs: number
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
export function stateAround(stand: Standpoint, span: StretchMs, against?: StretchMs): MeasuredState | undefined {
  return ended(measuredStateInSteps(stand, span, against))
}

function* measuredStateInSteps(
  stand: Standpoint,
  span: StretchMs,
  against?: StretchMs,
): Steps<MeasuredState | undefined> {
  const { reader } = stand
  if (against) return reader && (yield* inSteps(reader, against, span, true))
  const spans = compared(stand.atMs, span, stand.newestMs)
  return reader && spans && (yield* inSteps(reader, spans.a, spans.b))
}

/** Charts of the slow targets; of the largest jobs if none is slow. */
function* chartsOf(
  stand: Standpoint,
  reader: HistoryReader,
  span: StretchMs,
  stood: MeasuredState | undefined,
): Steps<NewChart[]> {
  const { slow = [], queueing = [] } = stood ?? {}
  const worst = slow.length > 0 ? slow : queueing
  const charts =
    worst.length > 0
      ? [
          targetsChart(stand, reader, span, 'serviceMs', worst),
          targetsChart(stand, reader, span, 'queued', queueing.length > 0 ? queueing : worst),
        ]
      : [yield* topJobsInSteps(stand, reader, span)]
  return charts.filter((c) => c !== undefined)
}

export const firstCells = (parts: FirstParts): FirstCells => ended(firstCellsInSteps(parts))

export interface FirstCells {
  readonly title: string
  readonly cells: NewCell[]
}

/** Same in steps of some milliseconds: with ten thousand jobs it takes a third of a second in all. */
export function* firstCellsInSteps(parts: FirstParts): Steps<FirstCells> {
  const { stand, span, alert } = parts
  const { reader } = stand
  const filling = new Filling()
  let stood: MeasuredState | undefined
  yield* filling.addInSteps('state of targets', function* () {
    stood = yield* measuredStateInSteps(stand, span, parts.against)
    return undefined
  })
  filling.add('note', () => {
    const text = noteOf(parts, stood)
    return text === '' ? undefined : { kind: 'note', text }
  })
  if (reader) {
    yield* filling.addInSteps('chart', function* () {
      const own = alert && alertChart(stand, reader, span, alert)
      const others = yield* chartsOf(stand, reader, span, stood)
      // The alert's own chart first; without an alert, the most relevant charts.
      return own ? [own, ...others.filter((c) => c.title !== own.title)].slice(0, 2) : others
    })
    filling.add('largest changes', () => stood && moversTable(stand, reader, stood))
    yield
    filling.add('rules', () => diffs(stand, reader, span))
    yield
  }
  filling.add('verdict', () => {
    const run = parts.run()
    return run.ok && belongs(run.value, stand, span, parts.wallMs) ? verdictCell(stand, span, run.value) : undefined
  })
  filling.add('transcript', () => transcript(stand, span, LINES_AT_FIRST))
  if (filling.faults.length > 0) {
    const text = `Parts of the history that could not be read:\n${filling.faults.join('\n')}`.slice(0, TEXT_MOST)
    filling.cells.push({ kind: 'note', text })
  }
  const title = alert ? oneLine(alert.alert.text, 200) : titleOf(stood, stand.atMs)
  return { title: title === '' ? titleOf(undefined, stand.atMs) : title, cells: filling.cells }
}

/** Text of the operator; for an alert its message and the measurements meanwhile. */
function noteOf({ note, alert }: FirstParts, stood: MeasuredState | undefined): string {
  const said = note.trim()
  if (!alert) return said
  const text = oneLine(alert.alert.text, 2_000)
  const sentence = stood ? sentenceOf(stood) : ''
  return [said === '' ? text : said, sentence]
    .filter((s) => s !== '')
    .join('\n')
    .slice(0, TEXT_MOST)
}
