/** Short soak: the real host under churn and faults in a separate process; and its judge detects planted faults. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isPassed, judge, reportText, slopeOf, type Verdict } from '../../soak/judge.ts'
import type { SoakRecord } from '../../soak/record.ts'

const root = join(import.meta.dirname, '../..')

interface Ended {
  readonly code: number | string | null
  readonly stdout: string
  readonly stderr: string
}

const run = (...args: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    // It ends before the test does: nothing of it is left behind.
    const options = { maxBuffer: 64 << 20, timeout: 590_000 }
    execFile(process.execPath, [join(root, 'soak/run.ts'), ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? null) : 0, stdout, stderr }),
    )
  })

/** A valid record. */
const whole: SoakRecord = {
  run: { seconds: 7200, periodMs: 1000, seed: 1, speed: 10, reached: 10, wallS: 720, cpuS: 500 },
  jobs: { started: 4500, seen: 4480, most: 2600, forgetS: 3600, overdue: 0 },
  memory: Array.from({ length: 61 }, (_, i) => ({
    atS: i * 120,
    // A console fills up for the first hour and is level from then on, except for what a collection leaves.
    heap: (100 + Math.min(i, 35) * 2 + (i % 3)) * 2 ** 20,
    outside: (50 + Math.min(i, 35) + (i % 2)) * 2 ** 20,
    rss: (400 + Math.min(i, 35) * 5 + (i % 4) * 6) * 2 ** 20,
    jobs: 2500,
  })),
  steadyFromS: 4500,
  fullFromS: 1800,
  samples: { expected: 7199, taken: 7199, displaced: [] },
  targets: [{ target: 't-OST0000', expected: 7199, sampled: 7100, decided: 7100, excused: 99, missed: [] }],
  late: [{ atS: 60, byMs: 1800 }],
  troubles: { reboot: 4 },
  file: { quota: 16 * 2 ** 20, mostUsed: 16.5 * 2 ** 20, mostOnDisk: 18 * 2 ** 20, evictedSamples: 1, evictions: {} },
  window: { frames: 1000, views: 40, exports: 20, incidents: 2 },
  plans: { sent: 5000, unknown: [] },
  audit: { records: 8000, broken: undefined },
  errors: [],
  leftOnServers: [],
  handles: [],
}

const failed = (r: Partial<SoakRecord>): string[] =>
  judge({ ...whole, ...r })
    .filter((v) => !v.isOk)
    .map((v) => v.what)

/** Growth of one measure by so many bytes each emulated second, for the whole run. */
const leaking = (measure: 'heap' | 'outside' | 'rss', bytesPerS: number): Partial<SoakRecord> => ({
  memory: whole.memory.map((m) => ({ ...m, [measure]: m[measure] + bytesPerS * m.atS })),
})

describe('the judge of a soak', () => {
  it('passes what is level from the retention on, late samples among it, and says each figure', () => {
    expect(failed({})).toEqual([])
    const text = reportText(whole, judge(whole))
    expect(text).toContain('1, the longest by 1800 ms at 60 s')
    expect(text).not.toContain('FAILED')
    expect(isPassed(judge(whole))).toBe(true)
  })

  it('sees a leak of a few kilobytes a job, and does not take one large look for one', () => {
    // 4500 jobs in 7200 s: 4 kB per ended job is 2.5 kB a second.
    expect(failed(leaking('heap', 4 * 2500))).toEqual(['growth of the heap from second 4500 on'])
    expect(failed(leaking('outside', 6000))).toEqual(['growth of the memory outside of the heap from second 4500 on'])
    expect(failed(leaking('rss', 40_000))).toEqual(['growth of the RSS from second 4500 on'])
    const memory = whole.memory.map((m, i) => (i === 59 ? { ...m, heap: 3 * m.heap } : m))
    expect(failed({ memory })).toEqual([])
    expect(failed({ memory: whole.memory.slice(0, 40) })).toHaveLength(3)
  })

  it('sees a sample that is missing or displaced, and a period that a target missed', () => {
    expect(failed({ samples: { ...whole.samples, taken: 7198 } })).toEqual(['samples'])
    expect(failed({ samples: { ...whole.samples, displaced: [61] } })).toEqual(['samples'])
    const targets = whole.targets.map((t) => ({ ...t, decided: t.decided - 1, missed: [61] }))
    expect(failed({ targets })).toEqual(['periods of targets'])
    expect(judge({ ...whole, targets }).find((v: Verdict) => !v.isOk)?.figure).toContain('t-OST0000 at 61 s')
    expect(failed({ targets: [] })).toEqual(['periods of targets'])
  })

  it('sees errors, unknown plans, a broken chain, a file too large, leftovers and handles', () => {
    expect(failed({ errors: ['stderr: sluice: the emulator stopped'] })).toEqual(['errors'])
    expect(failed({ plans: { sent: 1, unknown: ['oss01 at 5 s: no answer'] } })).toEqual(['plans that ended unknown'])
    expect(failed({ audit: { records: 9, broken: 3 } })).toEqual(['audit chain'])
    expect(failed({ audit: { records: 0, broken: undefined } })).toEqual(['audit chain'])
    expect(failed({ file: { ...whole.file, mostUsed: 18 * 2 ** 20 } })).toEqual(['size of the history'])
    expect(failed({ leftOnServers: ['rule ab_0 on oss01'] })).toEqual(['rules and timers left on servers'])
    expect(failed({ handles: ['Timeout'] })).toEqual(['what keeps the process'])
    expect(failed({ jobs: { ...whole.jobs, overdue: 1 } })).toEqual(['jobs in memory beyond the retention'])
  })

  it('fits the median of all slopes', () => {
    expect(slopeOf([0, 1, 2, 3], [5, 7, 9, 11])).toBe(2)
    expect(slopeOf([0, 1, 2, 3, 4], [1, 1, 90, 1, 1])).toBe(0)
    expect(slopeOf([1], [1])).toBeNaN()
  })
})

describe('a soak in short', () => {
  it('holds everything with jobs that come and go, faults on and a window open, and its process ends by itself', async () => {
    const { code, stdout, stderr } = await run('--seconds', '300', '--jobs', '2400', '--rate', '1', '--json')
    const { record, verdicts } = JSON.parse(stdout) as { record: SoakRecord; verdicts: Verdict[] }
    expect(verdicts.filter((v) => !v.isOk)).toEqual([])
    expect([code, stderr]).toEqual([0, ''])
    // The results are not trivially true.
    expect(record.jobs.seen).toBeGreaterThan(150)
    expect(record.jobs.most).toBeLessThan(record.jobs.started)
    expect(record.plans.sent).toBeGreaterThan(100)
    expect(record.window.frames).toBeGreaterThan(50)
    expect(record.window.exports).toBeGreaterThan(0)
    expect(record.troubles['reboot']).toBeGreaterThan(0)
    expect(record.troubles['answers garbled']).toBeGreaterThan(0)
    expect(record.targets.map((t) => t.decided).every((n) => n > 150)).toBe(true)
  }, 600_000)

  it('refuses options that are none', async () => {
    const { code, stderr } = await run('--jobs', 'many')
    expect(code).toBe(2)
    expect(stderr).toContain('--jobs takes a number')
  })
})
