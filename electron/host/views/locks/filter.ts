/** The filter of the resource table: `res:ckpt server:oss mode:NBW waiting>2 conf>10 is:convoy -res:log`. */
import type { Result } from '#core/base/result.ts'
import { isLockMode, LOCK_MODES, type LockMode } from '#core/seqdlm/modes.ts'
import { comparison, entry, glob, parseFilter, type FilterError, type RowTest } from '../../job-filter.ts'

/** What a term can ask of a resource. */
export interface LockRow {
  readonly name: string
  readonly server: string
  readonly waiting: number
  readonly conflicts: number
  readonly revocations: number
  readonly cancelMs: number | null
  readonly held: number
  /** Kinds of the alarms it has. */
  readonly alarms: readonly string[]
  /** Modes held or waited for; looked up only where a term asks. */
  readonly modes: () => ReadonlySet<LockMode>
}

const TEXT: Readonly<Record<string, (r: LockRow) => string>> = { res: (r) => r.name, server: (r) => r.server }
const NUMBER: Readonly<Record<string, (r: LockRow) => number | null>> = {
  waiting: (r) => r.waiting,
  conf: (r) => r.conflicts,
  rev: (r) => r.revocations,
  cancel: (r) => r.cancelMs,
  held: (r) => r.held,
}
const STATE: Readonly<Record<string, RowTest<LockRow>>> = {
  convoy: (r) => r.alarms.includes('convoy'),
  'ping-pong': (r) => r.alarms.includes('ping-pong'),
  eviction: (r) => r.alarms.includes('eviction'),
  waiting: (r) => r.waiting > 0,
  idle: (r) => r.held === 0 && r.waiting === 0,
}

function term(word: string): RowTest<LockRow> | string {
  const number = /^([a-z]+)(>=|<=|>|<|=)(.*)$/.exec(word)
  if (number) {
    const [, name = '', op = '', value = ''] = number
    const of = entry(NUMBER, name)
    if (!of) return `${name} cannot be compared; numbers are ${Object.keys(NUMBER).join(', ')}`
    const passes = comparison(op, value)
    return typeof passes === 'string' ? passes : (r) => passes(of(r))
  }
  const field = /^([a-z]+):(.*)$/.exec(word)
  if (!field) {
    const has = glob(word)
    return (r) => has(r.name)
  }
  const [, name = '', value = ''] = field
  if (value === '') return `${name}: needs a value`
  if (name === 'is') return entry(STATE, value) ?? `is: knows ${Object.keys(STATE).join(', ')}`
  if (name === 'mode') {
    const mode = value.toUpperCase()
    return isLockMode(mode) ? (r) => r.modes().has(mode) : `mode: knows ${LOCK_MODES.join(', ')}`
  }
  const of = entry(TEXT, name)
  if (!of) return `${name}: is not a field; fields are ${[...Object.keys(TEXT), 'mode', 'is'].join(', ')}`
  const has = glob(value)
  return (r) => has(of(r))
}

/** Reads a filter; an empty one lets everything pass. */
export const parseLockFilter = (text: string): Result<RowTest<LockRow>, FilterError> => parseFilter(text, term)
