/** Notebooks for the tests of this view, and a host that sends them and records its requests. */
import { ORPCError } from '@orpc/client'
import type { Notice } from '#core/api/frames.ts'
import type { Cell, Incident, IncidentsFrame } from '#core/api/incidents.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'

const SECOND = 1000
const DAY = 86_400_000
/** Thu 19 Nov 2026. */
const TODAY = Date.UTC(2026, 10, 19)
export const clock = (hours: number, minutes = 0, seconds = 0): number =>
  TODAY + ((hours * 60 + minutes) * 60 + seconds) * SECOND
export const NOW_MS = clock(14, 40)

const of = {
  kind: 'LIVE' as const,
  cluster: 'altair',
  fromMs: clock(14, 27),
  toMs: clock(14, 37),
  tier: 'raw',
  frozenMs: clock(14, 37, 2),
}
/** Storm from 14:28:30 to 14:33, with a gap of twelve seconds in it. */
function wait(calm: number, storm: number): (number | null)[] {
  return Array.from({ length: 301 }, (_, i) => {
    const at = of.fromMs + i * 2 * SECOND
    if (at >= clock(14, 35) && at < clock(14, 35, 12)) return null
    const isStorm = at >= clock(14, 28, 30) && at < clock(14, 33)
    return Number(((isStorm ? storm : calm) + 14 * Math.sin(i * 0.9) + 6 * Math.sin(i * 2.3)).toFixed(1))
  })
}
type Of<K extends Cell['kind']> = Extract<Cell, { kind: K }>

export const noteCell = (more: Partial<Of<'note'>> = {}): Of<'note'> => ({
  id: 'c1',
  kind: 'note',
  atMs: clock(14, 36),
  text: 'Job 4690.python started on 38 nodes at 14:27:44 and sent 39.6 k writes of 256 KiB per second, most to OST0003\u20130007. Capped at 400 RPC/s per class for 30 minutes; owner told to stripe wider.',
  ...more,
})
export const chartCell = (more: Partial<Of<'chart'>> = {}): Of<'chart'> => ({
  id: 'c2',
  kind: 'chart',
  atMs: clock(14, 31),
  title: 'Service wait',
  unit: 'ms',
  of,
  place: { kind: 'target', names: ['OST0003', 'OST0004', 'OST0005', 'OST0006', 'OST0007'] },
  t: Array.from({ length: 301 }, (_, i) => of.fromMs + i * 2 * SECOND),
  series: [
    { label: { kind: 'text', text: 'p95' }, ink: 2, area: true, values: wait(76, 305) },
    { label: { kind: 'text', text: 'p50' }, ink: 4, area: false, values: wait(20, 96) },
  ],
  limit: { value: 150, label: 'watch 150 ms' },
  marks: [
    { atMs: clock(14, 27, 44), text: '4690 starts', level: 'idle' },
    { atMs: clock(14, 32, 51), text: 'hog4690 bound, ref 48', level: 'ok' },
  ],
  ...more,
})
export const tableCell = (more: Partial<Of<'table'>> = {}): Of<'table'> => ({
  id: 'c3',
  kind: 'table',
  atMs: clock(14, 31),
  title: 'Top movers',
  known: 412,
  of,
  columns: [
    { label: 'before', unit: 'RPC/s', signed: false },
    { label: 'in the span', unit: 'RPC/s', signed: false },
    { label: 'change', unit: 'RPC/s', signed: true },
  ],
  rows: [
    { name: { kind: 'job', text: '4690.python.u1021' }, ink: 5, values: [400, 61_900, 61_500] },
    { name: { kind: 'job', text: '4711.cfd_solve.u884' }, ink: 1, values: [30_400, 12_100, -18_300] },
    { name: { kind: 'job', text: '4702.train.py.u1021' }, ink: 4, values: [6_900, 14_800, 7_900] },
    { name: { kind: 'job', text: '4633.wrf.exe.u512' }, ink: 6, values: [15_000, null, null] },
  ],
  ...more,
})
export const diffCell = (more: Partial<Of<'diff'>> = {}): Of<'diff'> => ({
  id: 'c4',
  kind: 'diff',
  atMs: clock(14, 31),
  title: 'Rules',
  service: 'ost_io',
  servers: 12,
  more: 0,
  of,
  lines: [
    { kind: 'add', name: 'hog4690', conditions: 'jobid={4690.*}&opcode={ost_write}', before: null, after: 400 },
    { kind: 'same', name: 'hog4471', conditions: 'jobid={4471.*}', before: 63, after: 63 },
    { kind: 'mod', name: 'ckpt_4655', conditions: 'jobid={4655.*}', before: 200, after: 250 },
    { kind: 'del', name: 'login_cap', conditions: 'nid={10.0.9.*@o2ib}', before: 80, after: null },
    { kind: 'same', name: 'default', conditions: '*', before: 10_000, after: 10_000 },
  ],
  ...more,
})
export const verdictCell = (more: Partial<Of<'verdict'>> = {}): Of<'verdict'> => ({
  id: 'c5',
  kind: 'verdict',
  atMs: clock(14, 31),
  title: 'Sandbox B',
  seeds: 20,
  of,
  parts: [
    { text: 'victim 4711 p95 wait ', strong: false },
    { text: '2.1 s \u2192 0.3 s', strong: true },
    { text: '; hog ', strong: false },
    { text: '\u221262 %', strong: true },
    { text: '; total \u22123 %, band \u00B14 %.', strong: false },
  ],
  detail: 'Starved seconds 41 to 0.',
  unknown: ['Caches of the clients are not in the model.', 'Network between servers is not in the model.'],
  ...more,
})
export const transcriptCell = (more: Partial<Of<'transcript'>> = {}): Of<'transcript'> => ({
  id: 'c6',
  kind: 'transcript',
  atMs: clock(14, 32),
  audit: { from: 18_204, to: 18_231 },
  of,
  lines: [
    {
      atMs: clock(14, 32, 40),
      where: 'oss01',
      kind: 'intent',
      text: "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='start hog4690 jobid={4690.*}&opcode={ost_write} rate=400 rank=ml_share'",
    },
    { atMs: clock(14, 32, 40), where: 'oss01', kind: 'outcome', text: 'exit 0 \u00B7 verified by read-back' },
    {
      atMs: clock(14, 32, 50),
      where: 'oss02\u201312',
      kind: 'outcome',
      text: 'exit 0 \u00B7 11 of 11, verified by read-back',
    },
    { atMs: clock(14, 32, 51), where: 'all', kind: 'outcome', text: 'timer sluice-b311 due 15:02:40 \u00B7 12 of 12' },
  ],
  ...more,
})
export const incident = (more: Partial<Incident> = {}): Incident => ({
  format: 1,
  id: 'INC-0042',
  title: 'Write wait \u00D74 from one job on 5 targets',
  status: 'resolved',
  source: { kind: 'LIVE', cluster: 'altair', env: 'PROD', scenario: null, seed: null },
  author: 'mira',
  createdMs: clock(14, 32),
  changedMs: clock(14, 37, 2),
  resolvedMs: clock(14, 36, 51),
  fromMs: of.fromMs,
  toMs: of.toMs,
  alert: null,
  cells: [noteCell(), chartCell(), tableCell(), diffCell(), verdictCell(), transcriptCell()],
  ...more,
})
type Row = IncidentsFrame['incidents'][number]
export const row = (more: Partial<Row> = {}): Row => ({
  id: 'INC-0042',
  title: 'Write wait \u00D74 from one job on 5 targets',
  status: 'resolved',
  cluster: 'altair',
  author: 'mira',
  createdMs: clock(14, 32),
  resolvedMs: clock(14, 36, 51),
  alert: null,
  cells: 6,
  fault: '',
  ...more,
})
export const ROWS: readonly Row[] = [
  row(),
  row({ id: 'INC-0041', title: 'MDT0001 storm, bwa open and stat', author: 'dev', createdMs: clock(9, 14) - DAY }),
  row({
    id: 'INC-0040',
    title: 'OST0021 rebuild under checkpoint',
    status: 'watching',
    createdMs: clock(23, 40) - 2 * DAY,
  }),
  row({
    id: 'INC-0039',
    title: 'Convoy on ckpt.h5, 14 waiters',
    status: 'exercise',
    cluster: 'demo',
    author: 'alert',
    alert: 'convoy',
    createdMs: clock(11, 2) - 2 * DAY,
  }),
  row({ id: 'INC-0038', title: 'login nodes: rsync over scratch', author: 'ops', createdMs: clock(17, 55) - 3 * DAY }),
  row({ id: 'INC-0037', title: '', status: 'open', fault: 'its file is of a newer Sluice (format 2)', cells: 0 }),
]
export const HASH = `9c417be0${'0'.repeat(48)}22d7a1f5`

