import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJobStats } from '../lustre/job-stats.ts'
import { profile } from '../lustre/profile.ts'
import type { EmulatedCluster } from './cluster.ts'
import { JobStatsTable, type JobStatsOptions } from './job-stats-table.ts'
import { clusterOf, rule, served } from '#tests/kits/core/emulator/small-cluster.ts'

const exec = (c: EmulatedCluster, command: string): string => {
  const r = c.node('oss01')!.exec(command)
  if (r.code !== 0) throw new Error(`${command}: ${r.stderr}`)
  return r.stdout
}

/** Operations and bytes of a job, summed over the job_stats of all targets. */
function countedOf(c: EmulatedCluster, jobId: string): { rpcs: number; bytes: number } {
  let rpcs = 0
  let bytes = 0
  for (const ost of c.osts) {
    const { entries, skipped } = parseJobStats(ost.jobStats.read())
    expect(skipped).toEqual([])
    for (const e of entries.filter((x) => x.jobId === jobId)) {
      for (const op of ['read', 'write']) {
        rpcs += e.counters.get(op)?.samples ?? 0
        bytes += e.counters.get(`${op}_bytes`)?.sum ?? 0
        expect(e.counters.get(`${op}_bytes`)?.samples).toBe(e.counters.get(op)?.samples)
      }
    }
  }
  return { rpcs, bytes }
}

const mixed = [
  '{ id: 1.a.u0, clients: [1, 2], processes: 6, outstanding: 2, op: write, size_kib: 1024, pattern: { kind: continuous } }',
  '{ id: 2.b.u0, clients: [2, 3], processes: 3, op: read, size_kib: 64, pattern: { kind: bursts, rpcs: 40, every_s: 0.3, jitter: 0.5 } }',
  '{ id: 3.c.u0, clients: [4], processes: 2, op: read, size_kib: 4, pattern: { kind: poisson, rate: 150 } }',
]

