/**
 * Filter of the jobs table: `user:ana rpc>5k op:write target:OST0003 -rule:* train`.
 *
 * Terms are separated by blanks and must all match; the prefix `-` excludes; a bare word is searched for in the job id.
 * `*` matches any run of characters.
 */
import { fail, ok, type Result } from '#core/base/result.ts'

/** Fields of a job that filter terms can use; null for a gap. */
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
  /** 1-based. */
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

/** Matches without a regular expression: many `*` on a long run of one letter would backtrack for minutes. */
export function glob(pattern: string): (text: string) => boolean {
  const parts = pattern.toLowerCase().split('*')
  const first = parts[0] as string
  // A plain word matches anywhere; a pattern with `*` must match the whole text.
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

/** Table entry by a name that a user typed; inherited properties are excluded. */
export const entry = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** Parses a comparison such as `>=` and `5k`; a text for a fault. A gap never matches. */
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
    if (!of) return `${name} is not numeric; numeric fields are ${Object.keys(NUMBER).join(', ')}`
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
  if (name === 'is') return entry(STATE, value) ?? `is: must be one of ${Object.keys(STATE).join(', ')}`
  if (name === 'rule' && value === 'none') return (r) => r.rule === 'default'
  const of = entry(TEXT, name)
  if (!of) return `${name}: is not a field; fields are ${[...Object.keys(TEXT), 'is'].join(', ')}`
  if (name === 'rule' && value === '*') return (r) => r.rule !== 'default'
  const has = glob(value)
  return (r) => of(r).some(has)
}

/** Parses a filter; an empty one matches everything. */
export const parseJobFilter = (text: string): Result<Test, FilterError> => parseFilter(text, term)

/**
 * Parses terms that are separated by blanks and may be negated by `-`.
 *
 * @param term  parses one term to a test of a row, or returns a text for a fault.
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
