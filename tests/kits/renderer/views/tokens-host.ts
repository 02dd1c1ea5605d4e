/** Frames, answers and host for the tests of this view: ten clients on one data node, one of which misses its reservation. */
import type { TokensAdmission, TokensChange, TokensFrame, TokensReserve } from '#core/api/tokens.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'

export const NOW_MS = Date.UTC(2026, 10, 19, 14, 32, 7)
const EPOCH = 417
const POINTS = 250
const OMEGA = 1_568_000

export interface SampleClient {
  readonly key: string
  readonly name?: string
  readonly reservation?: number
  readonly limit?: number | null
  readonly usedReserved?: number
  readonly usedPool?: number
  readonly yielded?: number
  readonly left?: number
  readonly held?: number
  readonly missed?: number
  readonly iops?: number | null
  readonly state?: TokensFrame['clients']['state'][number]
  readonly isThrottled?: boolean
  readonly isStarved?: boolean
  readonly jobId?: string
  readonly why?: string
  readonly level?: TokensFrame['clients']['level'][number]
}
const client = (
  key: string,
  [reservation, limit, usedReserved, usedPool, yielded, missed]: [
    number,
    number | null,
    number,
    number,
    number,
    number,
  ],
  more: Partial<SampleClient> = {},
): SampleClient => ({
  key,
  reservation,
  limit,
  usedReserved,
  usedPool,
  yielded,
  missed,
  left: Math.max(0, reservation - usedReserved - yielded),
  ...more,
})
export const CLIENTS: readonly SampleClient[] = [
  client('c01', [220_000, 300_000, 197_000, 0, 15_000, 0]),
  client('c02', [180_000, 260_000, 160_000, 0, 13_000, 0]),
  client('c03', [160_000, null, 142_000, 0, 12_000, 0]),
  client('c04', [150_000, null, 144_000, 0, 0, 0]),
  client('c05', [140_000, 200_000, 135_000, 0, 0, 0]),
  client('c06', [120_000, null, 115_000, 0, 0, 0], { jobId: '4690.python.u1021' }),
  client('c07', [110_000, null, 85_000, 0, 0, 3], {
    level: 'watch',
    isStarved: true,
    why: '25 000 of 110 000 still due at 0.962 s',
  }),
  client('c08', [94_000, 90_000, 90_000, 0, 0, 0], { isThrottled: true }),
  client('c09', [80_000, null, 80_000, 88_000, 0, 0], { held: 840 }),
  client('c10', [0, null, 0, 256_000, 0, 0], { held: 840, state: 'active' }),
]

export function clientsOf(list: readonly SampleClient[]): TokensFrame['clients'] {
  const all = <T>(of: (c: SampleClient, i: number) => T): T[] => list.map(of)
  const sparkOf = (c: SampleClient, i: number): number[] => {
    const level = (c.usedReserved ?? 0) + (c.usedPool ?? 0) + 10_000
    const falls = (n: number): number => ((c.missed ?? 0) > 0 && n > 48 ? 0.8 : 1)
    return Array.from({ length: 70 }, (_, n) => level * falls(n) * (1 + 0.03 * Math.sin(n * (1.3 + i / 7))))
  }
  return {
    key: all((c) => c.key),
    name: all((c) => c.name ?? c.key),
    jobId: all((c) => c.jobId ?? ''),
    colour: all((_, i) => (i % 7) + 1),
    state: all((c) => c.state ?? 'active'),
    reservation: all((c) => c.reservation ?? 0),
    limit: all((c) => c.limit ?? null),
    left: all((c) => c.left ?? 0),
    held: all((c) => c.held ?? 0),
    yielded: all((c) => c.yielded ?? 0),
    usedReserved: all((c) => c.usedReserved ?? 0),
    usedPool: all((c) => c.usedPool ?? 0),
    queued: all((c) => (c.isStarved ? 25_000 : 12)),
    inFlight: all(() => 64),
    isThrottled: all((c) => c.isThrottled ?? false),
    isStarved: all((c) => c.isStarved ?? false),
    missed: all((c) => c.missed ?? 0),
    p99Us: all((_, i) => 410 + 37 * i),
    iops: all((c) => (c.iops === undefined ? (c.usedReserved ?? 0) + (c.usedPool ?? 0) + 9000 : c.iops)),
    spark: all(sparkOf),
    level: all((c) => c.level ?? 'ok'),
    why: all((c) => c.why ?? ''),
  }
}

