// Rows of metadata QoS: of documents that are checked by hand, of stages in the emulator, and of metadata servers.
import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { parseScenario } from '#core/emulator/scenario.ts'
import type { PadllStatus } from '#core/padll/status.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { PlaneRow } from '#core/series/plane-tables.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { EventLog } from '../state/event-log.ts'
import type { ClusterMonitor } from '../monitor.ts'
import type { MetadataLoop } from './loop.ts'
import { MetadataCollector } from './metadata-rows.ts'
import { PadllReader } from './padll-reader.ts'
import { MetadataSeries } from './series.ts'
import { DEFAULT_METADATA_SETTINGS } from './settings.ts'
import { stagedHost } from '#tests/node/staged-host.ts'
import { emulatedCluster } from '#tests/node/emulated-cluster.ts'
import { printed, lost } from '#tests/kits/electron/answers.ts'
import { KeptRows, valuesOf } from '#tests/kits/electron/cluster/kept-rows.ts'

const T0 = 1_767_225_600_000

type Job = PadllStatus['jobs'][number]

const jobOf = (job: string, more: Partial<Job>): Job => ({
  job,
  scope: 'meta_op',
  stages: 1,
  demand: null,
  limit: null,
  asked: 0,
  measured: 0,
  allocated: 100,
  queued: 0,
  throttledS: 0,
  ...more,
})

const status = (cycle: number, jobs: readonly Job[], more: Partial<PadllStatus> = {}): PadllStatus => ({
  version: 1,
  controller: 'qos01',
  epoch: 1,
  atMs: T0,
  startedMs: T0,
  cycle,
  cycleMs: 1,
  algorithm: 'psfa',
  epsilon: 0.25,
  split: 'equal',
  intervalMs: 1000,
  collectRounds: 1,
  lease: { seconds: 30, onExpiry: 'hold' },
  limits: [{ scope: 'meta_op', rate: 200 }],
  jobs: [...jobs],
  locals: [],
  policies: { text: '', startedMs: T0, steps: [] },
  events: [],
  failures: [],
  ...more,
})

/** Rows of a monitor's own collectors, observed on their way to the history. */
function observed({ history }: ClusterMonitor): KeptRows {
  const kept = new KeptRows()
  const record = history.recordPlane.bind(history)
  history.recordPlane = (...args) => {
    kept.recordPlane(...args)
    record(...args)
  }
  return kept
}

/** Controller whose documents are given by second, and no metadata servers. */
function scripted(documentAt: (second: number) => PadllStatus | undefined) {
  let second = 0
  const node: NodeConnection = {
    host: 'qos01',
    roles: ['controller'],
    exec: async () => {
      const document = documentAt(second)
      return document ? printed(JSON.stringify(document)) : lost('timed out')
    },
  }
  const padll = new PadllReader(node, new EventLog())
  const kept = new KeptRows()
  const loop: Pick<MetadataLoop, 'series' | 'settings'> = {
    series: new MetadataSeries(1),
    settings: DEFAULT_METADATA_SETTINGS,
  }
  const collector = new MetadataCollector(loop, padll, kept)
  return {
    kept,
    /** Takes a sample every so many ms, to a second. */
    async run(toSecond: number, everyMs = 100): Promise<void> {
      for (let ms = everyMs; ms <= toSecond * 1000; ms += everyMs) {
        second = ms / 1000
        await padll.refresh((ms * NS_PER_S) / 1000, T0 + ms)
        collector.look((ms * NS_PER_S) / 1000, T0 + ms)
      }
    },
  }
}

const COLUMNS = ['served_per_s', 'asked_per_s', 'allocated_per_s', 'limit_per_s', 'queued', 'waited_s_per_s']
const of =
  (job: string) =>
  (r: PlaneRow): boolean =>
    r.jobId === job
/** Second at which the periods of a table begin. */
const secondsOf = (kept: KeptRows, table: 'metadata_jobs' | 'metadata_channels'): number[] =>
  kept.times(table).map((ms) => Math.floor((ms - T0) / 1000))