export const incidentsFrame = (more: Partial<IncidentsFrame> = {}): IncidentsFrame => ({
  seq: 1,
  sample: 40,
  atMs: NOW_MS,
  incidents: [...ROWS],
  selected: incident(),
  integrity: HASH,
  alerts: [],
  bundles: [],
  folder: '/data/bundles',
  opened: null,
  ...more,
})

export interface IncidentsHost {
  frame: IncidentsFrame
  acks: number
  readonly queries: { selected?: string | null; filter?: string }[]
  readonly calls: { verb: string; input: unknown }[]
  /** The next verb is refused with this. */
  refuse: Notice | null
  /** Sends another frame on the active stream. */
  send(frame: IncidentsFrame): void
}

/** Sends as `selected` the requested notebook, if `frame` has it. */
export function openIncidentsHost(frame: IncidentsFrame): IncidentsHost {
  let wake: () => void = () => undefined
  const host: IncidentsHost = {
    frame,
    acks: 0,
    queries: [],
    calls: [],
    refuse: null,
    send(next) {
      host.frame = next
      wake()
    },
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
    history: { note: note('note', undefined) },
    views: {
      incidents: async (query: { selected?: string | null; filter?: string }, { signal }: { signal: AbortSignal }) => {
        host.queries.push(query)
        return (async function* () {
          for (let seq = 1; !signal.aborted; seq++) {
            const { selected } = host.frame
            yield { ...host.frame, seq, selected: selected?.id === query.selected ? selected : null }
            await new Promise<void>((resolve) => {
              wake = resolve
              signal.addEventListener('abort', () => resolve())
            })
          }
        })()
      },
    },
    incidents: {
      create: note('create', { id: 'INC-0043' }),
      change: note('change', undefined),
      remove: note('remove', undefined),
      restore: note('restore', undefined),
      addCell: note('addCell', { cell: 'c9' }),
      editCell: note('editCell', undefined),
      moveCell: note('moveCell', undefined),
      removeCell: note('removeCell', undefined),
      restoreCell: note('restoreCell', undefined),
      preview: () => new Promise(() => undefined),
    },
  }
  useConnectionStore().opened({ api: api as unknown as Client })
  return host
}
