import { describe, expect, it } from 'vitest'
import { fail, ok } from '#core/base/result.ts'
import { cell as cellShape, type AlertKind, type Cell, type ChartCell } from '#core/snapshot/notebook.ts'
import { fixedJobColors } from '#core/series/job-colors.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import { EnforcementStore } from '../../../enforce/store.ts'
import type { History } from '../../../history/history.ts'
import { facts, job, NOW, openAt } from '#tests/kits/electron/history/samples.ts'
import type { FinishedRun } from '../../sandbox/run.ts'
import { PLANE_NAMES, planeRow, recordPlanes } from '#tests/kits/electron/incidents/plane-rows.ts'
import { firstCells, type FirstParts } from './first-cells.ts'
import { verdictCell } from './verdict.ts'
import { newCells } from './new-cell.ts'
import type { Standpoint } from './standpoint.ts'
import { around, compared } from './ranges.ts'
import { pasted, transcript } from './transcript.ts'
import { rangeOf } from './summary-text.ts'

const SECOND = 1_000
const MINUTE = 60_000
const HOSTILE = '<img src=x onerror=alert(1)>\n=cmd|"x"!A1'

const noRun = () => fail({ code: 'NO_RESULT', what: 'none' })

interface Given {
  /** Service time and queue of the targets, by instant and number. */
  readonly service?: (atMs: number, target: number) => number
  readonly queued?: (atMs: number, target: number) => number
  readonly jobs?: (atMs: number) => readonly (readonly [string, number | null])[]
  readonly isGap?: (atMs: number) => boolean
  readonly minutes?: number
}

/** Eight targets on two servers, one sample a second. */
function recorded(given: Given = {}): History {
  const history = openAt(':memory:')
  history.beginSource('EMULATED', 'altair', '', NOW)
  const { service = () => 5, queued = () => 2, jobs = () => [['1.a.u1', 10]], isGap, minutes = 10 } = given
  for (let t = 0; t < minutes * MINUTE; t += SECOND) {
    if (isGap?.(t)) continue
    history.record(
      NOW + t,
      jobs(t).map(([id, rpcs]) => job(id, rpcs)),
      Array.from({ length: 8 }, (_, i) => ({
        target: `altair-OST000${i}`,
        node: `oss${1 + (i >> 2)}`,
        rpcs: 100 + i,
        serviceMs: service(t, i),
        queued: queued(t, i),
      })),
      facts,
      { rpcs: 100, readBps: 1, writeBps: 2, serviceMs: 5, queued: 2, rules: 0, onLoan: 0, mdops: 0 },
    )
  }
  return history
}

function standpointIn(history: History, atMs: number, over: Partial<Standpoint> = {}): Standpoint {
  const reader = history.reader()
  const kept = reader.extent()
  return {
    reader,
    isExercise: true,
    monitor: undefined,
    store: undefined,
    atMs,
    jobColors: fixedJobColors(),
    source: { kind: 'EMULATED', cluster: 'altair', env: 'DEMO', scenario: null, seed: null },
    firstMs: kept?.fromMs ?? atMs,
    newestMs: kept?.toMs ?? atMs,
    nowMs: kept?.toMs ?? atMs,
    ...over,
  }
}

function opened(history: History, atMs: number, over: Partial<FirstParts> = {}) {
  const standpoint = standpointIn(history, atMs)
  const span = around(atMs, standpoint.firstMs)
  return firstCells({ standpoint, span, note: '', alert: undefined, stagedRun: noRun, ...over })
}

const whole = (cells: readonly object[]): Cell[] => cells.map((c, i) => cellShape.parse({ ...c, id: `c${i}`, atMs: 1 }))
const charts = (cells: readonly object[]): ChartCell[] => whole(cells).filter((c) => c.kind === 'chart')
const isLate = (t: number): boolean => t >= 5 * MINUTE

