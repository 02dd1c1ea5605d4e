/** Helper in C against core/haechi: both are driven by the same events and must act alike, event by event. */
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { QosEngine } from '#core/haechi/qos-engine.ts'
import { QosMonitor } from '#core/haechi/qos-monitor.ts'
import { TokenMemory, tokenMemoryBytes, type ClientKeys } from '#core/haechi/token-memory.ts'
import { DEFAULT_SETTINGS, PAPER_LITERAL, type CapacityProfile, type HaechiSettings } from '#core/haechi/settings.ts'
import { packReport } from '#core/haechi/report-word.ts'
import { haechiHelper, helperSettings } from './helper.ts'

let helper: string
beforeAll(async () => {
  const built = await haechiHelper()
  if (!built.ok) throw new Error(built.error.why ?? built.error.what)
  helper = built.value
})

const MS = 1e6
const PROFILE: CapacityProfile = { globalIops: 10_000, localIops: 4_000 }

/** Lines printed by the helper for events. */
function traced(settings: HaechiSettings, events: readonly string[], isMonitor: boolean): string[] {
  const input = [...helperSettings(settings, PROFILE).map(([name, value]) => `set ${name} ${value}`), ...events, '']
  const args = ['trace', `monitor=${isMonitor ? 1 : 0}`]
  return execFileSync(helper, args, { input: input.join('\n'), encoding: 'utf8' })
    .trimEnd()
    .split('\n')
}

const hex = ({ hi, lo }: { hi: number; lo: number }): string =>
  hi.toString(16).padStart(8, '0') + lo.toString(16).padStart(8, '0')
const timeOf = (ns: number): number => (ns === Infinity ? -1 : ns)

type EngineEvent = readonly [verb: string, ...args: number[]]

/** The same lines by QosEngine. */
function engineLines(settings: HaechiSettings, events: readonly EngineEvent[]): string[] {
  const lines: string[] = []
  const engine = new QosEngine(settings, {
    postIo: (n, token) => lines.push(`io ${n} ${token}`),
    faa: (take) => lines.push(`faa ${take}`),
    writeReport: (report) => lines.push(`report ${hex(packReport(report))}`),
  })
  for (const [verb, a = 0, b = 0, c = 0, d = 0] of events) {
    if (verb === 'request') engine.onRequest(a)
    else if (verb === 'completion') engine.onCompletion(a)
    else if (verb === 'faa-reply') engine.onFaaReply(a, b, c, d)
    else if (verb === 'period')
      engine.onPeriodStart(a, { kind: 'period-start', epoch: b, reservation: c, limit: d < 0 ? null : d })
    else if (verb === 'reports') engine.onStartReport({ kind: 'start-report', epoch: a })
    else if (verb === 'wake') engine.onWake(a)
    else if (verb === 'leave') engine.leave()
    else if (verb === 'drop') engine.dropQueue()
    else engine.postDirect()
    const e = engine
    const t = e.totals
    const totals = [
      ...[t.pushed, t.claimed, t.usedReservation, t.usedGlobal, t.yielded, t.voidedReservation, t.voidedGlobal],
      ...[t.completed, t.faas, t.faaFull, t.faaPartial, t.faaEmpty, t.faaLate, t.refused, t.dropped],
    ]
    const state = [
      ...[e.epoch, e.reservationTokens, e.globalTokens, e.completed, e.issued, e.inflight, e.queued],
      ...[['none', 'faa', 'pool'].indexOf(e.wait), Number(e.isThrottled), e.yielded, e.bound, timeOf(e.wakeAt)],
    ]
    lines.push(`= ${[...state, ...totals].join(' ')}`)
  }
  return lines
}

const count = (most: number) => fc.integer({ min: 0, max: most })
const RULES = fc.constantFrom(DEFAULT_SETTINGS, PAPER_LITERAL, {
  ...DEFAULT_SETTINGS,
  decay: 'none' as const,
  batchRule: 'backlog' as const,
  phase2Window: 3,
  window: 7,
  batch: 40,
})

