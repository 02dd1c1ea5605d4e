/** Source and incident for tests of the pages: a real history file of 12 servers, and a notebook with a cell of every kind. */
import type { Incident, Provenance } from '#core/snapshot/notebook.ts'
import type { PageFacts } from '#core/snapshot/page-facts.ts'
import type { History } from '#electron/history/history.ts'
import { openAt, newFile } from '../history/samples.ts'

export const FROM = Date.UTC(2026, 10, 19, 14, 27)

export interface Size {
  readonly seconds: number
  readonly jobs: number
  readonly targets: number
}
export const SMALL: Size = { seconds: 120, jobs: 12, targets: 8 }
export const USUAL: Size = { seconds: 600, jobs: 412, targets: 48 }

const PROGRAMS = ['cfd_solve', 'python', 'vasp_std', 'train.py', 'wrf.exe', 'bwa', 'gmx_mpi', 'nek5000']

/**
 * One sample a second with a storm in its middle fifth, a gap after it, rules that start, change and stop, and events.
 *
 * @param jobId  of the k-th job: for hostile names.
 */
export function fill(size: Size, jobId?: (k: number) => string): History {
  const history = openAt(newFile(), FROM)
  history.beginSource('LIVE', 'altair', '', FROM)
  const { seconds } = size
  const a = Math.floor(seconds * 0.2)
  const b = Math.floor(seconds * 0.52)
  const gap = [Math.floor(seconds * 0.72), Math.floor(seconds * 0.77)] as const
  const name = jobId ?? ((k: number) => `${4690 + k}.${PROGRAMS[k % 8] ?? ''}.u${500 + ((k * 37) % 90)}`)
  const facts = (id: string): { jobId: string; user: string; account: string; nodes: number } => ({
    jobId: id,
    user: `user${id.length % 7}`,
    account: 'aero',
    nodes: 38,
  })
  for (let s = 0; s < seconds; s++) {
    if (s >= gap[0] && s < gap[1]) continue
    const storm = s > a && s < b ? 1 : 0
    const wave = (k: number): number => 1 + 0.3 * Math.sin(s / 17 + k) + 0.1 * Math.sin(s * 1.7 + 3 * k)
    const jobs = Array.from({ length: size.jobs }, (_, k) => {
      const base = k === 0 ? 400 + storm * 39_000 : 9_000 / (1 + k * 0.6)
      const rpcs = base * wave(k) * (k > 0 && storm ? 0.6 : 1)
      return {
        jobId: name(k),
        rpcs,
        readBps: rpcs * 90_000,
        writeBps: rpcs * 160_000,
        mdops: rpcs / 40,
        throttled: k === 0 && s > b ? 0.61 : 0,
        record: k < 6 ? Math.round(60 * Math.sin(s / 30 + k)) : null,
      }
    })
    const targets = Array.from({ length: size.targets }, (_, k) => ({
      target: `altair-OST${k.toString(16).padStart(4, '0')}`,
      node: `oss${String((k >> 2) + 1).padStart(2, '0')}`,
      rpcs: 2_000 * wave(k),
      serviceMs: (k > 2 && k < 8 ? 76 + storm * 230 : 40) * wave(k),
      queued: (k > 2 && k < 8 ? 40 + storm * 900 : 30) * wave(k),
    }))
    const total = jobs.reduce((n, j) => n + j.rpcs, 0)
    history.record(FROM + s * 1000, jobs, targets, facts, {
      rpcs: total,
      readBps: total * 90_000,
      writeBps: total * 160_000,
      serviceMs: (60 + storm * 90) * wave(1),
      queued: (1_600 + storm * 8_000) * wave(2),
      rules: s > b ? 4 : 3,
      onLoan: 120,
      mdops: total / 40,
    })
  }
  const rule = (r: readonly [name: string, conditions: string, rate: number]) => ({
    ...({ queue: 'reg', cpt: 0, name: r[0], conditions: r[1], rate: r[2], ref: 3 } as const),
  })
  const usual = [rule(['hog4471', 'jobid={4471.*}', 63]), rule(['default', '*', 10_000])]
  for (let n = 1; n <= Math.max(1, size.targets >> 2); n++) {
    const server = `oss${String(n).padStart(2, '0')}`
    history.recordRules(FROM, server, [
      rule(['old_cap', 'jobid={1.*}', 80]),
      rule(['ckpt_4655', 'jobid={4655.*}', 200]),
      ...usual,
    ])
    history.recordRules(FROM + b * 1000, server, [
      rule(['hog4690', 'jobid={4690.*}&opcode={ost_write}', 400]),
      rule(['ckpt_4655', 'jobid={4655.*}', 250]),
      ...usual,
    ])
  }
  const event = (
    s: number,
    kind: 'alarm' | 'start' | 'job' | 'note' | 'change' | 'stop',
    subject: string,
    text: string,
    where = '',
  ): void =>
    history.recordEvent({ atMs: FROM + s * 1000, kind, level: kind === 'alarm' ? 'watch' : 'ok', subject, text, where })
  event(a - 2, 'job', 'Job', `${name(0)} started on 38 nodes`, 'slurm')
  event(
    a + 9,
    'alarm',
    'Queue',
    `queued RPCs \u00D76.0 on OST0003\u20130007, 91 % of arrivals from ${name(0)}`,
    '5 targets',
  )
  event(a + 30, 'alarm', 'Wait', 'service wait 312 ms, above 150 ms for 30 s', 'all OSS')
  event(b, 'start', 'Rule', 'hog4690 bound: ref 0 \u2192 48 on 12/12 OSS', 'mira')
  event(b + 1, 'change', 'Rule', 'ckpt_4655 rate 200 \u2192 250, verified by read-back', 'mira')
  event(b + 1, 'stop', 'Rule', 'old_cap stopped', 'mira')
  event(seconds - 20, 'note', 'Note', 'owner told to stripe wider', 'mira')
  history.settle()
  return history
}

