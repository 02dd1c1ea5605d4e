/** One event at a QoS engine, for `sluice eval haechi`: a state and an event in, the state after it and what was posted out. */
import type { Fields, Json } from './eval-fields.ts'
import type { TokenKind } from './messages.ts'
import { QosEngine } from './qos-engine.ts'
import { DEFAULT_SETTINGS } from './settings.ts'

interface Action {
  readonly k: 'io' | 'faa' | 'yield'
  readonly token?: TokenKind
  n?: number
  readonly B?: number
}

export function clientStep(f: Fields): Json {
  const s = f.object('state')
  const e = f.object('event')
  const limit = s.raw.limit ?? null
  const epoch = s.count('epoch')
  const window = s.positive('window', DEFAULT_SETTINGS.window)
  const state = {
    ...{ epoch, reservation: s.count('R'), limit: limit === null ? null : s.count('limit') },
    ...{ reservationTokens: s.count('xi'), globalTokens: s.count('g'), globalEpoch: s.count('gEpoch', epoch) },
    ...{ completed: s.count('N'), issued: s.count('issued'), inflight: s.count('inflight') },
    ...{ queued: s.count('queue'), wait: s.oneOf('wait', ['none', 'faa', 'pool'], 'none') },
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
  // Tokens of one kind are told as one action, by name of the kind, whatever the order they were taken in.
  for (const token of ['global', 'reservation'] as const) {
    const n = posted.get(token)
    if (n !== undefined) actions.push({ k: 'io', token, n })
  }
  for (const B of faas) actions.push({ k: 'faa', B })
  if (engine.yielded > 0) actions.push({ k: 'yield', n: engine.yielded })
  const after = engine.state()
  return {
    state: {
      ...{ epoch: after.epoch, R: after.reservation, limit: after.limit, xi: after.reservationTokens },
      ...{ g: after.globalTokens, N: after.completed, issued: after.issued, inflight: after.inflight },
      ...{ queue: after.queued, wait: after.wait, window },
      ...(gained || s.has('gEpoch') || (had > 0 && after.globalEpoch !== epoch) ? { gEpoch: after.globalEpoch } : {}),
      ...(kind === 'tick' || kind === 't1' ? { X: engine.bound } : s.has('X') ? { X: s.raw.X } : {}),
      phase: engine.phase,
    },
    actions,
  }
}
