/**
 * The filter of the jobs table: `user:ana rpc>5k op:write target:OST0003 -rule:* train`.
 *
 * Terms are joined by blanks and must all hold; a `-` turns one round; a bare word looks for itself in the job id. `*`
 * matches any run of characters.
 */
import { fail, ok, type Result } from '#core/base/result.ts'

/** What a term can ask of a job; null for a gap. */
export interface FilterRow {
  readonly jobId: string
  readonly user: string
  readonly account: string
  readonly topOp: string
  readonly rule: string
  readonly targets: readonly string[]
  /** Servers of its targets. */
  readonly servers: readonly string[]
  readonly nodes: number | null
  readonly rpcs: number | null
  readonly readBps: number | null
  readonly writeBps: number | null
  readonly mdops: number | null
  readonly throttled: number | null
  readonly record: number | null
  readonly ageMs: number
}

export type RowTest<R> = (row: R) => boolean

export interface FilterError {
  /** From 1. */
  readonly column: number
  readonly message: string
}

type Test = RowTest<FilterRow>

const TEXT: Readonly<Record<string, (r: FilterRow) => readonly string[]>> = {
  job: (r) => [r.jobId],
  user: (r) => [r.user],
  account: (r) => [r.account],
  op: (r) => [r.topOp],
  rule: (r) => [r.rule],
  target: (r) => r.targets,
  node: (r) => r.servers,
}
const NUMBER: Readonly<Record<string, (r: FilterRow) => number | null>> = {
  rpc: (r) => r.rpcs,
  nodes: (r) => r.nodes,
  read: (r) => r.readBps && r.readBps / 1e6,
  write: (r) => r.writeBps && r.writeBps / 1e6,
  md: (r) => r.mdops,
  throttled: (r) => r.throttled && r.throttled * 100,
  record: (r) => r.record,
}
const STATE: Readonly<Record<string, Test>> = {
  borrowing: (r) => (r.record ?? 0) < 0,
  lending: (r) => (r.record ?? 0) > 0,
  throttled: (r) => (r.throttled ?? 0) > 0,
  bound: (r) => r.rule !== 'default',
  unmapped: (r) => r.nodes === null,
  idle: (r) => r.rpcs === 0 && r.mdops === 0,
  new: (r) => r.ageMs < 600_000,
}
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

/** Without a regular expression: many `*` on a long run of one letter would keep one busy for minutes. */
export function glob(pattern: string): (text: string) => boolean {
  const parts = pattern.toLowerCase().split('*')
  const first = parts[0] as string
  // A plain word is looked for anywhere; one with a `*` must match from end to end.
  if (parts.length === 1) return (text) => text.toLowerCase().includes(first)
  const last = parts.at(-1) as string
  const middle = parts.slice(1, -1)
  return (text) => {
    const t = text.toLowerCase()
    const end = t.length - last.length
    if (end < first.length || !t.startsWith(first) || !t.endsWith(last)) return false
    let from = first.length
    for (const part of middle) {
      const at = t.indexOf(part, from)
      if (at < 0 || at + part.length > end) return false
      from = at + part.length
    }
    return true
  }
}

/** An entry of a table by a name that somebody typed; what every object inherits is not in it. */
export const entry = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** A number compared with what was typed, for example `>=` and `5k`; in words what is wrong with it. A gap passes nothing. */
export function comparison(op: string, value: string): ((v: number | null) => boolean) | string {
  const m = /^(-?\d+(?:\.\d+)?)([kmg]?)$/i.exec(value)
  if (!m) return `${value === '' ? 'a number' : value} is not a number such as 500, 5k or 1.5m`
  const bound = Number(m[1]) * (UNITS[(m[2] ?? '').toLowerCase()] ?? 1)
  return (v) => {
    if (v === null) return false
    return op === '>'
      ? v > bound
      : op === '<'
        ? v < bound
        : op === '>='
          ? v >= bound
          : op === '<='
            ? v <= bound
            : v === bound
  }
}

function term(word: string): Test | string {
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
    return (r) => has(r.jobId)
  }
  const [, name = '', value = ''] = field
  if (value === '') return `${name}: needs a value`
  if (name === 'is') return entry(STATE, value) ?? `is: knows ${Object.keys(STATE).join(', ')}`
  if (name === 'rule' && value === 'none') return (r) => r.rule === 'default'
  const of = entry(TEXT, name)
  if (!of) return `${name}: is not a field; fields are ${[...Object.keys(TEXT), 'is'].join(', ')}`
  if (name === 'rule' && value === '*') return (r) => r.rule !== 'default'
  const has = glob(value)
  return (r) => of(r).some(has)
}

/** Reads a filter; an empty one lets everything pass. */
export const parseJobFilter = (text: string): Result<Test, FilterError> => parseFilter(text, term)

/**
 * Reads terms that are joined by blanks and turned round by a `-`.
 *
 * @param term  what one term asks of a row; in words why it cannot be read.
 */
export function parseFilter<R>(
  text: string,
  term: (word: string) => RowTest<R> | string,
): Result<RowTest<R>, FilterError> {
  const tests: RowTest<R>[] = []
  for (const m of text.matchAll(/\S+/g)) {
    const negated = m[0].startsWith('-') && m[0].length > 1
    const test = term(negated ? m[0].slice(1) : m[0])
    if (typeof test === 'string') return fail({ column: m.index + 1, message: test })
    tests.push(negated ? (r) => !test(r) : test)
  }
  return ok((r) => tests.every((t) => t(r)))
}