/** A pool that is empty at 0.92 s and briefly overdrawn, read at 0.962 s. */
function seriesOf(): TokensFrame['series'] {
  const t = Array.from({ length: POINTS }, (_, i) => i * 4)
  const tail = [7, 2, -1.4, -7, -12.6, -6, 9, 4, -3, 8, 3, -2, 8.4]
  const at = (i: number): number | null => {
    if (i > 240) return null
    if (i >= 228) return Math.round((tail[i - 228] ?? 8.4) * 1000)
    return Math.round(314_000 * (1 - i / POINTS / 0.925) * (1 + 0.02 * Math.sin(i / 9)) - (i % 4) * 2600)
  }
  const pool = t.map((_, i) => at(i))
  return {
    span: 'period',
    t,
    pool,
    reported: t.map((ms, i) => (i > 240 ? null : Math.max(0, Math.round(1_254_000 * (1 - ms / 1000))))),
    target: pool.map((v) => (v === null ? null : Math.max(0, v))),
    unconverted: t.map((ms) => Math.max(0, Math.round(314_000 * (1 - ms / 800)))),
  }
}

function capacityOf(): TokensFrame['capacity'] {
  let omega = OMEGA
  const estimate = Array.from({ length: 60 }, (_, i) => {
    if (i > 18 && i < 24) omega -= 46_000
    else if (i >= 36) omega = omega < OMEGA ? Math.min(OMEGA, omega + 15_700) : OMEGA - (i % 3) * 4000
    return omega
  })
  return {
    epoch: estimate.map((_, i) => EPOCH - 59 + i),
    estimate,
    profile: OMEGA,
    least: 1_240_000,
    used: estimate.map((v, i) =>
      Math.min(v, i > 18 && i < 36 ? 1_334_000 + (i % 3) * 3000 : v - 3000 - (i % 4) * 2000),
    ),
    reserved: estimate.map(() => 1_254_000),
    action: 'rose by 15 700',
    marks: [
      { epoch: EPOCH - 41, text: 'capacity falls 15 %' },
      { epoch: EPOCH - 23, text: 'restored' },
    ],
  }
}

export function tokensFrame(patch: Partial<TokensFrame> = {}): TokensFrame {
  const event = (back: number, kind: string, of: string, text: string, level: 'ok' | 'watch' | 'idle' = 'idle') => ({
    atMs: NOW_MS - back,
    kind,
    level,
    client: of,
    text,
  })
  return {
    seq: 1,
    sample: 40,
    atMs: NOW_MS,
    windowMs: 300_000,
    nodes: ['dn0', 'dn1'],
    node: 'dn0',
    isKept: true,
    variant: 'haechi',
    preset: 'default',
    periodMs: 1000,
    checkMs: 1,
    batch: 1000,
    epoch: EPOCH,
    elapsedMs: 962,
    phase: 'report',
    pool: {
      now: 8400,
      start: 314_000,
      lowest: -12_600,
      lowestAtMs: 929,
      emptyFetches: 13,
      reported: 47_000,
      target: 8400,
    },
    series: seriesOf(),
    phases: [
      { kind: 'dispatch', fromMs: 0, toMs: 4 },
      { kind: 'wait', fromMs: 4, toMs: 13 },
      { kind: 'report', fromMs: 13, toMs: 962 },
    ],
    epochs: Array.from({ length: 7 }, (_, i) => ({
      epoch: EPOCH - 6 + i,
      startMs: NOW_MS - 962 - (6 - i) * 1000,
      isWhole: i < 6,
      missed: i >= 3 && i < 6 ? ['c07'] : [],
    })),
    capacity: capacityOf(),
    clients: clientsOf(CLIENTS),
    foot: {
      cpuEvents: 1842,
      dataCpuEvents: 0,
      dataIos: 1_420_000,
      idleShare: 0.003,
      worst: { client: 'c07', periods: 3, alertAfter: 10 },
      reserved: 1_254_000,
      admissible: 1_411_000,
      fluidFinish: 0.964,
    },
    events: [
      event(962, 'period', '', 'period 417 begins, pool 314 000'),
      event(950, 'conversion', '', 'pool raised by 1 200'),
      event(34, 'claim', 'c07', 'claim found nothing, pool \u221212 600', 'watch'),
      event(33, 'claim', 'c09', 'claim got 437 of 1 000'),
      event(20, 'estimator', '', 'rose by 15 700'),
      event(10, 'alert', 'c07', 'reservation missed 3 periods in a row', 'watch'),
    ],
    notices: [],
    ...patch,
  }
}