/** Notebook with a cell of every kind; `word` is used for every text that users or servers choose. */
export function incidentOf(size: Size, word = '4690.python.u1021'): Incident {
  const of: Provenance = {
    kind: 'LIVE',
    cluster: 'altair',
    fromMs: FROM,
    toMs: FROM + size.seconds * 1000,
    tier: '1s',
    frozenMs: FROM + size.seconds * 1000 + 2_000,
  }
  const at = (s: number): number => FROM + s * 1000
  const t = Array.from({ length: size.seconds / 2 }, (_, i) => at(i * 2))
  const label = (text: string) => ({ kind: 'text', text }) as const
  const a = size.seconds * 0.2
  const b = size.seconds * 0.52
  return {
    format: 1,
    id: 'INC-0042',
    title: `Write wait \u00D74 from ${word}`,
    status: 'resolved',
    source: { kind: 'LIVE', cluster: 'altair', env: 'PROD', scenario: null, seed: null },
    author: 'mira',
    createdMs: at(30),
    changedMs: at(60),
    resolvedMs: at(size.seconds),
    fromMs: FROM,
    toMs: at(size.seconds),
    alert: { kind: 'queue', text: 'queued RPCs \u00D76.0 for 30 s', where: word, atMs: at(a) },
    cells: [
      {
        id: 'c1',
        atMs: at(40),
        kind: 'note',
        text: `Job ${word} started on 38 nodes and sent 39.6 k writes of 256 KiB per second, most to OST0003\u20130007. Wait p95 rose from 76 to 312 ms.\n\nCapped at 400 RPC/s per class for 30 minutes; owner told to stripe wider.`,
      },
      {
        id: 'c2',
        atMs: at(41),
        kind: 'chart',
        title: 'Service time',
        unit: 'ms',
        t,
        place: { kind: 'target', names: ['OST0003\u20130007'] },
        series: [
          {
            label: label('p95'),
            ink: 2,
            area: true,
            values: t.map((x) => (x > at(a) && x < at(b) ? 312 : 76) + 9 * Math.sin(x / 9e3)),
          },
          { label: label(word), ink: 4, area: false, values: t.map((x) => (x > at(a) && x < at(b) ? 96 : 17)) },
        ],
        limit: { value: 150, label: 'watch 150 ms' },
        marks: [
          { atMs: at(a - 2), text: `${word} starts`, level: 'idle' },
          { atMs: at(b), text: 'hog4690 bound, ref 48', level: 'ok' },
        ],
        of,
      },
      {
        id: 'c3',
        atMs: at(42),
        kind: 'table',
        title: 'Top movers',
        known: 412,
        of,
        columns: [
          { label: 'before', unit: 'RPC/s', signed: false },
          { label: 'after', unit: 'RPC/s', signed: false },
          { label: 'change', unit: 'RPC/s', signed: true },
        ],
        rows: [
          { name: { kind: 'job', text: word }, ink: 5, values: [400, 61_900, 61_500] },
          { name: { kind: 'job', text: '4711.cfd_solve.u884' }, ink: 1, values: [30_400, 12_100, -18_300] },
          { name: { kind: 'job', text: '4702.train.py.u1021' }, ink: 4, values: [6_900, null, null] },
        ],
      },
      {
        id: 'c4',
        atMs: at(43),
        kind: 'diff',
        title: 'Rules',
        service: 'ost_io',
        servers: 12,
        more: 0,
        of,
        lines: [
          { kind: 'add', name: 'hog4690', conditions: `jobid={${word}}&opcode={ost_write}`, before: null, after: 400 },
          { kind: 'same', name: 'hog4471', conditions: 'jobid={4471.*}', before: 63, after: 63 },
          { kind: 'del', name: 'old_cap', conditions: 'jobid={1.*}', before: 80, after: null },
          { kind: 'mod', name: 'ckpt_4655', conditions: 'jobid={4655.*}', before: 200, after: 250 },
        ],
      },
      {
        id: 'c5',
        atMs: at(44),
        kind: 'verdict',
        title: 'Sandbox B',
        seeds: 20,
        of,
        parts: [
          { text: 'Sandbox B, 20 seeds: victim p95 wait ', strong: false },
          { text: '2.1 s \u2192 0.3 s', strong: true },
          { text: '; hog ', strong: false },
          { text: '\u221262 %', strong: true },
        ],
        detail: 'Measured 4 min after commit: 0.34 s, \u221264 %.',
        unknown: ['Caches of clients are not modelled.'],
      },
      {
        id: 'c6',
        atMs: at(45),
        kind: 'transcript',
        audit: { from: 18_204, to: 18_231 },
        of,
        lines: [
          {
            atMs: at(b),
            where: 'oss01 canary',
            kind: 'intent',
            text: "lctl set_param ost.OSS.ost_io.nrs_tbf_rule=\n  'start hog4690 jobid={4690.*} rate=400'",
          },
          { atMs: at(b), where: 'oss01', kind: 'outcome', text: `exit 0 \u00B7 verified by read-back ${word}` },
          { atMs: at(b + 1), where: 'all', kind: 'outcome', text: 'timer sluice-b311 due 15:02:40' },
        ],
      },
    ],
  }
}