describe('what a new incident says', () => {
  const AT = NOW + 5.5 * MINUTE
  const hog = (t: number): [string, number][] => [
    ['4690.python.u1021', isLate(t) ? 900 : 50],
    ['4711.cfd_solve.u884', isLate(t) ? 100 : 300],
  ]

  it('names the targets that suffer, by how much, and who sends most: measured figures', () => {
    const history = recorded({ service: (t, i) => (isLate(t) && i >= 3 && i <= 6 ? 80 : 20), jobs: hog })
    const { title, cells } = opened(history, AT)
    expect(title).toBe('Service time ×4.0 on OST0003-0006, most RPCs from 4690.python.u1021')
    expect(cells.map((c) => c.kind)).toEqual(['chart', 'chart', 'table'])
    const [service, queue] = charts(cells)
    expect(service).toMatchObject({ title: 'Service time', unit: 'ms', place: { kind: 'target' }, limit: null })
    expect(service?.series.map((s) => s.label.text)).toEqual([
      ...[3, 4, 5, 6].map((i) => `altair-OST000${i}`),
      'mean of 4 others',
    ])
    expect(service?.t).toHaveLength(570)
    expect(new Set(service?.series[0]?.values)).toEqual(new Set([20, 80]))
    expect(service?.of).toEqual({
      kind: 'EMULATED',
      cluster: 'altair',
      tier: 'raw',
      frozenMs: NOW + 10 * MINUTE - SECOND,
      fromMs: NOW + 0.5 * MINUTE,
      toMs: NOW + 10 * MINUTE - SECOND + 1,
    })
    expect(queue?.title).toBe('Queued RPCs')
    const [table] = whole(cells).filter((c) => c.kind === 'table')
    expect(table).toMatchObject({ title: 'Top movers', known: 2 })
    expect(table?.rows.map((r) => [r.name.text, ...r.values])).toEqual([
      ['4690.python.u1021', 50, 900, 850],
      ['4711.cfd_solve.u884', 300, 100, -200],
    ])
    history.close()
  })

  it('says queues where they grow, jobs where only they move, and the time where nothing does', () => {
    const queues = recorded({ queued: (t, i) => (isLate(t) && i === 2 ? 400 : 10) })
    expect(opened(queues, AT).title).toBe('Queued RPCs ×40 on OST0002, most RPCs from 1.a.u1')
    const jobs = recorded({ jobs: hog })
    expect(opened(jobs, AT)).toMatchObject({
      title: '4690.python.u1021: 50.0 to 900 RPC/s',
      cells: [{ title: 'RPCs of the largest jobs' }, {}],
    })
    const quiet = recorded()
    expect(opened(quiet, AT)).toMatchObject({ title: 'Incident at 00:05', cells: [{ kind: 'chart' }] })
    for (const h of [queues, jobs, quiet]) h.close()
  })

  it('lists the lock resources, metadata jobs and token clients that changed clearly, with their unit', () => {
    const history = recorded()
    for (let t = 0; t < 10 * MINUTE; t += SECOND) {
      const lock = (name: string, conflicts: number) =>
        planeRow('lock_resources', { name, place: 'ccpfs01' }, { conflicts_per_s: conflicts, grants_per_s: 50 })
      history.recordPlane('lock_resources', NOW + t, [lock('ckpt.h5 / 3', isLate(t) ? 40 : 10), lock('mesh / 0', 5)])
      const token = planeRow(
        'token_clients',
        { name: 'cn1', place: 'node' },
        { used: isLate(t) ? 101 : 100, used_pool: 9 },
      )
      history.recordPlane('token_clients', NOW + t, [token])
    }
    history.settle()
    const tables = whole(opened(history, AT).cells).filter((c) => c.kind === 'table')
    expect(tables.map((c) => c.title)).toEqual(['Lock resources: conflicts'])
    expect(tables[0]).toMatchObject({
      known: 2,
      columns: [{ unit: '/s' }, { unit: '/s' }, { label: 'change', signed: true }],
      rows: [{ name: { kind: 'file', text: 'ckpt.h5 / 3' }, values: [10, 40, 30] }],
    })
    history.close()
  })

  it('of an alert of metadata or tokens: its own measure from the rows first', () => {
    const history = recorded()
    recordPlanes(history, NOW + 5 * MINUTE - 60 * SECOND, 120)
    history.settle()
    const ownOf = (kind: AlertKind, where: string) => {
      const alert = { kind, text: `${kind} of ${where}`, where, atMs: NOW + 5 * MINUTE } as const
      return charts(opened(history, AT, { alert: { alert, threshold: 1 } }).cells)[0]
    }
    expect(ownOf('reservation', PLANE_NAMES.client)).toMatchObject({
      title: 'Token clients: used, reservation',
      unit: 'tokens',
      place: { kind: 'host', names: [PLANE_NAMES.client] },
      series: [{ label: { text: 'used' } }, { label: { text: 'reservation' } }],
    })
    expect(ownOf('pool-empty', PLANE_NAMES.dataNode)?.title).toBe('Token pools: used, estimate, reserved')
    expect(ownOf('metadata-wait', PLANE_NAMES.job)?.series.map((s) => s.label.text)).toEqual([
      'asked',
      'served',
      'allocated',
    ])
    expect(ownOf('false-allocation', 'meta_op')?.series).toMatchObject([
      { label: { kind: 'job', text: PLANE_NAMES.job } },
    ])
    expect(ownOf('reservation', 'unknown')?.title).toBe('RPCs of the largest jobs')
    history.close()
  })

  it('has no empty cells: of a source without samples only what was written', () => {
    const history = openAt(':memory:')
    history.beginSource('EMULATED', 'altair', '', NOW)
    expect(opened(history, NOW, { note: '  ' })).toEqual({ title: 'Incident at 00:00', cells: [] })
    expect(opened(history, NOW, { note: 'gone?' }).cells).toEqual([{ kind: 'note', text: 'gone?' }])
    history.close()
  })

  it('of an alert: what it said with what was measured, and its measure with its threshold', () => {
    const history = recorded({ queued: (t, i) => (isLate(t) && i < 4 ? 400 : 30) })
    const alert = { kind: 'queue', text: 'oss1: 400 RPCs queued', where: 'oss1', atMs: NOW + 5 * MINUTE } as const
    const { title, cells } = opened(history, AT, { alert: { alert, threshold: 4 } })
    expect(title).toBe('oss1: 400 RPCs queued')
    const [note] = whole(cells)
    expect(note).toMatchObject({ kind: 'note' })
    expect(note?.kind === 'note' ? note.text.split('\n') : []).toEqual([
      'oss1: 400 RPCs queued',
      'Means of 00:00:30 to 00:05:00, then of 00:05:00 to 00:06:00 UTC: service time of OST0000-0007 5.00 to 5.00 ms; ' +
        'queued RPCs there 30.0 to 400; RPC/s of 1.a.u1 10.0 to 10.0, of all jobs 10.0 to 10.0.',
    ])
    const [own] = charts(cells)
    expect(own).toMatchObject({
      title: 'Queued RPCs',
      limit: { value: 120 },
      series: [{ label: { kind: 'host', text: 'oss1' } }],
    })
    const silent = { ...alert, kind: 'disconnect', where: 'oss2', text: 'oss2 does not answer' } as const
    const [gap] = charts(opened(history, AT, { alert: { alert: silent, threshold: 1 } }).cells)
    expect(gap?.series.map((s) => s.label.text).slice(0, 4)).toEqual([4, 5, 6, 7].map((i) => `altair-OST000${i}`))
    history.close()
  })
})

