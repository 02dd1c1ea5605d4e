import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { randomStream } from '#core/base/random.ts'
import { jobsQuery } from '../../../tests/node/emulated-cluster.ts'
import { RPC_BYTES, timedCluster, type TimedTarget } from '../../../tests/node/timed-servers.ts'
import { SampleFeed, sampleLine, table } from '../../cli/watch.ts'
import { csvText } from '../../history/csv.ts'
import { jobFrame } from '../../host/views/jobs/job.ts'
import { jobsFrame } from '../../host/views/jobs/jobs.ts'
import { overviewFrame } from '../../host/views/overview.ts'
import { stripFrame } from '../../host/views/strip.ts'
import { DEFAULT_METADATA_SETTINGS } from '../metadata/settings.ts'
import { metadataColumn, metadataSeries } from '../metadata/state.ts'
import { jobColumn, PART_COLUMNS, TOTAL, totalColumn } from '../state/recent.ts'

const START_MS = 1_767_225_600_000
const PERIOD_MS = 1000
const TARGETS: readonly TimedTarget[] = [
  { name: 'x-OST0000', host: 'oss01', rates: { 'wide.u1': 200, 'one.u2': 150 } },
  { name: 'x-OST0001', host: 'oss02', rates: { 'wide.u1': 100, 'two.u3': 80 } },
  { name: 'x-MDT0000', host: 'mds01', rates: { 'md.u4': 120, 'wide.u1': 50 } },
]
const DATA: Readonly<Record<string, number>> = { 'wide.u1': 300, 'one.u2': 150, 'two.u3': 80 }
const METADATA: Readonly<Record<string, number>> = { 'md.u4': 120, 'wide.u1': 50 }
const ALL_METADATA = 170
const OF_TARGET: Readonly<Record<string, number>> = { 'x-OST0000': 350, 'x-OST0001': 180 }
const FULL_BYTES = 530
/** Counts are integers, and a reading is somewhere within its duration. */
const TOLERANCE = 0.12

const isRate = (v: number, truth: number): boolean => Math.abs(v - truth) <= TOLERANCE * truth + 2
const isLowerBound = (v: number, truth: number): boolean => v > 0 && v <= truth * (1 + TOLERANCE) + 2

interface Line {
  readonly t: number
  readonly partial?: boolean
  readonly missing?: readonly { readonly host: string; readonly reason: string }[]
  readonly targets: Readonly<Record<string, { readonly rate: number }>>
  readonly jobs: readonly { readonly job_id: string; readonly rate: number; readonly partial?: boolean }[]
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: START_MS })
})
afterEach(() => void vi.useRealTimers())

/** Answers of all kinds: prompt ones, late ones, some that always time out, and sessions that break. */
function delays(seed: number): (host: string) => number | null {
  const random = randomStream(seed, 'delays')
  return () => {
    const kind = random.uniform()
    const within = (from: number, to: number): number => Math.round(from + (to - from) * random.uniform())
    if (kind < 0.55) return within(10, 300)
    if (kind < 0.8) return within(300, 1500)
    if (kind < 0.96) return within(1500, 3500)
    return kind < 0.98 ? null : within(11_000, 14_000)
  }
}

interface Wrong {
  readonly where: string
  readonly at: number
  readonly value: unknown
}