/** Events of an engine in an order that a fabric could give them; completions and replies only for what was posted. */
const engineEvents = (settings: HaechiSettings, seeds: readonly (readonly [number, number])[]): EngineEvent[] => {
  const events: EngineEvent[] = []
  let now = 0
  let epoch = 0
  let inflight = 0
  let pending = 0
  const engine = new QosEngine(settings, {
    postIo: (n) => (inflight += n),
    faa: (take) => (pending = take),
    writeReport: () => undefined,
  })
  const add = (event: EngineEvent, act: () => void): void => {
    events.push(event)
    act()
  }
  for (const [kind, x] of seeds) {
    now += (x % 7) * 400_000
    if (kind < 3) add(['request', x], () => engine.onRequest(x))
    else if (kind < 6 && inflight > 0) {
      const n = 1 + (x % inflight)
      inflight -= n
      add(['completion', n], () => engine.onCompletion(n))
    } else if (kind < 8 && pending > 0) {
      const take = pending
      pending = 0
      const before = (x % 3000) - 700
      const inEpoch = Math.max(0, epoch - (x % 5 === 0 ? 1 : 0))
      add(['faa-reply', now, before, take, inEpoch], () => engine.onFaaReply(now, before, take, inEpoch))
    } else if (kind === 8) {
      epoch += 1
      const limit = x % 3 === 0 ? x : -1
      add(['period', now, epoch, x % 900, limit], () =>
        engine.onPeriodStart(now, {
          kind: 'period-start',
          epoch,
          reservation: x % 900,
          limit: limit < 0 ? null : limit,
        }),
      )
    } else if (kind === 9) add(['reports', epoch], () => engine.onStartReport({ kind: 'start-report', epoch }))
    else if (kind === 10) add(['direct'], () => void engine.postDirect())
    else if (kind === 11 && x % 40 === 0) add(['leave'], () => engine.leave())
    else if (kind === 12 && x % 9 === 0) add(['drop'], () => void engine.dropQueue())
    else add(['wake', now], () => engine.onWake(now))
  }
  return events
}

describe('engine of the helper', () => {
  it('acts as QosEngine on every sequence of events', { timeout: 120_000 }, () => {
    const seeds = fc.array(fc.tuple(count(15), count(2000)), { minLength: 20, maxLength: 300 })
    fc.assert(
      fc.property(RULES, seeds, (settings, from) => {
        const events = engineEvents(settings, from)
        const lines = events.map((e) => e.join(' '))
        expect(traced(settings, lines, false)).toEqual(engineLines(settings, events))
      }),
      { numRuns: 120 },
    )
  })
})

type MonitorEvent = readonly [verb: string, ...args: number[]]
const ALERTS = ['local-capacity-risk', 'overcommitted', 'bad-report', 'over-reservation', 'silent-client']
const ACTIONS = ['off', 'increase', 'average', 'keep']
const SLOTS = 6

/** The same lines by QosMonitor over a TokenMemory. */
function monitorLines(settings: HaechiSettings, events: readonly MonitorEvent[]): string[] {
  const lines: string[] = []
  let keys = 1
  const tokens = new TokenMemory(SLOTS, () => keys++, new ArrayBuffer(tokenMemoryBytes(SLOTS)))
  const claimed = tokens.claimMonitor()
  if (!claimed.ok) throw new Error(claimed.error.what)
  tokens.swapPool(claimed.value, tokens.pool().tokens, 0, 0)
  const clients: ClientKeys[] = Array.from({ length: SLOTS }, (_, slot) => {
    const admitted = tokens.admit(slot, 2 ** 20)
    if (!admitted.ok) throw new Error(admitted.error.what)
    return admitted.value
  })
  const monitor = new QosMonitor({
    settings,
    profile: PROFILE,
    port: {
      swapPool(expected, desired, epoch) {
        const found = tokens.swapPool(claimed.value, expected, desired, epoch)
        lines.push(`swap ${expected} ${desired} ${found}`)
        return found
      },
      readSlot: (slot) => tokens.slot(slot),
      send: (client, m) =>
        lines.push(
          m.kind === 'start-report'
            ? `send ${client} reports ${m.epoch}`
            : `send ${client} period ${m.epoch} ${m.reservation} ${m.limit ?? -1}`,
        ),
    },
    observer: {
      event(e) {
        if (e.kind === 'period') lines.push(`begin ${e.at} ${e.epoch} ${e.pool}`)
        else if (e.kind === 'start-report') lines.push(`reports ${e.at} ${e.epoch}`)
        else if (e.kind === 'conversion') lines.push(`convert ${e.at} ${e.from} ${e.to} ${e.residual} ${e.races}`)
        else if (e.kind === 'alert') lines.push(`alert ${e.at} ${ALERTS.indexOf(e.alert)} ${e.client}`)
      },
      period(p) {
        const figures = [
          ...[p.epoch, p.startNs, p.endNs, p.omega, p.nextOmega, ACTIONS.indexOf(p.action), p.reserved, p.initialPool],
          ...[p.finalPool, p.residual, p.target, p.used, p.claimed, p.yielded, p.conversions],
        ]
        const checks = p.poolChecks.map((v) => (Number.isNaN(v) ? '-' : String(v)))
        const of = p.clients.map((c) => `${c.client}:${c.reservation}:${c.completed}:${c.yielded}`)
        lines.push(`period ${[...figures, ...checks, ...of].join(' ')}`)
      },
    },
  })
  for (const [verb, a = 0, b = 0, c = 0, d = 0, e = 0] of events) {
    if (verb === 'join') void monitor.join(a, b, c, d, e < 0 ? null : e)
    else if (verb === 'reserve') void monitor.reserve(a, b, c < 0 ? null : c)
    else if (verb === 'leave') void monitor.leave(monitor.periodStart, a)
    else if (verb === 'start') monitor.start(a)
    else if (verb === 'wake') monitor.onWake(a)
    else if (verb === 'take') void tokens.take(clients[0] as ClientKeys, a)
    else {
      const word = BigInt.asIntN(64, (BigInt(b) << 32n) | BigInt(c))
      void tokens.memory.writeWord((clients[a] as ClientKeys).slot, 0, word)
    }
    const m = monitor
    const state = [
      ...[m.epoch, m.omega, m.pool, m.initialPool, m.target, m.residual, m.reserved, m.claimed],
      ...[Number(m.isReporting), Number(m.isOvercommitted), timeOf(m.wakeAt)],
    ]
    lines.push(`= ${state.join(' ')}`)
  }
  return lines
}

