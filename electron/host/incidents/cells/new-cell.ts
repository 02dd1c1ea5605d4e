/** Cells that an operator adds, filled with the state at the cursor. */
import type { CellInput } from '#core/api/incidents.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { FinishedRun } from '../../sandbox/run.ts'
import { clusterChart, jobChart, targetsChart, topJobsChart, type NewChart } from './charts.ts'
import { diffs } from './diff.ts'
import { stateAround, type NewCell } from './first-cells.ts'
import type { Standpoint } from './standpoint.ts'
import type { RangeMs } from './ranges.ts'
import { moversTable, targetsTable, topTable } from './tables.ts'
import { pasted, transcript } from './transcript.ts'
import { verdictCell } from './verdict.ts'

export const NOT_ADDED = 'The cell was not added'

const refuse = (why: string, next?: string): { readonly ok: false; readonly error: Failure } =>
  fail({ code: 'NOTHING_TO_FREEZE', what: NOT_ADDED, why, unaffected: 'The incident is unchanged.', next })

const OTHER = 'Move the cursor or the range of the incident, or choose another cell.'

type ChartInput = Extract<CellInput, { kind: 'chart' }>

function chart(standpoint: Standpoint, span: RangeMs, { measure, of }: ChartInput): Result<NewChart> {
  const { reader } = standpoint
  if (!reader) return refuse('the history cannot be read', 'See the notice of the history file.')
  let made: NewChart | undefined
  if (of?.kind === 'job') {
    if (measure !== 'rpcs' && measure !== 'bytes' && measure !== 'jobs') {
      return refuse('only RPCs and bytes are recorded per job', 'Choose RPC/s or throughput.')
    }
    made = jobChart(standpoint, reader, span, measure === 'bytes' ? 'bytes' : 'rpcs', of.name)
  } else if (of) {
    const target = reader.allTargets().find((t) => t.target === of.name)
    if (measure === 'bytes' || measure === 'jobs') {
      return refuse('only RPCs, service time and queue are recorded per target', 'Choose one of them.')
    }
    made = target && targetsChart(standpoint, reader, span, measure === 'targets' ? 'serviceMs' : measure, [target])
  } else if (measure === 'jobs') made = topJobsChart(standpoint, reader, span)
  else if (measure === 'targets') {
    const state = stateAround(standpoint, span)
    const slowest = [...(state?.targets ?? [])].sort((x, y) => (y.serviceMs.b ?? -1) - (x.serviceMs.b ?? -1))
    made = targetsChart(standpoint, reader, span, 'serviceMs', slowest)
  } else made = clusterChart(standpoint, reader, span, measure)
  return made ? ok(made) : refuse('it was not measured in this range', OTHER)
}

function table(
  standpoint: Standpoint,
  span: RangeMs,
  { table: which, spans }: Extract<CellInput, { kind: 'table' }>,
): Result<NewCell> {
  const { reader } = standpoint
  const state =
    which === 'top'
      ? undefined
      : spans && which === 'movers'
        ? stateAround(standpoint, spans.b, spans.a)
        : stateAround(standpoint, span)
  const made =
    reader &&
    (which === 'top'
      ? topTable(standpoint, reader, span)
      : state &&
        (which === 'movers' ? moversTable(standpoint, reader, state) : targetsTable(standpoint, reader, state)))
  return made ? ok(made) : refuse('it was not measured in this range', OTHER)
}

/**
 * @param run  a sandbox result; null: the newest.
 * @returns    cells, at least one. Failures: NOTHING_TO_FREEZE, those of the sandbox.
 */
export function newCells(
  standpoint: Standpoint,
  span: RangeMs,
  input: CellInput,
  run: (id: string | null) => Result<FinishedRun>,
): Result<NewCell[]> {
  const one = (made: Result<NewCell>): Result<NewCell[]> => (made.ok ? ok([made.value]) : made)
  const some = (made: NewCell | undefined, why: string, next?: string): Result<NewCell[]> =>
    made ? ok([made]) : refuse(why, next)
  switch (input.kind) {
    case 'note':
      return ok([{ kind: 'note', text: input.text }])
    case 'chart':
      return one(chart(standpoint, span, input))
    case 'table':
      return one(table(standpoint, span, input))
    case 'diff': {
      const made = standpoint.reader ? diffs(standpoint, standpoint.reader, span) : []
      return made.length > 0 ? ok(made) : refuse('no rules except default were in force in this range', OTHER)
    }
    case 'verdict': {
      const found = run(input.run)
      return found.ok ? ok([verdictCell(standpoint, span, found.value)]) : found
    }
    case 'transcript':
      return input.text === null
        ? some(transcript(standpoint, span), 'there are no records in this range', OTHER)
        : some(pasted(standpoint, span, input.text), 'the text is empty', 'Paste at least one line.')
  }
}
