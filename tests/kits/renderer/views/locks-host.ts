/** Frames and host for the tests of this view: eight clients on one stripe, two of them readers, as on a busy file. */
import type { LocksCompare, LocksFrame, LocksPlane, LanesRange } from '#core/api/locks.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'

export const NOW_MS = Date.UTC(2026, 10, 19, 14, 32, 7)
export const SPAN_MS = 60
type Resource = NonNullable<LocksFrame['resource']>
type Mode = Resource['lives']['mode'][number]

export interface SampleLife {
  readonly client: number
  readonly mode: Mode
  readonly asked: number
  readonly granted: number | null
  /** Time it was used, and time its data took to the server. */
  readonly used?: number
  readonly flush?: number
  readonly early?: boolean
  readonly revoked?: boolean
}

/** Alternating writers, then two readers that wait for every flush, then writers again; the last one requests a PW. */
export const SCHEDULE: readonly SampleLife[] = (() => {
  const lives: SampleLife[] = []
  let at = 1.2
  ;[0, 3, 1, 5, 2, 4, 0, 3, 1, 5, 2].forEach((client, i) => {
    const wait = 1.6 + ((i * 7) % 5) * 0.5
    lives.push({
      client,
      mode: 'NBW',
      asked: at - wait,
      granted: at,
      used: i > 6 ? 0.9 : 1.7,
      flush: 7.2 + ((i * 3) % 4) * 0.5,
      early: i > 0,
      revoked: i > 6,
    })
    at += 2.35
  })
  lives.push({ client: 6, mode: 'PR', asked: 25.2, granted: 34.1, used: 4.6, flush: 0.5 })
  lives.push({ client: 7, mode: 'PR', asked: 24.5, granted: 34.1, used: 4.2, flush: 0.5 })
  ;[4, 0, 3, 1].forEach((client, i) => {
    const granted = 39.1 + i * 2.2
    lives.push({
      client,
      mode: 'NBW',
      asked: 27.5 + i * 1.9,
      granted,
      used: 1.1,
      flush: 7.3 + i * 0.3,
      early: i > 0,
      revoked: i > 1,
    })
  })
  lives.push({ client: 5, mode: 'BW', asked: 35, granted: 48.2, used: 2.6, flush: 6.4, early: true })
  lives.push({ client: 2, mode: 'PW', asked: 42, granted: null })
  return [...lives].sort((a, b) => a.asked - b.asked)
})()

const endOf = (life: SampleLife): number | null =>
  life.granted === null ? null : life.granted + (life.used ?? 0) + (life.flush ?? 0)
const within = (at: number | null): number | null => (at === null || at > SPAN_MS ? null : at)
const isNonBlocking = (mode: Mode): boolean => mode === 'NBW' || mode === 'BW'

/** Frames of the host for a schedule. SNs from 4 121 on. */
export function livesOf(schedule: readonly SampleLife[]): Resource['lives'] {
  const all = <T>(of: (life: SampleLife, i: number) => T): T[] => schedule.map(of)
  const grants = schedule
    .filter((l) => l.granted !== null)
    .sort((a, b) => (a.granted ?? 0) - (b.granted ?? 0))
    .filter((l) => l.mode !== 'PR')
  const snOf = (life: SampleLife): number | null => {
    if (within(life.granted) === null) return null
    if (life.mode !== 'PR') return 4121 + grants.indexOf(life)
    return 4121 + grants.filter((g) => (g.granted ?? 0) < (life.granted ?? 0)).length
  }
  const obstacles = all((life, i) =>
    schedule.flatMap((other, k) => {
      const end = endOf(other)
      const isHere = k < i && other.client !== life.client && (end === null || end > life.asked)
      if (!isHere || (life.mode === 'PR' && other.mode === 'PR')) return []
      const passes = isNonBlocking(life.mode) && other.mode === 'NBW'
      const canceling = (other.granted ?? Infinity) + (other.used ?? 0)
      return passes && canceling <= life.asked
        ? []
        : [{ id: 100 + k, until: passes ? 'canceling' : 'release' } as const]
    }),
  )
  return {
    id: all((_, i) => 100 + i),
    client: all((l) => l.client + 1),
    asked: all((l) => l.asked),
    granted: all((l) => within(l.granted)),
    canceling: all((l) => within(l.granted === null ? null : l.granted + (l.used ?? 0))),
    released: all((l) => within(endOf(l))),
    dataAt: all((l) => (l.mode === 'PR' ? null : within(endOf(l)))),
    mode: all((l) => l.mode),
    askedMode: all((l) => l.mode),
    sn: all(snOf),
    minSn: all(snOf),
    start: all(() => 0),
    requiredEnd: all(() => 65_535),
    end: all(() => null),
    isEarlyGrant: all((l) => l.early ?? false),
    isEarlyRevocation: all((l) => l.revoked ?? false),
    dirtyBytes: all((l) => (l.mode !== 'PR' && endOf(l) !== null && within(endOf(l)) === null ? 24 * 2 ** 20 : 0)),
    bytes: all((l) => (l.mode === 'PR' ? 0 : 24 * 2 ** 20)),
    downgradedAt: all((l) => (l.mode === 'BW' && l.granted !== null ? l.granted + (l.used ?? 0) : null)),
    downgradedTo: all((l) => (l.mode === 'BW' ? 'NBW' : null)),
    absorbed: all(() => []),
    behind: obstacles.map((list) => list.map(({ id }) => id)),
    behindUntil: obstacles.map((list) => list.map(({ until }) => until)),
    rule: all((l) =>
      within(l.granted) === null
        ? ''
        : l.early
          ? `${l.mode} passes CANCELING NBW locks: early grant (lock compatibility, NBW column)`
          : 'every lock in its way was released: normal grant',
    ),
    ending: all(() => ''),
  }
}