describe('a frozen chart', () => {
  it('has a gap where nothing was measured: never zero, never a line across', () => {
    const history = recorded({
      isGap: (t) => t >= 2 * MINUTE && t < 3 * MINUTE,
      jobs: (t) => [['1.a.u1', t < MINUTE ? null : 7]],
    })
    const { cells } = opened(history, NOW + 5 * MINUTE)
    const [chart] = charts(cells)
    const values = chart?.series[0]?.values ?? []
    const at = (ms: number): number | null | undefined => values[chart?.t.findIndex((t) => t >= NOW + ms) ?? -1]
    expect(at(30 * SECOND)).toBeNull()
    expect(at(90 * SECOND)).toBe(7)
    expect(at(2.5 * MINUTE)).toBe(7)
    // The gap is one empty point.
    expect(values[chart?.t.findIndex((t) => t >= NOW + 2 * MINUTE) ?? -1]).toBeNull()
    expect(values).not.toContain(0)
    history.close()
  })

  it('has at most 1,200 points and 200 events, those of what it shows first', () => {
    const history = recorded({ minutes: 45 })
    for (let i = 0; i < 300; i++) {
      const text = i < 250 ? `note ${i}` : `altair-OST0001 ${i}`
      history.recordEvent({ atMs: NOW + i, kind: 'note', level: 'idle', subject: 'Note', text, where: '' })
    }
    history.settle()
    const standpoint = standpointIn(history, NOW + 20 * MINUTE)
    const span = { fromMs: NOW, toMs: NOW + 45 * MINUTE }
    const input = { kind: 'chart', measure: 'rpcs', of: { kind: 'target', name: 'altair-OST0001' } } as const
    const made = newCells(standpoint, span, input, noRun)
    const [chart] = charts(made.ok ? made.value : [])
    expect(chart?.t.length).toBeLessThanOrEqual(1_200)
    expect(chart?.of.tier).toBe('10s')
    expect(chart?.marks).toHaveLength(200)
    expect(chart?.marks.filter((m) => m.text.includes('OST0001'))).toHaveLength(50)
    expect(chart?.marks.map((m) => m.atMs)).toEqual([...(chart?.marks ?? [])].map((m) => m.atMs).sort((a, b) => a - b))
    history.close()
  })
})

