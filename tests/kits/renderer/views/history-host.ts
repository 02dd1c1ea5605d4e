/** A day of a cluster for the tests of this view, and a host that sends it and records its requests. */
import { ORPCError } from '@orpc/client'
import type { Notice } from '#core/api/frames.ts'
import type { HistoryFrame, Mark } from '#core/api/history.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'

const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
/** Thu 19 Nov 2026. */
export const TODAY = Date.UTC(2026, 10, 19)
/** 14:32 of that day. */
export const NOW_MS = TODAY + 14 * HOUR + 32 * MINUTE
/** Gap from 13:50 to 14:05. */
const GAP = { fromMs: TODAY + 13 * HOUR + 50 * MINUTE, toMs: TODAY + 14 * HOUR + 5 * MINUTE }

export const at = (hours: number, minutes = 0): number => TODAY + hours * HOUR + minutes * MINUTE
export const spanOf = (fromMs: number, toMs: number) => ({ fromMs, toMs })

export const mark = (atMs: number, kind: Mark['kind'], text: string, more: Partial<Mark> = {}): Mark => ({
  atMs,
  kind,
  level: kind === 'alarm' ? 'watch' : 'ok',
  subject: 'Rule',
  text,
  where: '',
  ...more,
})
export const MARKS: readonly Mark[] = [
  mark(at(1, 40), 'start', 'login_cap started by mira'),
  mark(at(2, 52), 'alarm', 'queued RPC \u00D74.4 for 16 min', { subject: 'Queue', where: 'OST0003' }),
  mark(at(3, 6), 'start', 'cap_4601 started by dev, ref 48'),
  mark(at(3, 15), 'note', 'hdfwrite again, told its owner', { subject: 'Note' }),
  mark(at(4, 50), 'stop', 'cap_4601 stopped by its timer'),
  mark(at(7), 'change', 'login_cap 100 \u2192 80 by mira'),
  mark(at(9, 10), 'alarm', 'MDT0001 op/s \u00D73, 11 min', { subject: 'Queue' }),
  mark(at(13, 57), 'lost', 'oss07 silent for 24 s', { subject: 'Source', level: 'unknown' }),
]

/** Values per five minutes: low, with storms from 02:50 to 03:10 and from 09:00. */
function dayValues(): { t: number[]; values: (number | null)[] } {
  const t = Array.from({ length: 288 }, (_, i) => TODAY + i * 5 * MINUTE).filter((ms) => ms <= NOW_MS)
  const values = t.map((ms, i) => {
    if (ms >= GAP.fromMs && ms < GAP.toMs) return null
    const calm = 78 + 24 * Math.sin(i / 9) + 9 * Math.sin(i * 1.7)
    const storm =
      ms >= at(2, 50) && ms < at(3, 12) ? 210 : ms >= at(9) && ms < at(9, 35) ? 90 : ms > at(14, 15) ? 190 : 0
    return Number((calm + storm).toFixed(1))
  })
  return { t, values }
}
const week = () =>
  Array.from({ length: 7 }, (_, d) => {
    const fromMs = TODAY - (6 - d) * DAY
    return {
      fromMs,
      values: Array.from({ length: 96 }, (_v, i) => {
        const ms = fromMs + i * 15 * MINUTE
        if (ms > NOW_MS || (d === 3 && i > 8 && i < 14) || (d === 0 && i < 20)) return null
        const busy = i > 34 && i < 72 && d !== 1 && d !== 2 ? 60 : 0
        const storm = (d === 6 && (i === 11 || i === 12 || i > 56)) || (d === 4 && i > 92) ? 240 : 0
        return Math.round(50 + 22 * Math.sin((i + 13 * d) / 7) + busy + storm)
      }),
    }
  })

const JOBS: readonly (readonly [string, string, string, number, number, number])[] = [
  ['4601.hdfwrite.u1102', 'u1102', 'climate', 0, 800, 44_100],
  ['4599.cfd_solve.u884', 'u884', 'aero', 1, 28_200, 13_000],
  ['4588.vasp_std.u340', 'u340', 'chem', 3, 12_400, 9100],
  ['4602.bwa.u733', 'u733', 'bio', 2, 200, 2900],
  ['4590.wrf.exe.u512', 'u512', 'climate', 6, 9900, 7400],
  ['4577.train.py.u1021', 'u1021', 'ml', 4, 6100, 7800],
  ['4570.namd3.u205', 'u205', 'bio', 0, 2200, 1600],
]

/** Frame without spans; `compared` has both. */
export function historyFrame(more: Partial<HistoryFrame> = {}): HistoryFrame {
  return {
    seq: 1,
    sample: 52_320,
    atMs: NOW_MS,
    cluster: 'altair',
    measure: 'serviceMs',
    planes: [],
    a: null,
    b: null,
    overlay: null,
    kept: { fromMs: TODAY - 6 * DAY + 5 * HOUR, toMs: NOW_MS },
    day: {
      fromMs: TODAY,
      toMs: TODAY + DAY,
      tier: '10s',
      ...dayValues(),
      marks: [...MARKS],
      watch: 150,
      gaps: [{ ...GAP, why: 'console not running' }],
    },
    week: week(),
    movers: {
      by: 'job',
      unit: 'RPC/s',
      name: [],
      place: [],
      jobId: [],
      user: [],
      account: [],
      colour: [],
      a: [],
      b: [],
      rest: { names: 0, a: 0, b: 0 },
    },
    since: { leftMs: TODAY - DAY + 18 * HOUR + 40 * MINUTE, marks: MARKS.slice(1), more: 0 },
    store: {
      file: '/home/mira/.local/share/sluice/history/altair.sqlite',
      bytes: 1.9 * 2 ** 30,
      quotaBytes: 4 * 2 ** 30,
      freeBytes: 210 * 2 ** 30,
      otherBytes: 62 * 2 ** 20,
      evictions: [],
      tiers: [
        tier('raw', HOUR, HOUR, 180 * 2 ** 20, DAY),
        tier('1s', DAY, DAY, 760 * 2 ** 20, 7 * DAY),
        tier('10s', 30 * DAY, 6 * DAY + 9 * HOUR, 910 * 2 ** 20, 365 * DAY),
        tier('1min', 365 * DAY, 6 * DAY + 9 * HOUR, 33 * 2 ** 20, 3650 * DAY),
      ],
    },
    recordings: [
      recording('wrf-restart', 7 * DAY, 20 * MINUTE, 41),
      recording('mdt-storm', DAY, 8 * MINUTE, 16),
      recording('rebuild-ost21', 2 * DAY, 3 * HOUR, 288, { cluster: 'vega' }),
      recording('from-vega', 0, 0, 512, { isChecking: true }),
      recording('half-copied', 2 * DAY, 0, 2, { fault: 'The file ends before its last page' }),
    ],
    ...more,
  }
}