interface SampleMessage {
  readonly sent: number
  readonly client: number
  readonly isUp: boolean
  readonly kind: string
  readonly life: number
  readonly text: string
}

export function messagesOf(schedule: readonly SampleLife[]): Resource['messages'] {
  const list: SampleMessage[] = schedule.flatMap((l, i) => {
    const one = (sent: number | null, isUp: boolean, kind: string, text: string): SampleMessage[] =>
      sent === null || sent < 0 || sent > SPAN_MS ? [] : [{ sent, client: l.client, isUp, kind, life: 100 + i, text }]
    const canceling = l.granted === null ? null : l.granted + (l.used ?? 0)
    return [
      ...one(l.asked, true, 'lock-request', `asks ${l.mode} 0 .. 65 535`),
      ...one(l.granted, false, 'lock-grant', `grant ${l.mode}${l.early ? ', early' : ''}`),
      ...(l.revoked ? [] : one(canceling === null ? null : canceling - 0.2, false, 'revoke', `revoke ${l.mode}`)),
      ...(l.revoked ? [] : one(canceling === null ? null : canceling - 0.05, true, 'revoke-reply', 'revocation taken')),
      ...(l.mode === 'PR' || canceling === null ? [] : one(canceling + 0.1, true, 'flush-request', '24 MiB')),
      ...one(endOf(l), true, 'release', `releases ${l.mode}`),
    ]
  })
  list.sort((a, b) => a.sent - b.sent)
  return {
    sent: list.map((m) => m.sent),
    arrived: list.map((m) => m.sent + 0.04),
    client: list.map((m) => m.client),
    isUp: list.map((m) => m.isUp),
    kind: list.map((m) => m.kind),
    life: list.map((m) => m.life),
    text: list.map((m) => m.text),
  }
}

export const clientsOf = (count: number): Resource['clients'] =>
  Array.from({ length: count }, (_, i) => ({
    number: i + 1,
    name: `c${String(i + 1).padStart(2, '0')}`,
    jobId: i < 6 ? '4711.vpic.u100' : '4712.view.u7',
  }))

export function resourceOf(patch: Partial<Resource> = {}): Resource {
  const bins = Array.from({ length: 200 }, (_, i) => NOW_MS - 10_000 + i * 50)
  return {
    key: 'r3',
    name: 'ckpt.h5 / 3',
    server: 'ost2',
    about: '16 writers, N-1 strided',
    clients: clientsOf(8),
    moment: { endMs: NOW_MS - 1200, spanMs: SPAN_MS },
    isFound: true,
    isKept: true,
    queue: {
      t: bins,
      waiting: bins.map((_, i) => (i < 12 ? null : Math.round(7 + 6 * Math.sin(i / 9) + 3 * Math.sin(i / 2.3)))),
    },
    lives: livesOf(SCHEDULE),
    moreLives: 0,
    messages: messagesOf(SCHEDULE),
    moreMessages: 0,
    early: { grants: 21, all: 24, revocations: 5, conversions: 2 },
    ...patch,
  }
}

