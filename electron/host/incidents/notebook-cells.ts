/** Edits of a notebook's cell list: each returns a changed notebook, or a failure. */
import { fail, ok, type Result } from '#core/base/result.ts'
import { CELLS_MOST, type Cell, type Incident } from '#core/snapshot/notebook.ts'
import type { NewCell } from './cells/first-cells.ts'

/** Removed cell and its position. */
export interface TakenCell {
  readonly cell: Cell
  readonly at: number
}

const numberOf = (id: string): number => Number(/^c(\d{1,9})$/.exec(id)?.[1] ?? 0)

/** Assigns ids to new cells: no id is assigned twice, including ids of removed cells that can be restored. */
export function placed(
  cells: readonly NewCell[],
  atMs: number,
  present: readonly Cell[],
  taken: readonly Cell[] = [],
): Cell[] {
  let last = [...present, ...taken].reduce((n, c) => Math.max(n, numberOf(c.id)), 0)
  return cells.map((c): Cell => ({ ...c, id: `c${++last}`, atMs }))
}

const noCell = (what: string): Result<never> =>
  fail({ code: 'NO_CELL', what, why: 'the incident has no such cell', next: 'Open the incident again.' })

/** Failures: INCIDENT_FULL. */
export function withCells(of: Incident, cells: readonly Cell[], behind: string | null, what: string): Result<Incident> {
  if (of.cells.length + cells.length > CELLS_MOST) {
    return fail({
      code: 'INCIDENT_FULL',
      what,
      why: `an incident has at most ${CELLS_MOST} cells`,
      unaffected: 'The incident is unchanged.',
      next: 'Remove cells, or open another incident.',
    })
  }
  const at = of.cells.findIndex((c) => c.id === behind)
  const all = [...of.cells]
  all.splice(at < 0 ? all.length : at + 1, 0, ...cells)
  return ok({ ...of, cells: all })
}

/** Failures: NO_CELL, NO_NOTE. */
export function withText(of: Incident, id: string, text: string, what: string): Result<Incident> {
  const cell = of.cells.find((c) => c.id === id)
  if (!cell) return noCell(what)
  if (cell.kind !== 'note') {
    return fail({
      code: 'NO_NOTE',
      what,
      why: 'frozen cells cannot be edited',
      unaffected: 'The incident is unchanged.',
      next: 'Add a note.',
    })
  }
  return ok({ ...of, cells: of.cells.map((c) => (c === cell ? { ...cell, text } : c)) })
}

/** Moves a cell by so many places down, or up (negative), up to the end. Failures: NO_CELL. */
export function withMoved(of: Incident, id: string, by: number, what: string): Result<Incident> {
  const from = of.cells.findIndex((c) => c.id === id)
  if (from < 0) return noCell(what)
  const cells = [...of.cells]
  const moved = cells.splice(from, 1)
  cells.splice(Math.min(cells.length, Math.max(0, from + by)), 0, ...moved)
  return ok({ ...of, cells })
}

/** Failures: NO_CELL. */
export function withoutCell(of: Incident, id: string, what: string): Result<{ of: Incident; taken: TakenCell }> {
  const at = of.cells.findIndex((c) => c.id === id)
  const cell = of.cells[at]
  if (!cell) return noCell(what)
  return ok({ of: { ...of, cells: of.cells.filter((c) => c !== cell) }, taken: { cell, at } })
}

/** Restores a cell at its former position, or at the end. */
export function withRestored(of: Incident, { cell, at }: TakenCell): Incident {
  const cells = [...of.cells]
  cells.splice(Math.min(at, cells.length), 0, cell)
  return { ...of, cells }
}