describe('an emulated cluster', () => {
  it('is the same to the byte for the same seed, in one run or in many pieces, and another one for another seed', () => {
    const bytes = (seed: number, pieces: number): string => {
      const c = clusterOf(mixed, { seed })
      rule(c, 'start a jobid={1.*} rate=300')
      for (let i = 1; i <= pieces; i++) while (!c.sim.runUntil(Math.round((3e9 * i) / pieces), 100));
      return exec(c, "lctl get_param 'obdfilter.*.job_stats' 'ost.OSS.ost_io.nrs_{policies,tbf_rule}'")
    }
    const once = bytes(1, 1)
    expect(once).toContain('- job_id:          3.c.u0')
    expect(bytes(1, 1)).toBe(once)
    expect(bytes(1, 37)).toBe(once)
    expect(bytes(2, 1)).not.toBe(once)
  })

  it('is deterministic with metadata, caches and a mount on a server, too', () => {
    const jobs = [
      ...mixed,
      '{ id: 4.d, clients: [1, 5], processes: 5, op: [create, write, close], size_kib: 16, pattern: { kind: poisson, rate: 80 } }',
      '{ id: 5.e, clients: [3, 4, 5], processes: 3, op: write, size_kib: 64, cached: true, shared: f, targets: [t-OST0000], pattern: { kind: continuous } }',
    ]
    const trace = (seed: number, pieces: number): string => {
      const c = clusterOf(jobs, {
        seed,
        clients: '{ count: 4, mounted_on: [oss01] }',
        oss: 'cpts: 2',
        mds: '{ name: mds01, cpts: 2, mdts: [{ name: t-MDT0000 }, { name: t-MDT0001 }] }',
      })
      rule(c, 'start a jobid={1.* 5.*} rate=300', 'start b jobid={4.d} rate=30 realtime=1')
      for (let i = 1; i <= pieces; i++) while (!c.sim.runUntil(Math.round((2e9 * i) / pieces), 100));
      const tables = [...c.osts, ...c.mds[0]!.mdts].map((t) => t.jobStats.read())
      return [c.sim.executed, ...c.jobs.map((j) => `${j.servedRpcs} ${j.waits.mean}`), ...tables].join('\n')
    }
    const once = trace(1, 1)
    expect(once).toContain('- job_id:          5.e')
    expect(trace(1, 1)).toBe(once)
    expect(trace(1, 23)).toBe(once)
    expect(trace(2, 1)).not.toBe(once)
  })

  it('serves every RPC exactly once, and job_stats counts what the jobs saw, whatever policies and rules do meanwhile', () => {
    const kinds = ['kind: continuous', 'kind: bursts, rpcs: 30, every_s: 0.2, jitter: 0.5', 'kind: poisson, rate: 200']
    const job = fc.record({
      processes: fc.integer({ min: 1, max: 9 }),
      outstanding: fc.integer({ min: 1, max: 4 }),
      total: fc.integer({ min: 1, max: 120 }),
      op: fc.constantFrom('read', 'write'),
      kib: fc.constantFrom(4, 64, 1024),
      kind: fc.constantFrom(...kinds),
    })
    const command = fc.constantFrom(
      'nrs_policies=fifo',
      "nrs_policies='tbf jobid'",
      "nrs_policies='tbf nid'",
      "nrs_policies='tbf jobid+nid'",
      "nrs_tbf_rule='start r jobid={0.j *.x} rate=40'",
      "nrs_tbf_rule='start n nid={*@tcp} rate=60'",
      "nrs_tbf_rule='change r rate=90'",
      "nrs_tbf_rule='stop r'",
    )
    fc.assert(
      fc.property(
        fc.array(job, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.nat(400), command), { maxLength: 12 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 4 }),
        (jobs, commands, cpts, threads) => {
          const c = clusterOf(
            jobs.map(
              (j, i) =>
                `{ id: ${i}.j, clients: [${1 + (i % 4)}, ${1 + ((i + 1) % 4)}], processes: ${j.processes}, outstanding: ${j.outstanding}, ` +
                `op: ${j.op}, size_kib: ${j.kib}, total_rpcs: ${j.total}, pattern: { ${j.kind} } }`,
            ),
            { oss: `cpts: ${cpts}\n    threads: ${threads}` },
          )
          for (const [ms, text] of commands.sort(([a], [b]) => a - b)) {
            c.sim.runUntil(Math.max(c.sim.now, ms * 1e6))
            c.node('oss01')!.exec(`lctl set_param ost.OSS.ost_io.${text}`)
            for (const [i, j] of jobs.entries()) expect(served(c, `${i}.j`)).toBeLessThanOrEqual(j.total)
          }
          // Long enough for 120 RPCs under the slowest rule.
          c.sim.runUntil(60e9)
          for (const [i, j] of jobs.entries()) {
            expect(served(c, `${i}.j`)).toBe(j.total)
            expect(countedOf(c, `${i}.j`)).toEqual({ rpcs: j.total, bytes: j.total * j.kib * 1024 })
            expect(c.jobs[i]!.finishedNs).toBeDefined()
          }
          expect(c.oss[0]!.service.queued).toBe(0)
          for (const ost of c.osts) expect([ost.disk.station.queued, ost.disk.station.busy]).toEqual([0, 0])
        },
      ),
      { numRuns: 60 },
    )
  })

  it('has as many RPCs in flight as its processes keep, no more and no fewer', () => {
    const c = clusterOf([mixed[0]!])
    rule(c, 'start a jobid={1.*} rate=50')
    c.sim.runUntil(5e9)
    // 12 in flight: all but the 1 or 2 on the wire or the disk wait in the scheduler; each client has 8 slots.
    expect(c.oss[0]!.service.queued).toBeGreaterThanOrEqual(10)
    expect(c.oss[0]!.service.queued).toBeLessThanOrEqual(12)
    expect(c.jobs[0]!.waits.count).toBe(served(c, '1.a.u0'))
  })

  it.each([20, 100, 400])('holds a job that wants more at a rate of %i, within 5 percent, over 10 s', (rate) => {
    const c = clusterOf([
      '{ id: 1.hog.u0, clients: [1], processes: 32, op: write, size_kib: 64, pattern: { kind: continuous } }',
      '{ id: 2.free.u0, clients: [2], processes: 2, op: write, size_kib: 64, pattern: { kind: continuous } }',
    ])
    rule(c, `start h jobid={1.hog.u0} rate=${rate}`)
    c.sim.runUntil(1e9)
    const hog = served(c, '1.hog.u0')
    const free = served(c, '2.free.u0')
    c.sim.runUntil(11e9)
    expect(Math.abs((served(c, '1.hog.u0') - hog) / 10 / rate - 1)).toBeLessThan(0.05)
    // The other job is not delayed by it.
    expect((served(c, '2.free.u0') - free) / 10).toBeGreaterThan(1000)
  })

  it('gives a job the whole rate on every CPT that its clients reach', () => {
    const rateWith = (clients: string): number => {
      const c = clusterOf(
        [`{ id: 1.a.u0, clients: ${clients}, processes: 16, op: write, size_kib: 4, pattern: { kind: continuous } }`],
        {
          oss: 'cpts: 2',
        },
      )
      rule(c, 'start a jobid={1.*} rate=50')
      c.sim.runUntil(10e9)
      return served(c, '1.a.u0') / 10
    }
    expect(Math.abs(rateWith('[1]') / 50 - 1)).toBeLessThan(0.05)
    expect(Math.abs(rateWith('[1, 2]') / 100 - 1)).toBeLessThan(0.05)
  })

  it('keeps the wait for a token out of the service times of job_stats', () => {
    const c = clusterOf([
      '{ id: 1.a.u0, clients: [1], processes: 8, op: write, size_kib: 4, pattern: { kind: continuous } }',
    ])
    rule(c, 'start a jobid={1.*} rate=5')
    c.sim.runUntil(10e9)
    const [entry] = parseJobStats(c.osts[0]!.jobStats.read()).entries
    expect(entry!.counters.get('write')!.max).toBeLessThan(5000)
    expect(c.jobs[0]!.waits.mean).toBeGreaterThan(1e9)
  })

  it('starts and stops jobs at their times', () => {
    const c = clusterOf([
      '{ id: 1.a.u0, clients: [1], op: write, size_kib: 4, start_s: 2, stop_s: 3, pattern: { kind: poisson, rate: 1000 } }',
    ])
    c.sim.runUntil(2e9)
    expect(served(c, '1.a.u0')).toBe(0)
    c.sim.runUntil(3.1e9)
    const n = served(c, '1.a.u0')
    // 1000 arrivals, standard deviation 32.
    expect(Math.abs(n - 1000)).toBeLessThan(160)
    c.sim.runUntil(10e9)
    expect(served(c, '1.a.u0')).toBe(n)
    expect(c.jobs[0]!.running).toBe(false)
  })

  it('writes the times of its epoch', () => {
    const c = clusterOf([mixed[2]!])
    c.sim.runUntil(2e9)
    const [entry] = parseJobStats(c.osts[0]!.jobStats.read()).entries
    expect(Number(entry!.startTime)).toBeGreaterThanOrEqual(1_767_225_600)
    expect(Number(entry!.snapshotTime)).toBeGreaterThan(1_767_225_601)
    expect(Number(entry!.snapshotTime)).toBeLessThanOrEqual(1_767_225_602)
  })
})