/** Events of a node with clients that take, report (also nonsense), join and leave; reservations that any capacity admits. */
function monitorEvents(seeds: readonly (readonly [number, number])[]): MonitorEvent[] {
  const events: MonitorEvent[] = [
    ['join', 0, 0, 0, 300, -1],
    ['join', 0, 1, 1, 120, 900],
    ['start', 0],
  ]
  let now = 0
  let epoch = 1
  let next = 2
  let beats = 0
  const present = [0, 1]
  for (const [kind, x] of seeds) {
    if (kind < 5) {
      now += MS * (1 + (x % 3))
      events.push(['wake', now])
      epoch = Math.floor(now / (100 * MS)) + 1
    } else if (kind < 8) events.push(['take', 1 + x])
    else if (kind < 13) {
      const client = present[x % present.length]
      if (client === undefined) continue
      const residual = x % 200
      const spent = x % 101
      const completed = residual > 0 ? spent + (x % 60) : x
      const { hi, lo } = packReport({
        epoch: epoch - (x % 17 === 0 ? 1 : 0),
        residual,
        spent,
        completed,
        beat: ++beats,
      })
      events.push(['report', client, hi, lo])
    } else if (kind === 13 && next < SLOTS) {
      present.push(next)
      events.push(['join', now, next, next, x % 90, x % 2 === 0 ? -1 : x])
      next++
    } else if (kind === 14 && present.length > 1 && x % 4 === 0) events.push(['leave', present.pop() ?? 0])
    else {
      const client = present[x % present.length]
      if (client !== undefined) events.push(['reserve', client, x % 100, x % 5 === 0 ? x : -1])
    }
  }
  // Long enough for the estimator and for alerts.
  for (let i = 0; i < 300; i++) events.push(['wake', (now += MS)])
  return events
}

describe('monitor of the helper', () => {
  it('acts as QosMonitor on every sequence of events', { timeout: 120_000 }, () => {
    const fast = (s: HaechiSettings): HaechiSettings => ({ ...s, periodNs: 100 * MS, alertAfter: 2, missedReports: 12 })
    const rules = fc.constantFrom<HaechiSettings>(
      fast(DEFAULT_SETTINGS),
      fast(PAPER_LITERAL),
      fast({
        ...DEFAULT_SETTINGS,
        conversion: 'budget',
        estimator: { ...DEFAULT_SETTINGS.estimator, history: 2, slack: 9 },
      }),
      fast({ ...DEFAULT_SETTINGS, conversion: 'none', estimator: { ...DEFAULT_SETTINGS.estimator, enabled: false } }),
    )
    const seeds = fc.array(fc.tuple(count(15), count(1500)), { minLength: 20, maxLength: 400 })
    fc.assert(
      fc.property(rules, seeds, (settings, from) => {
        const events = monitorEvents(from)
        const lines = events.map((e) => e.join(' '))
        expect(traced(settings, lines, true)).toEqual(monitorLines(settings, events))
      }),
      { numRuns: 120 },
    )
  })
})