/** Input of the pages for a source of this size. */
export function factsOf(size: Size, incident: Incident | null = incidentOf(size)): PageFacts {
  const toMs = FROM + size.seconds * 1000
  const hash = 'a'.repeat(64)
  return {
    manifest: {
      format: 1,
      product: 'sluice',
      version: '0.1.0',
      incident: incident && { id: incident.id, title: incident.title, status: incident.status },
      source: { kind: 'LIVE', cluster: 'altair', env: 'PROD', scenario: null, seed: null, releases: [] },
      range: { fromMs: FROM, toMs },
      samples: {
        servers: size.targets >> 2,
        targets: size.targets,
        jobs: size.jobs,
        instants: size.seconds,
        tier: 'raw',
        jobsWhole: size.jobs,
      },
      missing: ['14:34:12 to 14:34:42: no samples, Sluice was not running.'],
      redaction: 'none',
      audit: { from: 18_204, to: 18_231, records: 28, anchor: hash, head: hash, chain: 'original', verified: true },
    },
    incident,
    span: { fromMs: FROM, toMs },
    rules: {
      before: 'oss01 ost_io\nckpt_4655 jobid={4655.*} 200, ref 3',
      after: 'oss01 ost_io\nhog4690 jobid={4690.*} 400, ref 3',
    },
    sealed: [{ name: 'history.qosrec', bytes: 1_900_000, sha256: hash }],
  }
}
