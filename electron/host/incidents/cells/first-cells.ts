/** The cells that a new incident begins with: what stood then, and nothing that is empty. */
import { ended, type Steps } from '#core/base/steps.ts'
import type { Cell } from '#core/snapshot/notebook.ts'
import { TEXT_MOST } from '#core/snapshot/notebook.ts'
import type { Result } from '#core/base/result.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import type { KeptRun } from '../../sandbox/run.ts'
import { alertChart, type AlertGiven } from './alert-chart.ts'
import { targetsChart, topJobsInSteps, type NewChart } from './charts.ts'
import { diffs } from './diff.ts'
import type { Standpoint } from './standpoint.ts'
import { stoodInSteps as inSteps, type Stood } from './stood.ts'
import { compared, type StretchMs } from './stretch.ts'
import { moversTable } from './tables.ts'
import { LINES_AT_FIRST, transcript } from './transcript.ts'
import { belongs, verdictCell } from './verdict.ts'
import { oneLine, sentenceOf, titleOf } from './words.ts'

/** A cell that has no place in a notebook yet. */
export type NewCell = Cell extends infer C ? (C extends Cell ? Omit<C, 'id' | 'atMs'> : never) : never

export interface FirstParts {
  readonly stand: Standpoint
  readonly span: StretchMs
  /** What it is compared with; what was before the cursor by default. */
  readonly against?: StretchMs | undefined
  readonly note: string
  readonly alert: AlertGiven | undefined
  /** The newest result of the sandbox. */
  readonly run: () => Result<KeptRun>
  readonly wallMs: number
}

/** Makes cells one after the other; what cannot be read becomes a line that says so. */
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

/** How targets and jobs stood around the cursor; undefined where too little is kept. */
export function stoodAt(stand: Standpoint, span: StretchMs, against?: StretchMs): Stood | undefined {
  return ended(stoodInSteps(stand, span, against))
}

function* stoodInSteps(stand: Standpoint, span: StretchMs, against?: StretchMs): Steps<Stood | undefined> {
  const { reader } = stand
  if (against) return reader && (yield* inSteps(reader, against, span, true))
  const spans = compared(stand.atMs, span, stand.newestMs)
  return reader && spans && (yield* inSteps(reader, spans.a, spans.b))
}

/** The charts of what suffers; of who sends most where nothing does. */
function* chartsOf(
  stand: Standpoint,
  reader: HistoryReader,
  span: StretchMs,
  stood: Stood | undefined,
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

/** The same in steps of some milliseconds: of ten thousand jobs it takes a third of a second in all. */
export function* firstCellsInSteps(parts: FirstParts): Steps<FirstCells> {
  const { stand, span, alert } = parts
  const { reader } = stand
  const filling = new Filling()
  let stood: Stood | undefined
  yield* filling.addInSteps('what stood', function* () {
    stood = yield* stoodInSteps(stand, span, parts.against)
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
      // What alerted stands for itself; without it, what matters.
      return own ? [own, ...others.filter((c) => c.title !== own.title)].slice(0, 2) : others
    })
    filling.add('who moved', () => stood && moversTable(stand, reader, stood))
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
    const text = `What could not be read of the history:\n${filling.faults.join('\n')}`.slice(0, TEXT_MOST)
    filling.cells.push({ kind: 'note', text })
  }
  const title = alert ? oneLine(alert.alert.text, 200) : titleOf(stood, stand.atMs)
  return { title: title === '' ? titleOf(undefined, stand.atMs) : title, cells: filling.cells }
}

/** The operator's words; of an alert what it said, and what was measured meanwhile. */
function noteOf({ note, alert }: FirstParts, stood: Stood | undefined): string {
  const said = note.trim()
  if (!alert) return said
  const text = oneLine(alert.alert.text, 2_000)
  const sentence = stood ? sentenceOf(stood) : ''
  return [said === '' ? text : said, sentence]
    .filter((s) => s !== '')
    .join('\n')
    .slice(0, TEXT_MOST)
}