type Tier = HistoryFrame['store']['tiers'][number]
const tier = (id: Tier['id'], keepMs: number, ageMs: number, bytes: number, mostMs: number): Tier => ({
  id,
  keepMs,
  bytes,
  samples: Math.round(bytes / 30),
  leastMs: 10 * MINUTE,
  mostMs,
  oldestMs: NOW_MS - ageMs,
})
type Recording = HistoryFrame['recordings'][number]
const recording = (name: string, agoMs: number, lengthMs: number, mib: number, more: Partial<Recording> = {}) => ({
  name,
  cluster: 'altair',
  fromMs: NOW_MS - agoMs,
  toMs: NOW_MS - agoMs + lengthMs,
  bytes: mib * 2 ** 20,
  fault: '',
  isChecking: false,
  ...more,
})

/** Spans before and during the storm. */
export const A = spanOf(at(2, 30), at(2, 50))
export const B = spanOf(at(2, 50), at(3, 10))

export function compared(more: Partial<HistoryFrame> = {}): HistoryFrame {
  const offsetMs = Array.from({ length: 120 }, (_, i) => i * 10_000)
  return historyFrame({
    a: A,
    b: B,
    movers: {
      by: 'job',
      unit: 'RPC/s',
      name: JOBS.map((j) => j[0]),
      place: JOBS.map(() => ''),
      jobId: JOBS.map(() => ''),
      user: JOBS.map((j) => j[1]),
      account: JOBS.map((j) => j[2]),
      colour: JOBS.map((j) => j[3]),
      a: JOBS.map((j) => j[4]),
      b: JOBS.map((j) => j[5]),
      rest: { names: 41, a: 3100, b: 2900 },
    },
    overlay: {
      a: { offsetMs, values: offsetMs.map((_, i) => 74 + 9 * Math.sin(i / 3)) },
      b: { offsetMs, values: offsetMs.map((_, i) => 84 + 8 * Math.sin(i / 4) + (i > 14 && i < 90 ? 236 : 0)) },
    },
    ...more,
  })
}

export interface HistoryHost {
  frame: HistoryFrame
  acks: number
  /** Queries of the stream, newest last. */
  readonly queries: Record<string, unknown>[]
  readonly calls: { verb: string; input: unknown }[]
  /** Refuses the next verb with this. */
  refuse: Notice | null
  /** Parts that `csv` sends; a number waits until the test continues. */
  csv: { text: string; rows: number; isLast: boolean }[]
  /** If set, the CSV waits before its last part until it is called. */
  goOn: (() => void) | null
  holdsCsv: boolean
  /** CSVs canceled because their parts were not consumed. */
  cancelled: number
}

/** Opens a connection to a new host. */
export function openHistoryHost(frame: HistoryFrame): HistoryHost {
  const host: HistoryHost = {
    frame,
    acks: 0,
    queries: [],
    calls: [],
    refuse: null,
    goOn: null,
    holdsCsv: false,
    cancelled: 0,
    csv: [
      { text: 'at,rpcs\n', rows: 0, isLast: false },
      { text: '2026-11-19T02:50:00Z,12\n', rows: 1, isLast: true },
    ],
  }
  const note =
    <R>(verb: string, reply: R) =>
    async (input?: unknown): Promise<R> => {
      const { refuse } = host
      host.refuse = null
      if (refuse) throw new ORPCError('REFUSED', { defined: true, message: refuse.what, data: refuse })
      host.calls.push({ verb, input })
      return reply
    }
  const api = {
    host: { ack: async () => void host.acks++ },
    views: {
      history: async (query: Record<string, unknown>, { signal }: { signal: AbortSignal }) => {
        host.queries.push(query)
        return (async function* () {
          yield host.frame
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        })()
      },
    },
    history: {
      goTo: note('goTo', { sample: 7, atMs: NOW_MS, recorded: false }),
      open: note('open', undefined),
      leave: note('leave', undefined),
      setKeep: note('setKeep', undefined),
      setQuota: note('setQuota', undefined),
      record: note('record', { name: 'x', bytes: 1 }),
      removeRecording: note('removeRecording', undefined),
      csv: async (input: unknown, { signal }: { signal: AbortSignal }) => {
        await note('csv', undefined)(input)
        return (async function* () {
          for (const part of host.csv) {
            if (part.isLast && host.holdsCsv)
              await new Promise<void>((resolve, reject) => {
                host.goOn = resolve
                signal.addEventListener('abort', () => {
                  host.cancelled++
                  reject(signal.reason as Error)
                })
              })
            yield part
          }
        })()
      },
    },
  }
  useConnectionStore().opened({ api: api as unknown as Client })
  return host
}