/** Source without any data node. */
export const noNode = (): TokensFrame =>
  tokensFrame({ nodes: [], node: '', isKept: false, clients: clientsOf([]), epochs: [], phases: [], events: [] })

/** The requested number of clients, each with a small reservation. */
export const manyClients = (count: number): TokensFrame =>
  tokensFrame({
    clients: clientsOf(
      Array.from({ length: count }, (_, i) =>
        client(
          `n${i + 1}`,
          [2400 - i, i % 3 === 0 ? 3000 : null, 1900 - i, i % 5 === 0 ? 700 : 0, 120, i === 6 ? 3 : 0],
          {
            ...(i === 6 ? { level: 'watch' as const, isStarved: true } : {}),
            ...(i === 9
              ? { state: 'joining' as const }
              : i === 11
                ? { state: 'crashed' as const, level: 'bad' as const }
                : {}),
          },
        ),
      ),
    ),
  })

/** No activity and no reservations. */
export function allZero(): TokensFrame {
  const base = tokensFrame()
  const none = base.series.t.map(() => 0)
  return {
    ...base,
    pool: { now: 0, start: 0, lowest: 0, lowestAtMs: null, emptyFetches: 0, reported: 0, target: 0 },
    series: { ...base.series, pool: none, reported: none, target: none, unconverted: none },
    clients: clientsOf([{ key: 'c01', iops: 0 }]),
    capacity: {
      ...base.capacity,
      estimate: base.capacity.epoch.map(() => 0),
      used: base.capacity.epoch.map(() => 0),
      reserved: base.capacity.epoch.map(() => 0),
      profile: 0,
      least: 0,
      action: '',
      marks: [],
    },
    foot: { ...base.foot, dataIos: 0, idleShare: null, worst: null, reserved: 0, admissible: 0, fluidFinish: 0 },
    events: [],
    epochs: base.epochs.map((e) => ({ ...e, missed: [] })),
  }
}

/** Simplified admission for the tests: 400 000 for one client, 1 411 000 for all. */
export function admissionOf(frame: TokensFrame, asked: TokensReserve): TokensAdmission {
  const at = frame.clients.key.indexOf(asked.client)
  const reserved = frame.foot.reserved - (frame.clients.reservation[at] ?? 0) + asked.reservation
  const local = asked.reservation - 400_000
  const global = reserved - frame.foot.admissible
  const reasons: TokensAdmission['reasons'] = []
  if (local > 0) reasons.push({ kind: 'local', by: local, text: `${local} over what one client can do` })
  if (global > 0) reasons.push({ kind: 'global', by: global, text: 'over what admission lets in' })
  const fluidFinish = reserved / 1_300_000
  if (fluidFinish > 1) reasons.push({ kind: 'fluid', by: fluidFinish - 1, text: 'equal shares end after the period' })
  return { admit: local <= 0 && global <= 0, reasons, reserved, admissible: frame.foot.admissible, fluidFinish }
}

export interface TokensHost {
  /** Verbs, and the queries of the stream. */
  readonly calls: { verb: string; input: unknown }[]
  readonly queries: { node: string; span: string; filter?: string }[]
  frame: TokensFrame
  /** Frames that have reached the page. */
  acks: number
  /** Thrown by `change` and `reserve` while it is set. */
  refuses: Error | null
}

/** Opens a connection to a new host. */
export function openTokensHost(frame: TokensFrame = tokensFrame()): TokensHost {
  const host: TokensHost = { calls: [], queries: [], frame, acks: 0, refuses: null }
  const take = async (verb: string, input: unknown): Promise<void> => {
    host.calls.push({ verb, input })
    if (host.refuses !== null) throw host.refuses
  }
  const api = {
    host: { ack: async () => void host.acks++ },
    views: {
      tokens: async (query: TokensHost['queries'][number], { signal }: { signal: AbortSignal }) => {
        host.queries.push(query)
        return (async function* () {
          yield { ...host.frame, series: { ...host.frame.series, span: query.span } }
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        })()
      },
    },
    tokens: {
      check: async (input: TokensReserve) => {
        host.calls.push({ verb: 'check', input })
        return admissionOf(host.frame, input)
      },
      reserve: (input: TokensReserve) => take('reserve', input),
      change: (input: TokensChange) => take('change', input),
    },
  }
  useConnectionStore().opened({ api: api as unknown as Client })
  return host
}
