/**
 * Machine interface of the allocator: one JSON line in, one JSON line out. Input is untrusted, so every field is validated; an
 * invalid line is answered with an error and changes nothing.
 */
import { type Failure, type Result, fail, formatFailure, ok } from '../base/result.ts'
import { type AllocationCode, type ObservedPeriod, TokenAllocator } from './allocation.ts'
import { byJob } from './explanation.ts'
import type { PeriodJob } from './job-ledger.ts'

/** Reasons for refusing a line: its form, or a failure of `TokenAllocator.step`. */
export type EvalCode = AllocationCode | 'NOT_JSON' | 'NOT_AN_OBJECT' | 'MISSING_FIELD' | 'WRONG_TYPE' | 'NOT_FINITE'
interface EvalFailure extends Failure {
  readonly code: EvalCode
}
type Fields = Readonly<Record<string, unknown>>

/**
 * Answers observation periods of one target, line by line; the records live as long as the object.
 *
 * A line is `{"t","max_rate","dt","jobs":[{"id","nodes","demand"}]}`: t in any unit, echoed, optional; max_rate in RPC/s; dt in s; nodes
 * optional or null; demand in RPCs. The answer is `{"t","budget","alloc","record","steps"}`: alloc covers active jobs, record every job
 * ever active, steps is `PeriodSteps`. `{"reset":true}` clears all state and is echoed. An invalid line: `{"error":{"code","message"}}`
 * with an `EvalCode`.
 */
export class AdaptbfEval {
  #allocator = new TokenAllocator()

  /**
   * Returns the answer to one line, without a line end. Never throws.
   *
   * @param line  one line of input, with or without surrounding white space.
   */
  answer(line: string): string {
    const answered = this.#answer(line)
    if (answered.ok) return JSON.stringify(answered.value)
    return JSON.stringify({ error: { code: answered.error.code, message: formatFailure(answered.error) } })
  }

  #answer(line: string): Result<object, EvalFailure> {
    const parsed = parseObject(line)
    if (!parsed.ok) return parsed
    if (parsed.value.reset !== undefined) return this.#reset(parsed.value.reset)
    const period = readPeriod(parsed.value)
    if (!period.ok) return period
    const stepped = this.#allocator.step(period.value)
    if (!stepped.ok) return stepped
    const { budget, ids, tokens } = stepped.value
    return ok({
      t: parsed.value.t,
      budget,
      alloc: byJob(ids.map((id, i) => [id, tokens[i]!])),
      record: byJob(this.#allocator.records()),
      steps: this.#allocator.explain(),
    })
  }

  #reset(reset: unknown): Result<object, EvalFailure> {
    if (reset !== true) return wrongType('reset', 'true', reset)
    this.#allocator = new TokenAllocator()
    return ok({ reset: true })
  }
}

function parseObject(line: string): Result<Fields, EvalFailure> {
  if (line.trim() === '') return fail({ code: 'NOT_JSON', what: 'The line is empty', why: 'expected a JSON object' })
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    return fail({ code: 'NOT_JSON', what: 'The line is not JSON', why: (error as SyntaxError).message })
  }
  if (isFields(value)) return ok(value)
  return fail({ code: 'NOT_AN_OBJECT', what: 'The line is not a JSON object', why: `got ${kindOf(value)}` })
}

function readPeriod(fields: Fields): Result<ObservedPeriod, EvalFailure> {
  if (fields.t !== undefined) {
    const t = readNumber(fields, 't', 't')
    if (!t.ok) return t
  }
  const maxRatePerSec = readNumber(fields, 'max_rate', 'max_rate')
  if (!maxRatePerSec.ok) return maxRatePerSec
  const dtSeconds = readNumber(fields, 'dt', 'dt')
  if (!dtSeconds.ok) return dtSeconds
  const list = fields.jobs
  if (list === undefined) return missing('jobs')
  if (!Array.isArray(list)) return wrongType('jobs', 'a list', list)
  const jobs: PeriodJob[] = []
  for (const [at, item] of list.entries()) {
    const job = readJob(item, `jobs[${at}]`)
    if (!job.ok) return job
    jobs.push(job.value)
  }
  return ok({ maxRatePerSec: maxRatePerSec.value, dtSeconds: dtSeconds.value, jobs })
}

function readJob(item: unknown, where: string): Result<PeriodJob, EvalFailure> {
  if (!isFields(item)) return wrongType(where, 'an object', item)
  const { id } = item
  if (id === undefined) return missing(`${where}.id`)
  if (typeof id !== 'string') return wrongType(`${where}.id`, 'a string', id)
  const demand = readNumber(item, 'demand', `${where}.demand`)
  if (!demand.ok) return demand
  if (item.nodes === undefined || item.nodes === null) return ok({ id, demand: demand.value })
  const nodes = readNumber(item, 'nodes', `${where}.nodes`)
  return nodes.ok ? ok({ id, demand: demand.value, nodes: nodes.value }) : nodes
}

function readNumber(fields: Fields, name: string, where: string): Result<number, EvalFailure> {
  const value = fields[name]
  if (value === undefined) return missing(where)
  if (typeof value !== 'number') return wrongType(where, 'a number', value)
  if (Number.isFinite(value)) return ok(value)
  return fail({ code: 'NOT_FINITE', what: `${where} is not finite`, why: 'a double holds at most about 1.8e308' })
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const missing = (where: string): Result<never, EvalFailure> =>
  fail({ code: 'MISSING_FIELD', what: `${where} is missing` })

const wrongType = (where: string, expected: string, value: unknown): Result<never, EvalFailure> =>
  fail({ code: 'WRONG_TYPE', what: `${where} is not ${expected}`, why: `got ${kindOf(value)}` })

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `the ${typeof value} ${JSON.stringify(value)}`
}