interface Row {
  readonly name: string
  readonly waiting: number
  readonly conflicts: number
  readonly revocations: number
  readonly cancelMs: number | null
  readonly level?: LocksFrame['rows']['level'][number]
  readonly why?: string
  readonly alarm?: LocksFrame['rows']['alarm'][number]
}
const storm = (kind: 'convoy' | 'ping-pong') => ({ level: 'watch', why: `${kind} on it`, alarm: kind }) as const
const ROWS: readonly Row[] = [
  { name: 'ckpt.h5 / 3', waiting: 14, conflicts: 412, revocations: 398, cancelMs: 9.1, ...storm('convoy') },
  { name: 'ckpt.h5 / 1', waiting: 9, conflicts: 388, revocations: 371, cancelMs: 8.8 },
  { name: 'ckpt.h5 / 0', waiting: 8, conflicts: 380, revocations: 366, cancelMs: 8.9 },
  { name: 'run.log / 0', waiting: 3, conflicts: 82, revocations: 82, cancelMs: 1.2, ...storm('ping-pong') },
  { name: 'mesh.bin / 4', waiting: 1, conflicts: 14, revocations: 6, cancelMs: 2.2 },
  { name: 'index.db / 0', waiting: 0, conflicts: 3, revocations: 3, cancelMs: null },
]
export function rowsOf(list: readonly Row[] = ROWS): LocksFrame['rows'] {
  return {
    key: list.map((_, i) => (i === 0 ? 'r3' : `k${i}`)),
    name: list.map((r) => r.name),
    server: list.map(() => 'ost2'),
    waiting: list.map((r) => r.waiting),
    conflicts: list.map((r) => r.conflicts),
    revocations: list.map((r) => r.revocations),
    cancelMs: list.map((r) => r.cancelMs),
    held: list.map((r) => r.waiting + 3),
    level: list.map((r) => r.level ?? 'ok'),
    why: list.map((r) => r.why ?? ''),
    alarm: list.map((r) => r.alarm ?? null),
  }
}
/** Slice of many resources, as a host sends it. */
export const manyRows = (offset: number, limit: number): LocksFrame['rows'] => ({
  ...rowsOf(
    Array.from({ length: limit }, (_, i) => ({
      name: `f${offset + i} / 0`,
      waiting: 0,
      conflicts: 0,
      revocations: 0,
      cancelMs: null,
    })),
  ),
  key: Array.from({ length: limit }, (_, i) => `f${offset + i}`),
})

export function locksFrame(patch: Partial<LocksFrame> = {}): LocksFrame {
  const t = Array.from({ length: 60 }, (_, i) => NOW_MS - (59 - i) * 5000)
  const wave = (base: number): number[] => t.map((_, i) => base * (0.85 + 0.15 * Math.sin(i / 4)))
  return {
    seq: 1,
    sample: 40,
    atMs: NOW_MS,
    windowMs: 300_000,
    planes: ['seqdlm', 'ldlm'],
    plane: 'seqdlm',
    held: 18_402,
    grants: 2140,
    cancels: 2096,
    manager: 'SeqDLM, early grant and early revocation on',
    series: { t, held: wave(18_402), grants: wave(2140), cancels: wave(2096), waiting: wave(9) },
    modes: [
      { mode: 'PR', held: 1204, grants: 84, waiting: 2 },
      { mode: 'NBW', held: 16_980, grants: 2010, waiting: 11 },
      { mode: 'BW', held: 212, grants: 44, waiting: 0 },
      { mode: 'PW', held: 6, grants: 2, waiting: 1 },
    ],
    known: ROWS.length,
    shown: ROWS.length,
    offset: 0,
    rows: rowsOf(),
    convoys: [],
    alarms: [
      {
        kind: 'convoy',
        level: 'watch',
        resource: 'r3',
        text: 'Convoy on ckpt.h5 / 3, 14 behind 1 PR lock',
        note: '0.031 s',
      },
      {
        kind: 'ping-pong',
        level: 'watch',
        resource: 'k3',
        text: 'Ping-pong on run.log / 0, 41 owner changes/s',
        note: '12 s',
      },
      {
        kind: 'eviction',
        level: 'idle',
        resource: '',
        text: 'Eviction risk: none, oldest callback 0.2 %',
        note: 'of 100 s',
      },
    ],
    resource: resourceOf(),
    ldlm: null,
    notices: [],
    ...patch,
  }
}

