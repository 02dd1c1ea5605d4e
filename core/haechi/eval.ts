/**
 * Machine interface to Haechi's arithmetic and state machine: one JSON line in, one JSON line out. Input is untrusted, so every field is
 * validated; the answers come from the code that engines and monitors run.
 */
import { sum } from '../base/statistics.ts'
import { NS_PER_S } from '../base/units.ts'
import { admission, localConstraint } from './admission.ts'
import { estimateCapacity, learnCapacity } from './capacity-estimate.ts'
import { usablePart } from './claim.ts'
import { conversionTarget, remainingCapacity } from './conversion.ts'
import { poolWindow, releasable, reservedWindow } from './deadline.ts'
import { packCounts, packPair, unpackCounts, unpackPair } from './count-words.ts'
import { decayed, residualBound } from './decay.ts'
import { Fields, type Json } from './eval-fields.ts'
import { burstShares, tokenShares } from './fluid.ts'
import { proportion } from './proportion.ts'
import type { Word } from './report-word.ts'
import { zipfShares } from './workloads/distributions.ts'
import type { TokenKind } from './messages.ts'
import { QosEngine } from './qos-engine.ts'
import { DEFAULT_SETTINGS } from './settings.ts'

interface Action {
  readonly k: 'io' | 'faa' | 'yield'
  readonly token?: TokenKind
  n?: number
  readonly B?: number
}

/** Applies one event to a QoS engine; returns the new state and the posted operations. */
function clientStep(f: Fields): Json {
  const s = f.object('state')
  const e = f.object('event')
  const limit = s.raw.limit ?? null
  const epoch = s.count('epoch')
  const window = s.positive('window', DEFAULT_SETTINGS.window)
  const state = {
    epoch,
    reservation: s.count('R'),
    limit: limit === null ? null : s.count('limit'),
    reservationTokens: s.count('xi'),
    globalTokens: s.count('g'),
    globalEpoch: s.count('gEpoch', epoch),
    completed: s.count('N'),
    issued: s.count('issued'),
    inflight: s.count('inflight'),
    queued: s.count('queue'),
    wait: s.oneOf('wait', ['none', 'faa', 'pool'], 'none'),
  } as const
  const kind = e.oneOf('k', ['request', 'complete', 'faaReply', 'tick', 't1'], 'request')
  const periodNs = kind === 'tick' ? e.duration('T_ns') : DEFAULT_SETTINGS.periodNs
  const batch = e.positive('B', DEFAULT_SETTINGS.batch)
  const decay = e.oneOf('rule', ['demand', 'literal', 'none'], 'demand')
  const settings = { ...DEFAULT_SETTINGS, batch, window, phase2Window: window, periodNs, decay }

  const posted = new Map<TokenKind, number>()
  const faas: number[] = []
  const port = {
    postIo: (n: number, token: TokenKind) => void posted.set(token, (posted.get(token) ?? 0) + n),
    faa: (take: number) => void faas.push(take),
    writeReport: () => {},
  }
  const engine = new QosEngine(settings, port, state)
  const had = engine.globalTokens
  let gained = false
  if (kind === 'request') engine.onRequest(e.count('n', 1))
  else if (kind === 'complete') {
    const n = e.count('n', 1)
    if (n > state.inflight) return f.refuse('more complete than are outstanding')
    engine.onCompletion(n)
  } else if (kind === 'faaReply') {
    engine.onFaaReply(0, e.integer('v'), batch, e.count('epoch'))
    gained = engine.totals.claimed > engine.totals.voidedGlobal
  } else if (kind === 'tick') engine.onWake(e.count('elapsed_ns'))
  else {
    const to = { epoch: e.count('epoch'), reservation: e.count('R'), limit: e.has('limit') ? e.count('limit') : null }
    engine.onPeriodStart(0, { kind: 'period-start', ...to })
  }
  const actions: Action[] = []
  // Tokens of one kind are reported as one action, in order of the kinds' names, not of consumption.
  for (const token of ['global', 'reservation'] as const) {
    const n = posted.get(token)
    if (n !== undefined) actions.push({ k: 'io', token, n })
  }
  for (const B of faas) actions.push({ k: 'faa', B })
  if (engine.yielded > 0) actions.push({ k: 'yield', n: engine.yielded })
  const after = engine.state()
  return {
    state: {
      epoch: after.epoch,
      R: after.reservation,
      limit: after.limit,
      xi: after.reservationTokens,
      g: after.globalTokens,
      N: after.completed,
      issued: after.issued,
      inflight: after.inflight,
      queue: after.queued,
      wait: after.wait,
      window,
      ...(gained || s.has('gEpoch') || (had > 0 && after.globalEpoch !== epoch) ? { gEpoch: after.globalEpoch } : {}),
      ...(kind === 'tick' || kind === 't1' ? { X: engine.bound } : s.has('X') ? { X: s.raw.X } : {}),
      phase: engine.phase,
    },
    actions,
  }
}

