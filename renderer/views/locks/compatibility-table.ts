/**
 * Table II of SeqDLM, which decides every grant, and the cells that decided a given one.
 *
 * Source: SeqDLM Table II; spec/seqdlm 2.
 */
import { modeAt, NEAR_MS, phaseAt, type Life, type LockMode } from './lock-lifetimes.ts'

/** Columns: mode of the held lock and, for NBW, its state at the server. */
export const columns = ['PR', 'NBW', 'NBW canceling', 'BW', 'PW'] as const
export type Column = (typeof columns)[number]

/** True if a request of the row's mode can be granted beside an unreleased lock of the column. */
export function isAllowed(requested: LockMode, there: Column): boolean {
  if (there === 'PR') return requested === 'PR'
  return there === 'NBW canceling' && (requested === 'NBW' || requested === 'BW')
}

export interface Cell {
  readonly requested: LockMode
  readonly there: Column
  /** `beside`: held at the grant; `waited`: conflicting, and waited for. */
  readonly why: 'beside' | 'waited'
}

const overlaps = (a: Life, b: Life): boolean =>
  a.start <= (b.end ?? Infinity) && b.start <= (a.requiredEnd ?? a.end ?? Infinity)

const columnOf = (mode: LockMode, isCanceling: boolean): Column =>
  mode === 'NBW' && isCanceling ? 'NBW canceling' : mode

/** Cells that decided a grant: of overlapping locks held then, and of those it waited for before. */
export function decidingCells(life: Life, lives: readonly Life[]): Cell[] {
  if (life.granted === null) return []
  const at = life.granted
  const found = new Map<string, Cell>()
  const note = (there: Column, why: Cell['why']): void => {
    const key = `${there} ${why}`
    if (!found.has(key)) found.set(key, { requested: life.mode, there, why })
  }
  for (const other of lives) {
    if (other.id === life.id || !overlaps(life, other)) continue
    const phase = phaseAt(other, at)
    // A GRANTED lock of the same client was merged; a CANCELING one counts like any other.
    if (other.client === life.client && phase !== 'canceling') continue
    // Locks granted later, or at the same time with a higher id, were decided by their own cells.
    const isOlder = other.granted !== null && (other.granted < at - NEAR_MS || other.id < life.id)
    if (isOlder && (phase === 'granted' || phase === 'canceling'))
      note(columnOf(modeAt(other, at), phase === 'canceling'), 'beside')
  }
  const byId = new Map(lives.map((other) => [other.id, other]))
  for (const { id, until } of life.behind) {
    const other = byId.get(id)
    if (other) note(columnOf(other.mode, until === 'release' && other.mode === 'NBW'), 'waited')
  }
  return [...found.values()].filter((cell) => cell.why === 'waited' || isAllowed(cell.requested, cell.there))
}