describe.each([1, 2, 3])('servers that answer late, seed %i', (seed) => {
  it('leave gaps in memory, in views, in watch and in the history, and never a zero or a rate that was not', async () => {
    const c = timedCluster({
      targets: TARGETS,
      periodMs: PERIOD_MS,
      delayMs: delays(seed),
      mode: 'observe',
      controller: 'none',
      metadata: { ...DEFAULT_METADATA_SETTINGS, limits: [{ scope: 'meta_op', rate: 40 }] },
    })
    const { monitor, history } = c
    const { recent } = monitor
    const feed = new SampleFeed(200)
    const wrong: Wrong[] = []
    const lines: Line[] = []
    const texts: string[] = []
    const seen = { values: 0, gaps: 0, parts: 0 }
    const check = (where: string, at: number, v: number | null | undefined, truth: number, partial = false): void => {
      if (v === null || v === undefined || Number.isNaN(v)) {
        seen.gaps++
        return
      }
      seen.values++
      if (partial) seen.parts++
      if (!(partial ? isLowerBound : isRate)(v, truth)) wrong.push({ where, at, value: v })
    }
    const look = (): void => {
      for (const frame of feed.take(monitor)) {
        const line = JSON.parse(sampleLine(monitor, frame, [])) as Line
        lines.push(line)
        texts.push(table(monitor, frame, []))
        for (const j of line.jobs)
          if (DATA[j.job_id] !== undefined) check(`watch ${j.job_id}`, line.t, j.rate, DATA[j.job_id] ?? 0, j.partial)
        for (const [name, { rate }] of Object.entries(line.targets))
          check(`watch ${name}`, line.t, rate, OF_TARGET[name] ?? 0)
      }
      const { rows, totals } = jobsFrame(monitor, jobsQuery, 1)
      rows.jobId.forEach((id, i) => {
        const isPartial = rows.partial?.[i] === true
        if (DATA[id] !== undefined) {
          check(`jobs ${id}`, monitor.sample, rows.rpcs[i], DATA[id], isPartial)
          check(`jobs ${id} bytes`, monitor.sample, rows.writeBps[i], DATA[id] * RPC_BYTES, isPartial)
          for (const v of rows.spark[i] ?? []) check(`spark ${id}`, monitor.sample, v, DATA[id])
        }
        if (METADATA[id] !== undefined) check(`jobs ${id} metadata`, monitor.sample, rows.mdops[i], METADATA[id])
      })
      if (rows.jobId.length === 4) check('jobs total', monitor.sample, totals.rpcs, FULL_BYTES, totals.partial)
      const overview = overviewFrame(monitor, jobsQuery, 1)
      overview.targets.name.forEach((name, i) =>
        check(`overview ${name}`, monitor.sample, overview.targets.rpcs[i], OF_TARGET[name] ?? 0),
      )
      const tile = overview.tiles.find((t) => t.id === 'rpc')
      check('tile', monitor.sample, tile?.value, FULL_BYTES, tile?.partial)
      for (const v of stripFrame(monitor, jobsQuery, 1).rpcs) check('strip', monitor.sample, v, FULL_BYTES)
      if (monitor.sample === 0) return
      const one = jobFrame(monitor, { ...jobsQuery, jobId: 'wide.u1' }, 1)
      if (one.known) check('inspector', monitor.sample, one.rpcs, 300, one.partial)
      one.targets.name.forEach((name, i) =>
        check(`inspector ${name}`, monitor.sample, one.targets.rpcs[i], name === 'x-OST0000' ? 200 : 100),
      )
    }
    c.start()
    for (let i = 0; i < 700; i++) {
      await vi.advanceTimersByTimeAsync(PERIOD_MS)
      look()
    }
    await vi.advanceTimersByTimeAsync(20_000)
    const stopped = c.stop()
    await vi.advanceTimersByTimeAsync(20_000)
    await stopped
    look()

    const { raw, jobParts, partials } = recent
    for (let s = raw.totals.oldest; s <= raw.totals.newest; s++) {
      for (const [id, truth] of Object.entries(DATA)) {
        check(`memory ${id}`, s, raw.jobs.value(id, jobColumn('rpcs'), s), truth)
        check(`parts ${id}`, s, jobParts.value(id, PART_COLUMNS.indexOf('rpcs'), s), truth, true)
      }
      for (const [id, truth] of Object.entries(METADATA))
        check(`memory ${id}`, s, raw.jobs.value(id, jobColumn('mdops'), s), truth)
      for (const [name, truth] of Object.entries(OF_TARGET))
        check(`memory ${name}`, s, raw.targets.value(name, 0, s), truth)
      check('memory total', s, raw.totals.value(TOTAL, totalColumn('rpcs'), s), FULL_BYTES)
      check('memory part', s, partials.value(TOTAL, totalColumn('rpcs'), s), FULL_BYTES, true)
    }
    const { table: ofMetadata } = monitor.metadata.series
    for (let s = ofMetadata.oldest; s <= ofMetadata.newest; s++) {
      const v = ofMetadata.value(metadataSeries('', 'meta_op'), metadataColumn('measured'), s)
      check('metadata chart', s, v, ALL_METADATA)
    }
    history.flush()
    const reader = history.reader()
    const rows = [
      ...csvText(reader, { what: 'jobs', by: 'job', fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, tier: 'raw' }),
    ]
      .map((p) => p.text)
      .join('')
      .trimEnd()
      .split('\r\n')
    const head = (rows[0] ?? '').split(',')
    const cell = (row: readonly string[], name: string): number => {
      const text = row[head.indexOf(name)] ?? ''
      return text === '' ? NaN : Number(text)
    }
    for (const row of rows.slice(1).map((r) => r.split(','))) {
      const id = row[head.indexOf('job')] ?? ''
      if (DATA[id] !== undefined) check(`csv ${id}`, Date.parse(row[0] ?? ''), cell(row, 'rpcs_per_s'), DATA[id])
      if (METADATA[id] !== undefined)
        check(`csv ${id} metadata`, Date.parse(row[0] ?? ''), cell(row, 'metadata_rpcs_per_s'), METADATA[id])
    }
    // A job that a sample of the history does not name was idle: every sample has to name them all, once they are
    // known.
    for (const id of [...Object.keys(DATA), 'md.u4']) {
      const named = new Set(rows.filter((r) => r.includes(id)).map((r) => r.split(',')[0]))
      const first = Math.min(...[...named].map((t) => Date.parse(t ?? '')))
      const instants = reader.instants('raw', first, Number.MAX_SAFE_INTEGER)
      const absent = [...instants].filter((t) => !named.has(new Date(t).toISOString()))
      expect([id, absent]).toEqual([id, []])
    }

    expect(wrong.slice(0, 20)).toEqual([])
    expect(seen.values).toBeGreaterThan(2000)
    expect(seen.gaps).toBeGreaterThan(500)
    expect(seen.parts).toBeGreaterThan(50)
    // Every sample once, in order, and none is lost.
    const instants = Array.from(
      { length: raw.totals.newest - raw.totals.oldest + 1 },
      (_, k) => raw.totals.atMs(raw.totals.oldest + k) / 1000,
    )
    expect(lines.slice(-instants.length).map((l) => l.t)).toEqual(instants)
    expect(new Set(lines.map((l) => l.t)).size).toBe(lines.length)
    // No line contains data that were not read, and partial data are marked as such with a reason.
    for (const line of lines) {
      const isWhole = Object.keys(line.targets).length === 2
      if (!isWhole) expect(line).toMatchObject({ partial: true })
      if (line.partial) expect((line.missing ?? []).map((m) => m.reason).join()).not.toBe('')
      if (Object.keys(line.targets).length === 0) expect(line.jobs).toEqual([])
    }
    const gaps = texts.filter((t) => t.includes('gap: nothing was measured'))
    expect(gaps.length).toBe(lines.filter((l) => (l.missing ?? []).length === 3).length)
    for (const text of gaps) expect(text).toMatch(/missing: oss01, \S/)
    expect(texts.filter((t) => / 0 RPC\/s/.test(t))).toEqual([])
  })
})