describe('exploit: names as any user can choose them', () => {
  const names = [
    HOSTILE,
    '\u202Egpj.exe',
    'x'.repeat(31),
    '__proto__',
    '\u0000\u0001\u001b[2J',
    "';--",
    '\xff\xfe'.repeat(15),
  ]

  it.each(names)('%j stays out of titles where it cannot be printed, and stands in cells as it is', (name) => {
    const late = (t: number): [string, number][] => [[name, isLate(t) ? 1_000 : 1]]
    const history = recorded({ jobs: late, service: (t) => (isLate(t) ? 90 : 10) })
    const alert = { kind: 'starvation', text: `${name} waits`, where: name, atMs: NOW + 5 * MINUTE } as const
    for (const given of [undefined, { alert, threshold: 10 }]) {
      const { title, cells } = opened(history, NOW + 5.5 * MINUTE, { alert: given })

      expect(title).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
      expect(title.length).toBeLessThanOrEqual(200)
      const table = whole(cells).find((c) => c.kind === 'table')
      expect(table?.kind === 'table' ? table.rows[0]?.name.text : '').toBe(name)
      const note = whole(cells).find((c) => c.kind === 'note')

      if (note?.kind === 'note') expect(note.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    }
    const standpoint = standpointIn(history, NOW + 5.5 * MINUTE)
    const input = { kind: 'chart', measure: 'rpcs', of: { kind: 'job', name } } as const
    const made = newCells(standpoint, around(standpoint.atMs, NOW), input, noRun)
    expect(charts(made.ok ? made.value : [])[0]?.series[0]?.label.text).toBe(name)
    history.close()
  })
})

describe('rules of a stretch', () => {
  const line = (name: string, conditions: string, rate: number) =>
    ({ queue: 'reg', cpt: 0, name, conditions, rate, ref: 0 }) as const
  const lines = (all: readonly (readonly [string, string, number])[]) => all.map((r) => line(...r))

  it('stand beside each other, in match order, by what they match where they are ours', () => {
    const history = recorded({ minutes: 0.1 })
    const was = lines([
      ['ckpt', 'jobid={4655.*}', 200],
      ['ab_ff47969307', 'jobid={1.a.u1}', 10],
      ['old', 'jobid={old}', 5],
      ['default', '*', 10_000],
    ])
    const is = lines([
      ['hog', 'jobid={4690.*}', 400],
      ['ckpt', 'jobid={4655.*}', 250],
      ['ab_c5bddfe6ae', 'jobid={1.a.u1}', 10],
      ['default', '*', 10_000],
    ])
    for (const server of ['oss1', 'oss2']) {
      history.recordRules(NOW, server, was)
      history.recordRules(NOW + 3 * SECOND, server, is)
    }
    history.recordRules(NOW, 'mds1', lines([['default', '*', 10_000]]))
    const standpoint = standpointIn(history, NOW + 4 * SECOND)
    const { cells } = firstCells({
      standpoint,
      span: around(standpoint.atMs, standpoint.firstMs),
      note: '',
      alert: undefined,
      stagedRun: noRun,
    })
    const found = whole(cells).filter((c) => c.kind === 'diff')
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ service: 'ost_io', servers: 2, more: 0 })
    expect(found[0]?.lines.map((l) => [l.kind, l.name, l.before, l.after])).toEqual([
      ['add', 'hog', null, 400],
      ['mod', 'ckpt', 200, 250],
      ['same', 'ab_c5bddfe6ae', 10, 10],
      ['del', 'old', 5, null],
      ['same', 'default', 10_000, 10_000],
    ])
    history.close()
  })
})