describe('JobStatsTable', () => {
  it('shows what was counted, squares beyond 2^53 exactly', () => {
    const io = fc.record({
      jobId: fc.constantFrom('a', 'b c', '@x', '\u00ff\u0001'),
      op: fc.constantFrom('read' as const, 'write' as const),
      bytes: fc.integer({ min: 1, max: 64 * 1024 * 1024 }),
      usecs: fc.nat(5e6),
    })
    fc.assert(
      fc.property(fc.array(io, { maxLength: 80 }), (list) => {
        const table = new JobStatsTable(1000)
        list.forEach((x, i) => table.countIo(i * 1e9, x.jobId, x.op, x.bytes, x.usecs * 1000))
        const text = table.read()
        const { entries, skipped } = parseJobStats(text)
        expect(skipped).toEqual([])
        expect(entries.map((e) => e.jobId)).toEqual([...new Set(list.map((x) => x.jobId))])
        for (const e of entries) {
          for (const op of ['read', 'write'] as const) {
            const matching = list.filter((x) => x.jobId === e.jobId && x.op === op)
            const sum = (of: (x: (typeof matching)[number]) => number): number =>
              matching.reduce((s, x) => s + of(x), 0)
            if (matching.length === 0) {
              expect(e.counters.has(op)).toBe(false)
              continue
            }
            expect(e.counters.get(op)).toMatchObject({ samples: matching.length, sum: sum((x) => x.usecs) })
            expect(e.counters.get(`${op}_bytes`)).toMatchObject({
              sum: sum((x) => x.bytes),
              min: Math.min(...matching.map((x) => x.bytes)),
              max: Math.max(...matching.map((x) => x.bytes)),
            })
            const squares = matching.reduce((s, x) => s + BigInt(x.bytes) ** 2n, 0n)
            expect(text.slice(...e.span)).toContain(`sumsq: ${String(squares).padStart(18)}, hist`)
          }
        }
      }),
    )
  })

  it('makes no entry for an empty job id, and is empty without entries', () => {
    const table = new JobStatsTable(0)
    table.countIo(0, '', 'read', 1, 1)
    expect(table.read()).toBe('')
    expect(table.drop('nobody')).toBe(false)
    expect(new JobStatsTable(0, { profile: profile('2.15') }).read()).toBe('job_stats:\n')
  })

  it('has the counters of its target and release, and leaves out what they do not count', () => {
    const names = (options: JobStatsOptions): string[] => {
      const table = new JobStatsTable(0, options)
      for (const counter of ['read', 'mkdir', 'readpage', 'open']) table.count(0, 'j', counter, 1000)
      return [...table.read().matchAll(/^ {2}(\w+): +\{ samples: +1,/gm)].map((m) => m[1]!)
    }
    expect(names({})).toEqual(['read'])
    expect(names({ profile: profile('2.12') })).toEqual([])
    expect(names({ target: 'mdt' })).toEqual(['open', 'mkdir', 'read', 'readpage'])
    expect(names({ target: 'mdt', profile: profile('2.17') })).toEqual(['open', 'mkdir', 'read'])
  })

  it('drops entries that were idle for longer than the cleanup interval, after it was read, and not before half of it', () => {
    let now = 0
    const table = new JobStatsTable(0, { clock: () => now })
    const seen = (): string[] => {
      table.read()
      return [...table.jobIds]
    }
    expect(table.cleanupSeconds).toBe(600)
    table.countIo(0, 'early', 'read', 1, 1)
    now = 500e9
    table.countIo(now, 'late', 'read', 1, 1)
    expect(seen()).toEqual(['early', 'late'])
    // Swept at 500 s, so not again before 800 s.
    now = 700e9
    expect(seen()).toEqual(['early', 'late'])
    now = 801e9
    expect(seen()).toEqual(['late'])
    table.cleanupSeconds = 7
    expect(table.cleanupSeconds).toBe(6)
    table.cleanupSeconds = 0
    now = 9e12
    expect(seen()).toEqual(['late'])
  })

  it('prints the start of counting unless disabled', () => {
    const table = new JobStatsTable(1000, { profile: profile('2.17') })
    table.countIo(1_500_000_000, 'j', 'read', 1, 1)
    expect(table.read()).toContain('start_time:      1001.500000000 secs.nsecs')
    table.showsStart = false
    expect(table.read()).not.toContain('start_time')
    expect(table.read()).toContain('snapshot_time:   1001.500000000 secs.nsecs')
    table.showsStart = true
    expect(table.read()).toContain('elapsed_time:    0.000000000 secs.nsecs')
  })
})