/** Counters of three namespaces, one of a server that does not export all of them. */
export function ldlmFrame(patch: Partial<LocksFrame> = {}): LocksFrame {
  const base = locksFrame()
  const { t } = base.series
  const wave = (top: number): number[] => t.map((_, i) => top * (0.8 + 0.2 * Math.sin(i / 6)))
  const targets = ['demo-OST0000', 'demo-OST0001', 'demo-MDT0000']
  return {
    ...base,
    plane: 'ldlm',
    rows: rowsOf([]),
    alarms: [],
    resource: null,
    known: 0,
    shown: 0,
    modes: base.modes.map(({ mode }) => ({ mode, held: 0, grants: 0, waiting: 0 })),
    ldlm: {
      namespace: targets.map((target) => `filter-${target}_UUID`),
      target: targets,
      node: ['oss01', 'oss02', 'mds01'],
      locks: [9200, 8100, 1102],
      unused: [null, null, 14],
      resources: [402, 377, 90],
      granted: [9180, 8092, null],
      grantRate: [1210, 840, 90],
      cancelRate: [1190, 822, 84],
      limit: [142_000, 142_000, null],
      timeouts: [0, 3, 0],
      contentions: [null, null, null],
      level: ['ok', 'watch', 'ok'],
      why: ['', '3 lock timeouts in the window', ''],
      spark: [wave(9200), wave(8100), wave(1102)],
      selected: 'filter-demo-OST0000_UUID',
      series: { t, locks: wave(9200), grantRate: wave(1210), cancelRate: wave(1190), limit: t.map(() => 142_000) },
      missing: [{ node: 'oss03', reason: 'lctl: ldlm.namespaces.*.pool.stats: permission denied' }],
    },
    ...patch,
  }
}

/** Source without any plane. */
export const noLocks = (): LocksFrame =>
  locksFrame({ planes: [], plane: null, held: null, grants: null, cancels: null, resource: null, rows: rowsOf([]) })

const filesOf = (writeBps: number) => [
  { file: 'ckpt.h5', writeBps, readBps: 1e8 },
  { file: 'index.db', writeBps: null, readBps: null },
]
export const comparison: LocksCompare = {
  seconds: 10,
  seed: 42,
  results: [
    { manager: 'seqdlm', name: 'SeqDLM', writeBps: 1.84e9, readBps: 2e8, files: filesOf(2.1e9), longestWaitMs: 7 },
    {
      manager: 'datatype',
      name: 'DLM-datatype',
      writeBps: 6.4e8,
      readBps: 1e8,
      files: filesOf(7e8),
      longestWaitMs: 41,
    },
    { manager: 'lustre', name: 'DLM-Lustre', writeBps: 2.12e8, readBps: 4e7, files: filesOf(6e8), longestWaitMs: 180 },
    { manager: 'basic', name: 'DLM-basic', writeBps: null, readBps: null, files: [], longestWaitMs: null },
  ],
}

export interface LocksHost {
  readonly queries: {
    plane: LocksPlane | null
    sort: string
    filter: string
    selected: string
    moment: LanesRange | null
    spanMs: number | null
    offset: number
    limit: number
  }[]
  readonly compares: unknown[]
  /** Frame to send; a function gets the query. */
  frame: LocksFrame | ((query: LocksHost['queries'][number]) => LocksFrame)
  acks: number
  /** Thrown by `compare` while it is set. */
  refuses: Error | null
  /** Resolves the running comparison. */
  finish: () => void
}

/** Opens a connection to a new host. */
export function openLocksHost(frame: LocksHost['frame'] = locksFrame()): LocksHost {
  const host: LocksHost = { queries: [], compares: [], frame, acks: 0, refuses: null, finish: () => undefined }
  const api = {
    host: { ack: async () => void host.acks++ },
    views: {
      locks: async (query: LocksHost['queries'][number], { signal }: { signal: AbortSignal }) => {
        host.queries.push(query)
        return (async function* () {
          yield typeof host.frame === 'function' ? host.frame(query) : host.frame
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        })()
      },
    },
    locks: {
      compare: async (input: unknown) => {
        host.compares.push(input)
        if (host.refuses !== null) throw host.refuses
        await new Promise<void>((resolve) => (host.finish = resolve))
        return comparison
      },
    },
  }
  useConnectionStore().opened({ api: api as unknown as Client })
  return host
}
