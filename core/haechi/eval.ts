/**
 * The arithmetic and the state machine of Haechi as a machine interface: one JSON line in, one JSON line out. Input is text from
 * anywhere, so every field is checked here; the answers come from the code that engines and monitors run.
 */
import { sum } from '../base/statistics.ts'
import { NS_PER_S } from '../base/units.ts'
import { admission, localConstraint } from './admission.ts'
import { estimateCapacity } from './capacity-estimate.ts'
import { usablePart } from './claim.ts'
import { conversionTarget, remainingCapacity } from './conversion.ts'
import { decayed, residualBound } from './decay.ts'
import { clientStep } from './eval-client-step.ts'
import { Fields, type Json } from './eval-fields.ts'
import { burstShares, tokenShares } from './fluid.ts'
import { proportion } from './proportion.ts'
import { packPair, packReport, unpackPair, unpackReport, type Word } from './report-word.ts'
import { zipfShares } from './workloads/distributions.ts'

const OPS: Readonly<Record<string, (f: Fields) => Json>> = {
  decay: (f) => {
    const bound = residualBound(f.count('R'), f.count('elapsed_ns'), f.duration('T_ns'))
    const rule = f.oneOf('rule', ['demand', 'literal', 'none'], 'demand')
    const xi = f.count('xi')
    const left = decayed(rule, xi, bound, f.count('queued', 0))
    return { X: bound, xi: left, yielded: xi - left }
  },
  faa: (f) => {
    const pool = f.integer('pool')
    const take = f.positive('B')
    return { v: pool, pool: pool - take, usable: usablePart(pool, take) }
  },
  conversion: (f) => {
    const capacity = f.positive('CG')
    const periodNs = f.duration('T_ns')
    const elapsed = f.count('t_ns')
    const omega = proportion(capacity, periodNs, NS_PER_S)
    const residual = f.counts('residuals').reduce((sum, r) => sum + r, 0)
    const timeCap = remainingCapacity(omega, elapsed, periodNs)
    const rule = f.oneOf('variant', ['ledger', 'literal', 'budget'], 'literal')
    const ledger = { reserved: f.count('sumR', 0), yielded: f.count('yielded', 0), claimed: f.count('claimed', 0) }
    const input = { timeCap, residual, omega, ...ledger, completed: f.count('U', 0) }
    return { L: residual, timeCap, pool: conversionTarget(rule, input) }
  },
  admission: (f) => {
    const answer = admission({
      admitted: f.counts('admitted'),
      reservation: f.count('new'),
      capacity: f.capacity(),
      periodNs: f.duration('T_ns'),
      fluid: f.flag('fluid'),
    })
    const { isAdmitted: admit, reasons, total, finishNs, isFeasible } = answer
    return { admit, reasons: [...reasons], total, fluidFinish_ns: finishNs, fluidFeasible: isFeasible }
  },
  local_ok: (f) => {
    const remaining = f.duration('T_ns') - f.count('t_ns')
    const { isKept, residual, capacity } = localConstraint(f.count('R'), f.count('N'), remaining, f.positive('CL'))
    return { ok: isKept, residual, capacity }
  },
  capacity_estimate: (f) => {
    const s = f.object('state')
    const [omega, window, prof, sigma] = [s.count('omega'), s.counts('W'), s.positive('prof'), s.count('sigma')]
    const history = s.positive('M')
    const eta = s.count('eta')
    const rule = s.oneOf('rule', ['ge', 'literal'], 'ge')
    const slack = s.count('slack', 0)
    const clearOnIncrease = s.flag('clearOnIncrease', true)
    const omegaMin = s.count('omegaMin', Math.max(0, prof - 3 * sigma))
    const by = { rule, slack, omegaMin, history, increment: eta, clearOnIncrease }
    const { estimate, action } = estimateCapacity({ omega, window }, f.count('U'), by)
    return { state: { ...s.raw, omega: estimate.omega, W: [...estimate.window] }, action }
  },
  pack: (f) => {
    const residual = f.count('residual')
    const n = f.count('N')
    return { hex: hex(layout(f) === '32/32' ? packPair(residual, n) : packReport(f.count('epoch'), residual, n)) }
  },
  unpack: (f) => {
    const word = f.word('hex')
    if (layout(f) === '32/32') {
      const { residual, completed } = unpackPair(word)
      return { residual, N: completed }
    }
    const { epoch, residual, completed } = unpackReport(word)
    return { epoch, residual, N: completed }
  },
  client_step: clientStep,
  fluid_burst: (f) => {
    const done = burstShares(f.counts('D'), f.capacity(), f.duration('T_ns'))
    return { done: done.map(finished), total: finished(sum(done)) }
  },
  fluid_haechi: (f) => {
    const [reservations, demands] = [f.counts('R'), f.counts('D')]
    if (reservations.length !== demands.length) return f.refuse('R and D must be of one length')
    const run = tokenShares(reservations, demands, f.count('pool'), f.capacity(), f.duration('T_ns'))
    return { done: run.done.map(finished), total: finished(sum(run.done)), pool: finished(run.pool) }
  },
  zipf: (f) => {
    const [groups, per] = [f.positive('groups'), f.positive('per')]
    if (groups * per > 10_000) return f.refuse('there are too many clients')
    return { R: zipfShares(f.count('total'), groups, per, f.real('s')) }
  },
}

export const HAECHI_OPS: readonly string[] = Object.keys(OPS)

/**
 * Answers questions about tokens, admission and estimates, line by line; nothing is kept between them.
 *
 * A line is `{"op","in"}` with an op of `HAECHI_OPS`; the answer is that op's, or `{"error":{"code","message"}}`.
 */
export class HaechiEval {
  /** The answer to one line, without a line end. Never throws. */
  answer(line: string): string {
    return JSON.stringify(answer(line))
  }
}

function answer(line: string): Json {
  let request: unknown
  try {
    request = JSON.parse(line)
  } catch (error) {
    return refusal('E_REQUEST', `the line is not JSON: ${(error as SyntaxError).message}`)
  }
  if (!Fields.isObject(request)) return refusal('E_REQUEST', 'the line must be a JSON object')
  const { op } = request
  const run = typeof op === 'string' && Object.hasOwn(OPS, op) ? OPS[op] : undefined
  if (run === undefined) return refusal('E_OP', `op must be one of ${HAECHI_OPS.join(', ')}`)
  if (!Fields.isObject(request.in)) return refusal('E_FIELD', 'in must be an object')
  const fields = new Fields(request.in)
  const value = run(fields)
  return fields.refusal === null ? value : refusal('E_FIELD', fields.refusal)
}

const refusal = (code: string, message: string): Json => ({ error: { code, message } })
const layout = (f: Fields): '32/32' | '8/28/28' => f.oneOf('layout', ['32/32', '8/28/28'], '32/32')
const half = (value: number): string => value.toString(16).padStart(8, '0')
const hex = ({ hi, lo }: Word): string => `0x${half(hi)}${half(lo)}`
/** An I/O counts once it is done; what a sum of fractions loses below one is given back. */
const finished = (ios: number): number => Math.floor(ios + 1e-6)
