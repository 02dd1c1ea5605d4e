/** Cells that an operator adds, filled with the state at the cursor. */
import type { CellInput } from '#core/api/incidents.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { KeptRun } from '../../sandbox/run.ts'
import { clusterChart, jobChart, targetsChart, topJobsChart, type NewChart } from './charts.ts'
import { diffs } from './diff.ts'
import { stateAround, type NewCell } from './first-cells.ts'
import type { Standpoint } from './standpoint.ts'
import type { StretchMs } from './ranges.ts'
import { moversTable, targetsTable, topTable } from './tables.ts'
import { pasted, transcript } from './transcript.ts'
import { verdictCell } from './verdict.ts'

export const NOT_ADDED = 'The cell was not added'

const refuse = (why: string, next?: string): { readonly ok: false; readonly error: Failure } =>
  fail({ code: 'NOTHING_TO_FREEZE', what: NOT_ADDED, why, unaffected: 'The incident is unchanged.', next })

const OTHER = 'Move the cursor or the range of the incident, or choose another cell.'

type ChartInput = Extract<CellInput, { kind: 'chart' }>

function chart(stand: Standpoint, span: StretchMs, { measure, of }: ChartInput): Result<NewChart> {
  const { reader } = stand
  if (!reader) return refuse('the history cannot be read', 'See the notice of the history file.')
  let made: NewChart | undefined
  if (of?.kind === 'job') {
    if (measure !== 'rpcs' && measure !== 'bytes' && measure !== 'jobs') {
      return refuse('only RPCs and bytes are recorded per job', 'Choose RPC/s or throughput.')
    }
    made = jobChart(stand, reader, span, measure === 'bytes' ? 'bytes' : 'rpcs', of.name)
  } else if (of) {
    const target = reader.allTargets().find((t) => t.target === of.name)
    if (measure === 'bytes' || measure === 'jobs') {
      return refuse('only RPCs, service time and queue are recorded per target', 'Choose one of them.')
    }
    made = target && targetsChart(stand, reader, span, measure === 'targets' ? 'serviceMs' : measure, [target])
  } else if (measure === 'jobs') made = topJobsChart(stand, reader, span)
  else if (measure === 'targets') {
    const stood = stateAround(stand, span)
    const slowest = [...(stood?.targets ?? [])].sort((x, y) => (y.serviceMs.b ?? -1) - (x.serviceMs.b ?? -1))
    made = targetsChart(stand, reader, span, 'serviceMs', slowest)
  } else made = clusterChart(stand, reader, span, measure)
  return made ? ok(made) : refuse('it was not measured in this range', OTHER)
}

function table(
  stand: Standpoint,
  span: StretchMs,
  { table: which, spans }: Extract<CellInput, { kind: 'table' }>,
): Result<NewCell> {
  const { reader } = stand
  const stood =
    which === 'top'
      ? undefined
      : spans && which === 'movers'
        ? stateAround(stand, spans.b, spans.a)
        : stateAround(stand, span)
  const made =
    reader &&
    (which === 'top'
      ? topTable(stand, reader, span)
      : stood && (which === 'movers' ? moversTable(stand, reader, stood) : targetsTable(stand, reader, stood)))
  return made ? ok(made) : refuse('it was not measured in this range', OTHER)
}

/**
 * @param run  a sandbox result; null: the newest.
 * @returns    cells, at least one. Failures: NOTHING_TO_FREEZE, those of the sandbox.
 */
export function newCells(
  stand: Standpoint,
  span: StretchMs,
  input: CellInput,
  run: (id: string | null) => Result<KeptRun>,
): Result<NewCell[]> {
  const one = (made: Result<NewCell>): Result<NewCell[]> => (made.ok ? ok([made.value]) : made)
  const some = (made: NewCell | undefined, why: string, next?: string): Result<NewCell[]> =>
    made ? ok([made]) : refuse(why, next)
  switch (input.kind) {
    case 'note':
      return ok([{ kind: 'note', text: input.text }])
    case 'chart':
      return one(chart(stand, span, input))
    case 'table':
      return one(table(stand, span, input))
    case 'diff': {
      const made = stand.reader ? diffs(stand, stand.reader, span) : []
      return made.length > 0 ? ok(made) : refuse('no rules except default were in force in this range', OTHER)
    }
    case 'verdict': {
      const found = run(input.run)
      return found.ok ? ok([verdictCell(stand, span, found.value)]) : found
    }
    case 'transcript':
      return input.text === null
        ? some(transcript(stand, span), 'there are no records in this range', OTHER)
        : some(pasted(stand, span, input.text), 'the text is empty', 'Paste at least one line.')
  }
}