describe('rows of stages', () => {
  it('are the operations since the last document, and the unused rate of each job while another waits', async () => {
    const c = scripted((s) => {
      const n = Math.floor(s)
      return status(n, [
        jobOf('a', { queued: 50, askedTotal: 130 * n, servedTotal: 100 * n, throttledS: 2 * n }),
        jobOf('b', { askedTotal: 30 * n, servedTotal: 30 * n }),
      ])
    })
    await c.run(4)
    const rows = c.kept.rows('metadata_jobs', of('a'))
    expect(rows.length).toBeGreaterThanOrEqual(2)
    expect(rows.every((r) => r.name === 'meta_op' && r.place === 'stages')).toBe(true)
    expect(valuesOf('metadata_jobs', COLUMNS, rows.at(-1))).toEqual([100, 130, 100, 200, 50, 2])
    const last = c.kept.rows('metadata_jobs', of('b')).at(-1)
    expect(valuesOf('metadata_jobs', [...COLUMNS, 'false_allocation_per_s'], last)).toEqual([
      30, 30, 100, 200, 0, 0, 70,
    ])
    // A job that waits alone holds nothing that another one lacks.
    expect(valuesOf('metadata_jobs', ['false_allocation_per_s', 'epoch'], rows.at(-1))).toEqual([0, 1])
  })

  it('count the operations of a job that came back once, from the totals it had when it left', async () => {
    const c = scripted((s) => {
      const n = Math.floor(s)
      const isAway = n >= 3 && n < 6
      return status(n, isAway ? [] : [jobOf('a', { askedTotal: 10 * n, servedTotal: 10 * n, throttledS: 0 })])
    })
    await c.run(9)
    const served = c.kept.rows('metadata_jobs', of('a')).map((r) => valuesOf('metadata_jobs', ['served_per_s'], r)[0])
    expect(Math.max(...served.map((v) => v ?? 0))).toBe(40)
    expect(served.filter((v) => v === 10).length).toBeGreaterThanOrEqual(3)
  })

  it('of a controller without totals are the rates of its cycle, each cycle once', async () => {
    const c = scripted((s) => status(Math.floor(s / 2), [jobOf('a', { asked: 7, measured: 5 })]))
    await c.run(9)
    const rows = c.kept.rows('metadata_jobs', of('a'))
    expect(rows.length).toBeLessThanOrEqual(4)
    expect(rows.map((r) => valuesOf('metadata_jobs', ['served_per_s', 'asked_per_s'], r))).toEqual(
      rows.map(() => [5, 7]),
    )
  })

  it('begin again with a restarted controller, and leave out the time in which it did not answer', async () => {
    const c = scripted((s) => {
      if (s >= 3 && s < 6) return undefined
      if (s >= 8)
        return status(Math.floor(s), [jobOf('a', { servedTotal: 10, askedTotal: 10 })], { startedMs: T0 + 8000 })
      return status(Math.floor(s), [jobOf('a', { servedTotal: 100 * Math.floor(s), askedTotal: 100 * Math.floor(s) })])
    })
    await c.run(10)
    const served = c.kept.rows('metadata_jobs', of('a')).map((r) => valuesOf('metadata_jobs', ['served_per_s'], r)[0])
    // No row covers the silence, none is negative, and none counts the operations of the silence as those of a second.
    expect(Math.max(...served.map((n) => n ?? NaN))).toBe(100)
    expect(served).toContain(10)
    expect(served.every((n) => (n ?? -1) >= 0)).toBe(true)
  })

  it('have a row per channel: its rate, and no wait where nothing was served', async () => {
    const channel = { channel: 1000, object: 1, scope: 'open', limit: null, refillMs: null, queued: 2 }
    const c = scripted((s) =>
      status(Math.floor(s), [], {
        locals: [
          {
            id: 'cn01',
            hostname: 'cn01',
            state: 'ok',
            lastSeenMs: T0,
            stages: [
              {
                key: '7',
                job: 'a',
                instance: 0,
                hostname: 'cn01',
                pid: 1,
                user: 'u',
                state: 'ok',
                channels: [
                  { ...channel, arrived: 9, served: 8, waited: 0.5, waitMs: 3 },
                  { ...channel, object: 2, limit: 40, arrived: 0, served: 0, waited: 0, waitMs: 0 },
                ],
              },
            ],
          },
          { id: 'gone', hostname: 'gone', state: 'lost', lastSeenMs: T0, stages: [] },
        ],
      }),
    )
    await c.run(4)
    const rows = c.kept.periods.findLast((p) => p.table === 'metadata_channels')?.rows ?? []
    expect(rows.map((r) => [r.name, r.place, r.jobId])).toEqual([
      ['1000.1 open', 'cn01 7', 'a'],
      ['1000.2 open', 'cn01 7', 'a'],
    ])
    const columns = ['served_per_s', 'asked_per_s', 'limit_per_s', 'queued', 'waited_share', 'wait_mean_ms', 'epoch']
    expect(valuesOf('metadata_channels', columns, rows[0])).toEqual([8, 9, NaN, 2, 0.5, 3, 1])
    expect(valuesOf('metadata_channels', columns, rows[1])).toEqual([0, 0, 40, 2, NaN, NaN, 1])
  })

  it('sum to the totals of the controller at any pace of reading', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(100, 300, 700, 1000, 2300, 5000),
        fc.array(fc.nat(500), { minLength: 30, maxLength: 30 }),
        async (everyMs, operations) => {
          // Operations of each cycle; a document has those of the cycles before.
          const totalAt = (s: number): number => operations.slice(0, Math.floor(s)).reduce((a, b) => a + b, 0)
          const read: number[] = []
          const c = scripted((s) => {
            read.push(s)
            return status(Math.floor(s), [jobOf('a', { servedTotal: totalAt(s), askedTotal: totalAt(s) })])
          })
          await c.run(30, everyMs)
          const times = c.kept.periods.filter((p) => p.rows.length > 0)
          const served = times.map((p) => valuesOf('metadata_jobs', ['served_per_s'], p.rows[0])[0] ?? NaN)
          // Documents that differ from the one before bound the rows.
          const borders = read.filter((s, i) => i === 0 || Math.floor(s) > Math.floor(read[i - 1] ?? 0))
          const first = borders[0] ?? 0
          const sum = served.reduce((n, v, i) => n + v * ((borders[i + 1] ?? NaN) - (borders[i] ?? NaN)), 0)
          expect(sum).toBeCloseTo(totalAt(borders[served.length] ?? NaN) - totalAt(first), 6)
          expect(served.length).toBeGreaterThanOrEqual(borders.length - 2)
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('rows of stages in the emulator', () => {
  it('sum to the operations that the controller counted, and the waits, with the limit of the scope', async () => {
    const c = await stagedHost({
      jobs: [
        { id: 'a', rate: 60 },
        { id: 'b', clients: [3], rate: 10, start_s: 5 },
      ],
      padll: { policies: '1 0 demand a meta_op 120\n2 0 demand b meta_op 80\n' },
    })
    const kept = observed(c.host.monitor)
    await c.run(20)
    const { documents } = c.host.monitor.padll ?? {}
    const jobs = new Map(documents?.newest?.status.jobs.map((j) => [j.job, j]))
    // The first document begins the rows.
    const first = new Map(documents?.at(T0 + 1000)?.status.jobs.map((j) => [j.job, j]))
    await c.host.close()
    for (const job of ['a', 'b']) {
      const sum = (column: string): number => kept.sum('metadata_jobs', column, of(job))
      const [last, begin] = [jobs.get(job), first.get(job)]
      expect(last?.servedTotal).toBeGreaterThan(100)
      expect(sum('served_per_s')).toBeCloseTo((last?.servedTotal ?? NaN) - (begin?.servedTotal ?? 0), 6)
      expect(sum('asked_per_s')).toBeCloseTo((last?.askedTotal ?? NaN) - (begin?.askedTotal ?? 0), 6)
      expect(sum('waited_s_per_s')).toBeCloseTo((last?.throttledS ?? NaN) - (begin?.throttledS ?? 0), 6)
    }
    const row = kept.rows('metadata_jobs', of('a')).at(-1)
    expect(valuesOf('metadata_jobs', ['limit_per_s', 'stages', 'epoch'], row)).toEqual([200, 2, 1])
    expect(new Set(kept.times('metadata_jobs')).size).toBe(kept.times('metadata_jobs').length)
    expect(kept.rows('metadata_channels').every((r) => r.jobId === 'a' || r.jobId === 'b')).toBe(true)
  })
})

/** One metadata server and jobs at constant rates. */
function metadataServer(control: object) {
  const read = parseScenario(
    JSON.stringify({
      title: 'Metadata server',
      cluster: 'meta',
      clients: { count: 4, max_rpcs_in_flight: 64 },
      oss: [{ name: 'oss01', osts: [{ name: 'meta-OST0000', disk: { bandwidth_mb_s: 1000 } }] }],
      mds: [
        {
          name: 'mds01',
          policy: 'tbf jobid+opcode',
          version: '2.17.57',
          cpts: 1,
          mdts: [{ name: 'meta-MDT0000', per_op_us: 100, channels: 16 }],
        },
      ],
      control: { max_rate: 500, controller: 'none', mode: 'enforce', metadata: control },
      jobs: [
        { id: 'a', clients: [1, 2], processes: 8, op: 'open', pattern: { kind: 'continuous' } },
        { id: 'b', clients: [3], processes: 1, op: 'open', pattern: { kind: 'poisson', rate: 5 } },
      ],
    }),
  )
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return emulatedCluster(read.value)
}

describe('rows of metadata servers', () => {
  it('count every operation once, whenever they are taken, and no time in which nothing was measured', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ opens: fc.nat(100), isMeasured: fc.boolean(), isTaken: fc.boolean() }), { minLength: 1 }),
        (samples) => {
          const series = new MetadataSeries(1)
          const settings = { ...DEFAULT_METADATA_SETTINGS, limits: [{ scope: 'open' as const, rate: 10 }] }
          const taken: ReturnType<MetadataSeries['takePeriod']>[] = []
          samples.forEach(({ opens, isMeasured, isTaken }, i) => {
            const jobs = isMeasured ? new Map([['a', [new Map([['open', opens]])]]]) : undefined
            series.push(T0 + i * 100, jobs, [], settings, 0.1)
            if (isTaken) taken.push(series.takePeriod())
          })
          taken.push(series.takePeriod())
          const measured = samples.filter((s) => s.isMeasured)
          const counts = taken.flatMap((p) => p.counts)
          expect(counts.reduce((n, c) => n + c.operations, 0)).toBe(measured.reduce((n, s) => n + s.opens, 0))
          expect(taken.reduce((n, p) => n + p.seconds, 0)).toBeCloseTo(measured.length / 10)
          expect(taken.every((p) => p.seconds > 0 || p.counts.length === 0)).toBe(true)
        },
      ),
    )
  })

  it('sum to the operations that were counted, and have the allocation, the limit and the rules of each job', async () => {
    const c = metadataServer({ algorithm: 'static', policies: '1 0 job a open 100\n2 0 job b open 50\n' })
    const kept = observed(c.monitor)
    await c.run(10)
    const rows = kept.rows('metadata_jobs', of('a'))
    expect(rows.every((r) => r.place === 'mds' && r.name === 'open')).toBe(true)
    expect(secondsOf(kept, 'metadata_jobs')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    const columns = ['allocated_per_s', 'stages', 'asked_per_s', 'queued']
    expect(valuesOf('metadata_jobs', columns, rows.at(-1))).toEqual([100, 1, NaN, NaN])
    // b uses less than it was given while a runs at its rate.
    const unused = kept.sum('metadata_jobs', 'false_allocation_per_s', of('b'))
    expect(unused).toBeGreaterThan(100)
    expect(kept.sum('metadata_jobs', 'false_allocation_per_s', of('a'))).toBeLessThan(unused)
    expect(kept.sum('metadata_jobs', 'served_per_s', of('a'))).toBeGreaterThan(700)
  })
})