describe('the sandbox', () => {
  const at = NOW + 3 * SECOND
  const result = {
    id: 'r',
    title: 'Fork of altair',
    seconds: 60,
    seeds: [1, 2, 3],
    sloWaitMs: 500,
    variants: [],
    jobs: { jobId: [], user: [], nodes: [], colour: [], role: [] },
    verdict: {
      best: 1,
      parts: [
        { text: `victim ${HOSTILE} `, strong: false },
        { text: '2.1 s', strong: true },
      ],
      detail: 'sure',
    },
    cost: { runs: 3, workers: 1, wallS: 1, ratio: 60, events: 9, thinning: 1 },
    knowledge: [
      { level: 'unknown', text: 'the network' },
      { level: 'ok', text: 'the disks' },
    ],
  } satisfies FinishedRun['result']
  const HOUR = 3_600_000
  const run = (over: Partial<FinishedRun>): FinishedRun => ({
    result,
    cluster: 'altair',
    forkMs: at,
    endedMs: 0,
    staged: { cluster: 'altair', atMs: at },
    ...over,
  })

  it.each([
    ['a variant that was staged in the range', run({}), true],
    ['a fork of the range of which nothing was staged', run({ staged: undefined }), false],
    ['one staged before the range', run({ staged: { cluster: 'altair', atMs: NOW - HOUR } }), false],
    ['one staged on another cluster', run({ staged: { cluster: 'mira', atMs: at } }), false],
  ])('%s', (_, kept, isThere) => {
    const history = recorded({ minutes: 0.1 })
    const { cells } = opened(history, at, { stagedRun: () => ok(kept) })
    const found = whole(cells).filter((c) => c.kind === 'verdict')
    expect(found).toHaveLength(isThere ? 1 : 0)
    if (isThere) {
      const parts = [
        { text: `victim ${HOSTILE} `, strong: false },
        { text: '2.1 s', strong: true },
      ]
      expect(found[0]).toMatchObject({
        title: 'Fork of altair',
        seeds: 3,
        unknown: ['the network'],
        parts,
        detail: 'sure',
      })
    }
    history.close()
  })
})

describe('a verdict in a notebook', () => {
  it('names its jobs by their whole ids, and leaves figures alone', () => {
    const victim = '4711.cfd_solve.u884'
    const run: FinishedRun = {
      result: {
        id: 'r',
        title: 'Fork',
        seconds: 60,
        seeds: [1, 2, 3],
        sloWaitMs: 500,
        variants: [],
        jobs: { jobId: ['57.hog.u1', victim], user: [], nodes: [], colour: [], role: ['hog', 'victim'] },
        verdict: {
          best: 1,
          parts: [
            { text: 'Victim ', strong: false },
            { text: '4711', strong: true },
            { text: ' p95 wait 57 ms \u2192 4711 ms; hog ', strong: false },
            { text: '57 \u221257 %', strong: true },
          ],
          detail: '57 seeds. B beats the baseline on fairness in 57 of 57 runs.',
        },
        cost: { runs: 3, workers: 1, wallS: 1, ratio: 60, events: 9, thinning: 1 },
        knowledge: [],
      },
      cluster: 'altair',
      forkMs: NOW,
      endedMs: 0,
    }
    const history = recorded({ minutes: 0.1 })
    const standpoint = standpointIn(history, NOW)
    const cell = verdictCell(standpoint, around(NOW, NOW), run)
    expect(cell.parts.map((p) => p.text).join('')).toBe(
      `Victim ${victim} p95 wait 57 ms \u2192 4711 ms; hog 57.hog.u1 \u221257 %`,
    )
    expect(cell.detail).toBe(run.result.verdict.detail)
    history.close()
  })
})

