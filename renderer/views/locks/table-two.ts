/**
 * Table II of SeqDLM, which decides every grant, and the cells of it that decided one.
 *
 * Source: SeqDLM Table II; spec/seqdlm 2.
 */
import { modeAt, NEAR_MS, phaseAt, type Life, type LockMode } from './lives.ts'

/** Columns: mode and, where it matters, the server's state of the lock that is there. */
export const columns = ['PR', 'NBW', 'NBW canceling', 'BW', 'PW'] as const
export type Column = (typeof columns)[number]

/** May a request of the row's mode be granted beside an unreleased lock of the column? */
export function isAllowed(asked: LockMode, there: Column): boolean {
  if (there === 'PR') return asked === 'PR'
  return there === 'NBW canceling' && (asked === 'NBW' || asked === 'BW')
}

export interface Cell {
  readonly asked: LockMode
  readonly there: Column
  /** `beside`: the lock was there at the grant; `waited`: it was in the way and is no longer. */
  readonly why: 'beside' | 'waited'
}

const overlaps = (a: Life, b: Life): boolean =>
  a.start <= (b.end ?? Infinity) && b.start <= (a.requiredEnd ?? a.end ?? Infinity)

const columnOf = (mode: LockMode, isCanceling: boolean): Column =>
  mode === 'NBW' && isCanceling ? 'NBW canceling' : mode

/** Cells that decided the grant of a life: of what it stood beside, and of what it had to wait for before. */
export function decidingCells(life: Life, lives: readonly Life[]): Cell[] {
  if (life.granted === null) return []
  const at = life.granted
  const found = new Map<string, Cell>()
  const note = (there: Column, why: Cell['why']): void => {
    const key = `${there} ${why}`
    if (!found.has(key)) found.set(key, { asked: life.mode, there, why })
  }
  for (const other of lives) {
    if (other.id === life.id || !overlaps(life, other)) continue
    const phase = phaseAt(other, at)
    // An own lock that is still GRANTED was merged; one that is CANCELING is like any other.
    if (other.client === life.client && phase !== 'canceling') continue
    // What was granted at the same instant or later stands beside it by its own cell.
    const isOlder = other.granted !== null && (other.granted < at - NEAR_MS || other.id < life.id)
    if (isOlder && (phase === 'granted' || phase === 'canceling'))
      note(columnOf(modeAt(other, at), phase === 'canceling'), 'beside')
  }
  const byId = new Map(lives.map((other) => [other.id, other]))
  for (const { id, until } of life.behind) {
    const other = byId.get(id)
    if (other) note(columnOf(other.mode, until === 'release' && other.mode === 'NBW'), 'waited')
  }
  return [...found.values()].filter((cell) => cell.why === 'waited' || isAllowed(cell.asked, cell.there))
}