const OPS: Readonly<Record<string, (f: Fields) => Json>> = {
  decay: (f) => {
    const bound = residualBound(f.count('R'), f.count('elapsed_ns'), f.duration('T_ns'))
    const rule = f.oneOf('rule', ['demand', 'literal', 'none'], 'demand')
    const xi = f.count('xi')
    const remaining = decayed(rule, xi, bound, f.count('queued', 0))
    return { X: bound, xi: remaining, yielded: xi - remaining }
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
    const input = { timeCap, residual, omega, ...ledger, completed: f.count('U', 0), releasable: Infinity }
    return { L: residual, timeCap, pool: conversionTarget(rule, input) }
  },
  release: (f) => {
    const capacity = f.capacity()
    const periodNs = f.duration('T_ns')
    const window = f.positive('Q')
    const residuals = f.counts('residuals')
    const reservations = f.counts('R')
    if (residuals.length !== reservations.length) return f.refuse('R and residuals must be of one length')
    const localTokens = (capacity.localIops * periodNs) / NS_PER_S
    const weights = reservations.map((r) => reservedWindow(window, r, localTokens))
    const owed = residuals.flatMap((tokens, i) => (tokens > 0 ? [{ tokens, weight: weights[i]! }] : []))
    const claimants = { count: residuals.length - owed.length, weight: poolWindow(window) }
    const remaining = Math.max(0, periodNs - f.count('t_ns'))
    const most = releasable(owed, claimants, remaining, capacity)
    return { windows: weights, release: most === Infinity ? null : most }
  },
  capacity_learn: (f) => {
    const s = f.object('state')
    const state = { omega: s.count('omega'), window: s.counts('W') }
    const rule = { history: s.positive('M'), increment: s.count('eta') }
    const measured = f.has('measured') ? f.count('measured') : null
    const { estimate, action } = learnCapacity(state, measured, rule)
    return { state: { ...s.raw, omega: estimate.omega, W: [...estimate.window] }, action }
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
    const omega = s.count('omega')
    const window = s.counts('W')
    const prof = s.positive('prof')
    const sigma = s.count('sigma')
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
    return { hex: hex(layout(f) === '32/32' ? packPair(residual, n) : packCounts(f.count('epoch'), residual, n)) }
  },
  unpack: (f) => {
    const word = f.word('hex')
    if (layout(f) === '32/32') {
      const { residual, completed } = unpackPair(word)
      return { residual, N: completed }
    }
    const { epoch, residual, completed } = unpackCounts(word)
    return { epoch, residual, N: completed }
  },
  client_step: clientStep,
  fluid_burst: (f) => {
    const done = burstShares(f.counts('D'), f.capacity(), f.duration('T_ns'))
    return { done: done.map(finished), total: finished(sum(done)) }
  },
  fluid_haechi: (f) => {
    const reservations = f.counts('R')
    const demands = f.counts('D')
    if (reservations.length !== demands.length) return f.refuse('R and D must be of one length')
    const run = tokenShares(reservations, demands, f.count('pool'), f.capacity(), f.duration('T_ns'))
    return { done: run.done.map(finished), total: finished(sum(run.done)), pool: finished(run.pool) }
  },
  zipf: (f) => {
    const groups = f.positive('groups')
    const per = f.positive('per')
    if (groups * per > 10_000) return f.refuse('there are too many clients')
    return { R: zipfShares(f.count('total'), groups, per, f.real('s')) }
  },
}

export const HAECHI_OPS: readonly string[] = Object.keys(OPS)

/**
 * Answers queries about tokens, admission and estimates, line by line, without state.
 *
 * A line is `{"op","in"}` with an op of `HAECHI_OPS`; the answer is that op's, or `{"error":{"code","message"}}`.
 */
export class HaechiEval {
  /** Returns the answer to one line, without a line end. Never throws. */
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
/** An I/O counts once it is complete; the tolerance compensates rounding errors of sums of fractions. */
const finished = (ios: number): number => Math.floor(ios + 1e-6)