describe('what was sent to live servers', () => {
  it('is of this cluster and this stretch, choices of operators first where there is too much', () => {
    const history = recorded({ minutes: 0.1 })
    const opening = EnforcementStore.open(':memory:', NOW)
    if (!opening.ok) throw new Error(opening.error.what)
    const store = opening.value
    const managed = store.audit({ cluster: 'altair', who: 'mira' })
    const theirs = store.audit({ cluster: 'other', who: 'mira' })
    managed.write(NOW - 10, '', 'mode', 'before')
    managed.write(NOW + 1, '', 'mode', 'enforce')
    for (let i = 0; i < 700; i++) {
      managed.write(NOW + 10 + i, 'oss1', 'intent', `lctl set_param x=${i} '${HOSTILE}'`)
      theirs.write(NOW + 10 + i, 'oss9', 'intent', 'not ours')
    }
    managed.write(NOW + 60 * MINUTE, 'oss1', 'intent', 'after')
    const monitor = { source: { kind: 'LIVE', cluster: 'altair' } } as ClusterMonitor
    const standpoint = standpointIn(history, NOW + 710, { store, monitor })
    const made = transcript(standpoint, { fromMs: NOW, toMs: NOW + 30 * MINUTE }, 100)
    expect(made?.lines).toHaveLength(100)
    expect(made?.lines[0]).toEqual({ atMs: NOW + 1, where: '', kind: 'mode', text: 'enforce' })
    expect(made?.lines.at(-1)?.text).toBe(`lctl set_param x=699 '${HOSTILE}'`)
    expect(made?.lines.some((l) => l.where === 'oss9')).toBe(false)
    expect(made?.audit).toEqual({ from: 2, to: 1401 })
    expect(transcript(standpoint, { fromMs: NOW - 9, toMs: NOW })).toBeUndefined()
    store.close()
    history.close()
  })

  it('pasted lines are kept as they are, and are bounded', () => {
    const history = recorded({ minutes: 0.1 })
    const standpoint = standpointIn(history, NOW + SECOND)
    const span = { fromMs: NOW, toMs: NOW + 1 }
    const text = `lctl get_param x\r\n\n  indented ${'y'.repeat(9_000)}\n${'z\n'.repeat(600)}`
    const made = pasted(standpoint, span, text)
    expect(made?.lines).toHaveLength(500)
    expect(made?.lines.slice(0, 2).map((l) => [l.kind, l.text.length])).toEqual([
      ['pasted', 16],
      ['pasted', 8_192],
    ])
    expect(made?.lines[1]?.text.startsWith('  indented')).toBe(true)
    expect(pasted(standpoint, span, ' \n\n')).toBeUndefined()
    history.close()
  })
})

describe('stretches', () => {
  it('reach five minutes to both sides, not before what is kept, and end with what is recorded', () => {
    expect(around(1_000_000, 0)).toEqual({ fromMs: 700_000, toMs: 1_300_000 })
    expect(around(1_000_000, 900_000)).toEqual({ fromMs: 900_000, toMs: 1_300_000 })
    expect(around(1_000_000, 900_000, 1_100_000)).toEqual({ fromMs: 900_000, toMs: 1_100_001 })
  })

  it('compare the minute around the cursor with what comes before it', () => {
    expect(compared(600_000, { fromMs: 300_000, toMs: 900_000 }, 900_000)).toEqual({
      a: { fromMs: 300_000, toMs: 570_000 },
      b: { fromMs: 570_000, toMs: 630_000 },
    })
    // At the newest sample the range ends with it; of a short one a third is compared.
    expect(compared(600_000, { fromMs: 300_000, toMs: 900_000 }, 600_000)?.b).toEqual({
      fromMs: 540_001,
      toMs: 600_001,
    })
    expect(compared(9_000, { fromMs: 0, toMs: 300_000 }, 8_999)?.b).toEqual({ fromMs: 6_000, toMs: 9_000 })
    expect(compared(0, { fromMs: 0, toMs: 300_000 }, 1)).toBeUndefined()
  })

  it('targets are named as a range, a few, or how many', () => {
    expect(rangeOf(['a-OST0003', 'a-OST0004', 'a-OST0005'])).toBe('OST0003-0005')
    expect(rangeOf(['a-OST000a', 'a-OST0003'])).toBe('OST0003, 000a')
    expect(rangeOf(['a-OST0001', 'a-OST0003', 'a-OST0005', 'a-OST0007'])).toBe('4 OSTs')
    expect(rangeOf(['a-MDT0000'])).toBe('MDT0000')
    expect(rangeOf([HOSTILE])).toBe('one target')
    expect(rangeOf(['x', 'y'])).toBe('2 targets')
  })
})
