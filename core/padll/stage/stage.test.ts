import { describe, expect, it } from 'vitest'
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import type { OperationContext, OperationType } from '../vocabulary.ts'
import { POSIX_CALLS } from '../posix-calls.ts'
import type { ChannelOwner } from './layout.ts'
import type { StageRequest } from './request.ts'
import { Stage, type StageOptions, formatCallTable } from './stage.ts'

const identity = { job: 'job.1', instance: 0, pid: 4711, ppid: 1, hostname: 'n1', user: 'ana' }

interface Of {
  readonly type?: OperationType
  readonly context?: OperationContext
  readonly workflow?: number
}

const channelRule = (channel: number, { type = 'no_op', context = 'no_op', workflow = 0 }: Of): HousekeepingRule => ({
  kind: 'create_channel',
  rule: channel,
  channel,
  contextType: 'posix',
  workflow,
  type,
  context,
})
const objectRule = (channel: number, object: number, rate: number | null, of: Of = {}): HousekeepingRule => ({
  kind: 'create_object',
  rule: object,
  channel,
  object,
  contextType: 'posix',
  type: of.type ?? 'no_op',
  context: of.context ?? 'no_op',
  bucket: rate === null ? null : { refillUs: 10_000, rate },
})

/** A ready stage with one object per channel. */
function stageOf(
  channels: readonly (Of & { rate: number | null; owner?: ChannelOwner })[],
  options: Partial<StageOptions> = {},
) {
  const releases: [ticket: number, count: number, atNs: number][] = []
  const onRelease = (...release: [number, number, number]): void => void releases.push(release)
  const stage = new Stage({ identity, mounts: ['/scratch'], onRelease, ...options })
  for (const [i, { rate, owner, ...of }] of channels.entries()) {
    expect(stage.housekeeping(channelRule(i + 1, of), 0, owner)).toMatchObject({ ok: true })
    expect(stage.housekeeping(objectRule(i + 1, 1, rate, of), 0)).toMatchObject({ ok: true })
  }
  stage.markReady()
  return { stage, releases }
}

const open: StageRequest = { call: 'open', path: '/scratch/x' }

/** Returns the channel that counted the request; undefined for none. */
function channelFor(stage: Stage, request: StageRequest): number | undefined {
  stage.collect(0)
  stage.submit(request, 0)
  return stage.collect(0).find((counts) => counts.arrived > 0)?.channel
}

describe('a request', () => {
  it('passes while there are tokens, waits in parts, and is released on the grid', () => {
    const { stage, releases } = stageOf([{ type: 'open', rate: 20_000 }])
    expect(stage.submit({ ...open, count: 150 }, 0)).toEqual({ kind: 'passed' })
    expect(stage.submit({ ...open, count: 300 }, 1)).toEqual({ kind: 'waits', ticket: 1, passed: 50, waiting: 250 })
    expect(stage.submit(open, 2)).toEqual({ kind: 'waits', ticket: 2, passed: 0, waiting: 1 })
    expect(stage.nextReleaseNs).toBe(10 * NS_PER_MS)
    stage.advance(NS_PER_S)
    expect(releases).toEqual([
      [1, 200, 10 * NS_PER_MS],
      [1, 50, 20 * NS_PER_MS],
      [2, 1, 20 * NS_PER_MS],
    ])
    expect(stage.nextReleaseNs).toBe(Infinity)
  })

  it('that a release submits is served behind those that wait', () => {
    const times: number[] = []
    const closedLoop = (_ticket: number, count: number, atNs: number): void => {
      for (let i = 0; i < count; i++) {
        times.push(atNs)
        if (times.length < 1000) stage.submit(open, atNs)
      }
    }
    const { stage } = stageOf([{ type: 'open', rate: 1000 }], { onRelease: closedLoop })
    for (let i = 0; i < 50; i++) stage.submit(open, 0)
    stage.advance(60 * NS_PER_S)
    expect(times.length).toBeGreaterThanOrEqual(1000)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(times[999]).toBe(NS_PER_S)
  })

  it('passes if a late host has released nothing meanwhile', () => {
    const { stage, releases } = stageOf([{ type: 'open', rate: 1000 }])
    stage.submit({ ...open, count: 25 }, 0)
    expect(stage.submit(open, NS_PER_S)).toEqual({ kind: 'passed' })
    expect(releases.map(([, , atNs]) => atNs)).toEqual([10 * NS_PER_MS, 20 * NS_PER_MS])
  })

  it('waits under a new ticket, even if time steps back', () => {
    const tickets: number[] = []
    const { stage } = stageOf([{ type: 'open', rate: 1000 }], { onRelease: (ticket) => void tickets.push(ticket) })
    stage.submit({ ...open, count: 30 }, 0)
    stage.advance(25 * NS_PER_MS)
    tickets.length = 0
    for (let i = 0; i < 30; i++) {
      const outcome = stage.submit({ ...open, count: 3 }, (30 - i) * NS_PER_MS)
      if (outcome.kind === 'waits') expect(tickets).not.toContain(outcome.ticket)
    }
    stage.advance(NS_PER_S)
    expect(stage.collect(NS_PER_S)[0]).toMatchObject({ arrived: 120, served: 120 })
  })

  it('that is submitted after a drop, out of a release, is not lost', () => {
    const released: number[] = []
    const onRelease = (ticket: number): void => {
      released.push(ticket)
      if (ticket > 1) return
      stage.drop()
      expect(stage.submit({ ...open, count: 100 }, 10 * NS_PER_MS).kind).toBe('waits')
    }
    const { stage } = stageOf([{ type: 'open', rate: 100 }], { onRelease })
    stage.submit({ ...open, count: 2 }, 0)
    stage.advance(60 * NS_PER_S)
    expect([released[0], new Set(released)]).toEqual([1, new Set([1, 2])])
    expect(stage.collect(60 * NS_PER_S)[0]).toMatchObject({ served: 102, queued: 0 })
  })

  it('costs its bytes where it moves data, and never more than the kernel moves', () => {
    const { stage, releases } = stageOf([{ context: 'data_op', rate: 1_000_000 }])
    stage.done({ call: 'open', path: '/scratch/x' }, { fd: 3 })
    expect(stage.submit({ call: 'read', fd: 3, size: 10_000 }, 0).kind).toBe('passed')
    expect(stage.submit({ call: 'mmap', fd: 3, size: 1 << 30 }, 10 * NS_PER_MS).kind).toBe('passed')
    expect(stage.submit({ call: 'read', fd: 3, size: 0 }, 10 * NS_PER_MS).kind).toBe('passed')
    expect(stage.submit({ call: 'write', fd: 3, size: 1e30 }, 10 * NS_PER_MS).kind).toBe('waits')
    stage.advance(3600 * NS_PER_S)
    expect(Math.abs(((releases[0]?.[2] ?? NaN) - 0x7fff_f000 * 1000) / NS_PER_S)).toBeLessThan(0.03)
    expect(stage.collect(3600 * NS_PER_S)[0]).toMatchObject({ served: 10_001 + 0x7fff_f000 })
  })

  it('is forwarded untouched for a reason', () => {
    const { stage } = stageOf([{ type: 'open', rate: 1 }], {
      switches: new Set(['open', 'close', 'sync', 'fcntl', 'mkdir']),
    })
    const reason = (request: StageRequest): string => {
      const outcome = stage.submit(request, 0)
      return outcome.kind === 'forwarded' ? outcome.reason : outcome.kind
    }
    expect(reason({ call: 'open', path: '/home/x' })).toBe('unmanaged-path')
    expect(reason({ call: 'open' })).toBe('unmanaged-path')
    expect(reason({ call: 'close', fd: 9 })).toBe('unknown-descriptor')
    expect(reason({ call: 'unlink', path: '/scratch/x' })).toBe('switched-off')
    expect(reason({ ...open, creates: true })).toBe('switched-off')
    expect(reason({ call: 'sync' })).toBe('never-limited')
    expect(reason({ call: 'mkdir', path: '/scratch/x' })).toBe('no-channel')
    expect(reason({ call: 'execve' as 'open', path: '/scratch/x' })).toBe('unknown-call')
    expect(reason(open)).toBe('waits')

    const early = new Stage({ identity, mounts: ['/scratch'] })
    expect(early.submit(open, 0)).toMatchObject({ reason: 'not-ready' })
    early.markReady()
    expect(early.submit(open, 0)).toMatchObject({ reason: 'no-channel' })
    early.housekeeping(channelRule(1, { context: 'meta_op' }), 0)
    early.housekeeping(objectRule(1, 1, 5, { type: 'close' }), 0)
    expect(early.submit(open, 0)).toMatchObject({ reason: 'no-object' })
    expect(early.statistics.forwarded('no-object')).toBe(1)
  })

  it('with an unusable count is one operation', () => {
    const { stage } = stageOf([{ type: 'open', rate: null }])
    for (const count of [0, -5, NaN, 0.2]) stage.submit({ ...open, count }, 0)
    expect(stage.collect(0)[0]).toMatchObject({ arrived: 4, served: 4 })
  })
})

describe('files', () => {
  it('are followed from open through dup and fork to close', () => {
    const { stage } = stageOf([{ context: 'meta_op', rate: null }])
    const isManaged = (request: StageRequest): boolean => stage.submit(request, 0).kind === 'passed'
    stage.done({ call: 'openat', path: 'scratch/x', dirfd: -100 }, { fd: 3 })
    expect(isManaged({ call: 'close', fd: 3 })).toBe(true)
    stage.done({ call: 'fcntl', fd: 3, duplicates: true }, { fd: 4 })
    stage.done({ call: 'dup2', fd: 3, newFd: 5 }, { fd: 5 })
    stage.done({ call: 'fcntl', fd: 3 }, { fd: 0 })
    const child = stage.files.fork()
    stage.done({ call: 'close', fd: 3 }, { failed: true })
    expect([3, 4, 5, 0].map((fd) => isManaged({ call: 'fstat', fd }))).toEqual([false, true, true, false])
    expect(isManaged({ call: 'fstat', fd: 3, files: child })).toBe(true)
    stage.done({ call: 'close_range', fd: 3 }, {})
    expect(stage.files.size).toBe(0)

    stage.done({ call: 'fopen', path: '/scratch/y' }, { file: 77, fd: 6 })
    expect(isManaged({ call: 'fclose', file: 77 })).toBe(true)
    stage.done({ call: 'fclose', file: 77 }, {})
    expect(isManaged({ call: 'fclose', file: 77 })).toBe(false)
    expect(isManaged({ call: 'fstat', fd: 6 })).toBe(false)

    stage.done({ call: 'open', path: '/scratch/x' }, { failed: true, fd: -1 })
    stage.done({ call: 'chdir', path: '/scratch' }, { failed: true })
    expect(isManaged({ call: 'mkdir', path: 'a' })).toBe(false)
    stage.done({ call: 'chdir', path: '/scratch' }, {})
    expect(isManaged({ call: 'mkdir', path: 'a' })).toBe(true)
  })

  it('that are renamed out of the mount point, or into it, are managed; upstream looks at the new path alone', () => {
    const out: StageRequest = { call: 'rename', path: '/scratch/x', newPath: '/home/x' }
    const into: StageRequest = { call: 'renameat2', path: '/home/x', newPath: '/scratch/x' }
    const fixed = stageOf([{ context: 'meta_op', rate: null }]).stage
    expect([fixed.submit(out, 0).kind, fixed.submit(into, 0).kind]).toEqual(['passed', 'passed'])
    const strict = stageOf([{ context: 'meta_op', rate: null }], { strictUpstream: true }).stage
    expect([strict.submit(out, 0).kind, strict.submit(into, 0).kind]).toEqual(['forwarded', 'passed'])
  })
})

describe('channels', () => {
  it('of the class `meta_op` take every metadata call, directories and attributes included', () => {
    const { stage } = stageOf([{ context: 'meta_op', rate: null }])
    for (const call of POSIX_CALLS.filter((c) => c.type !== null && c.klass !== 'data')) {
      stage.done({ call: 'open', path: '/scratch/x' }, { fd: 3 })
      stage.done({ call: 'fopen', path: '/scratch/x' }, { file: 7 })
      const request = { call: call.name, path: '/scratch/x', newPath: '/scratch/y', fd: 3, file: 7, size: 5 }
      expect([call.name, channelFor(stage, request)]).toEqual([call.name, 1])
    }
    expect(stage.channels).toEqual([{ channel: 1, object: 1, scope: 'meta_op' }])
  })

  it('are matched most specific first', () => {
    const { stage } = stageOf([
      { type: 'total', rate: null },
      { type: 'metadata', rate: null },
      { context: 'meta_op', rate: null },
      { context: 'dir_op', rate: null },
      { type: 'open', rate: null },
      { type: 'open', rate: null, owner: { job: 'job.2' } },
      { rate: null, owner: { job: 'job.2', user: 'eve' } },
      { type: 'pread', rate: null },
      { type: 'pread', rate: null, owner: { size: 4 } },
    ])
    stage.done(open, { fd: 3 })
    expect(channelFor(stage, open)).toBe(5)
    expect(channelFor(stage, { ...open, job: 'job.2' })).toBe(6)
    expect(channelFor(stage, { ...open, job: 'job.2', user: 'eve' })).toBe(7)
    expect(channelFor(stage, { ...open, job: 'job.3', user: 'eve' })).toBe(5)
    expect(channelFor(stage, { call: 'rmdir', path: '/scratch/x' })).toBe(4)
    expect(channelFor(stage, { call: 'mkdir', path: '/scratch/x' })).toBe(4)
    expect(channelFor(stage, { call: 'unlink', path: '/scratch/x' })).toBe(3)
    expect(channelFor(stage, { call: 'read', fd: 3, size: 9 })).toBe(1)
    expect(channelFor(stage, { call: 'pread64', fd: 3, size: 9 })).toBe(8)
    expect(channelFor(stage, { call: 'pread64', fd: 3, size: 1e9 })).toBe(9)
  })

  it('with one mask for the stage are matched exactly, as upstream', () => {
    const byContext = stageOf([{ workflow: 1000, context: 'meta_op', rate: null }], {
      mask: new Set(['context'] as const),
    }).stage
    expect(channelFor(byContext, open)).toBe(1)
    expect(channelFor(byContext, { call: 'rmdir', path: '/scratch/x' })).toBeUndefined()
    expect(channelFor(byContext, { call: 'mkdir', path: '/scratch/x' })).toBe(1)
    const byAll = stageOf([{ workflow: 1000, type: 'open', context: 'meta_op', rate: null }], {
      mask: new Set(['workflow', 'type', 'context'] as const),
    }).stage
    expect(channelFor(byAll, open)).toBe(1)
    expect(channelFor(byAll, { call: 'close', path: '/scratch/x' })).toBeUndefined()
  })

  it('of several workflows share the requests about evenly; a request may name its own', () => {
    const channels = [1, 2, 3, 4].map((n) => ({ workflow: n * 1000, context: 'meta_op' as const, rate: null }))
    const { stage } = stageOf(channels, { workflows: 4 })
    for (let i = 0; i < 40_000; i++) stage.submit(open, i)
    for (const { arrived } of stage.collect(0)) expect(Math.abs(arrived - 10_000)).toBeLessThan(500)
    for (let i = 0; i < 100; i++) stage.submit({ ...open, workflow: 3000 }, i)
    expect(stage.collect(0).map((counts) => counts.arrived)).toEqual([0, 0, 100, 0])
    for (const workflow of [0, 5000, 1500, -1000, NaN]) stage.submit({ ...open, workflow }, 0)
    expect(stage.collect(0).reduce((sum, counts) => sum + counts.arrived, 0)).toBe(5)
  })

  it('added later take over requests of other channels', () => {
    const { stage } = stageOf([{ context: 'meta_op', rate: null }])
    expect(channelFor(stage, open)).toBe(1)
    stage.housekeeping(channelRule(2, { type: 'open' }), 0)
    stage.housekeeping(objectRule(2, 1, 10), 0)
    expect(channelFor(stage, open)).toBe(2)
  })

  it('are refused where an id or a condition is taken, and the others stand', () => {
    const { stage } = stageOf([{ type: 'open', rate: 10 }])
    const code = (rule: HousekeepingRule): string | undefined => {
      const done = stage.housekeeping(rule, 0)
      return done.ok ? undefined : done.error.code
    }
    expect(code(channelRule(1, { type: 'close' }))).toBe('E_DUPLICATE')
    expect(code(channelRule(2, { type: 'open' }))).toBe('E_DUPLICATE')
    expect(code(objectRule(1, 1, 5, { type: 'close' }))).toBe('E_DUPLICATE')
    expect(code(objectRule(1, 2, 5, { type: 'open' }))).toBe('E_DUPLICATE')
    expect(code(objectRule(9, 1, 5))).toBe('E_CHANNEL')
    expect(code(objectRule(1, 3, NaN))).toBe('E_RATE')
    expect(code(objectRule(1, 3, -1))).toBe('E_RATE')
    const unusable = { ...objectRule(1, 3, 5), bucket: { refillUs: 0, rate: 5 } } as HousekeepingRule
    expect(code(unusable)).toBe('E_REFILL')
    expect(code(objectRule(1, 3, 0, { type: 'close' }))).toBeUndefined()
    expect([stage.limitOf(1, 1)?.rate, stage.limitOf(1, 3)?.rate]).toEqual([10, 1])
    expect(channelFor(stage, open)).toBe(1)
  })
})

describe('control', () => {
  it('sets rates and periods, and refuses what it cannot use', () => {
    const { stage } = stageOf([
      { type: 'open', rate: 10 },
      { type: 'close', rate: null },
    ])
    expect(stage.command({ channel: 1, object: 1, rate: 500, refillNs: 20 * NS_PER_MS }, 0).ok).toBe(true)
    expect(stage.limitOf(1, 1)).toEqual({ rate: 500, refillNs: 20 * NS_PER_MS })
    expect(stage.command({ channel: 1, object: 1, rate: 0 }, 0).ok).toBe(true)
    expect(stage.limitOf(1, 1)?.rate).toBe(1)
    for (const rate of [-1, NaN, Infinity]) {
      expect(stage.command({ channel: 1, object: 1, rate }, 0)).toMatchObject({ error: { code: 'E_RATE' } })
    }
    expect(stage.command({ channel: 3, object: 1, rate: 5 }, 0)).toMatchObject({ error: { code: 'E_CHANNEL' } })
    expect([stage.command({ channel: 2, object: 1, rate: 5 }, 0).ok, stage.limitOf(2, 1)]).toEqual([true, null])
  })

  it('raises the rate of waiting operations', () => {
    const { stage, releases } = stageOf([{ type: 'open', rate: 1 }])
    stage.submit({ ...open, count: 100 }, 0)
    stage.command({ channel: 1, object: 1, rate: 10_000 }, 5 * NS_PER_MS)
    stage.advance(10 * NS_PER_MS)
    // Its first operation had already paid a part of its cost and is released alone.
    expect(releases).toEqual([
      [1, 1, 10 * NS_PER_MS],
      [1, 99, 10 * NS_PER_MS],
    ])
  })

  it('collects windows: what came, went, waits, and for how long', () => {
    const { stage } = stageOf([{ type: 'open', rate: 1000 }])
    stage.submit({ ...open, count: 25 }, 0)
    expect(stage.collect(10 * NS_PER_MS)).toEqual([
      {
        channel: 1,
        object: 1,
        scope: 'open',
        arrived: 25,
        served: 20,
        waited: 10,
        queued: 5,
        throttledNs: 100 * NS_PER_MS,
      },
    ])
    expect(stage.collect(20 * NS_PER_MS)[0]).toMatchObject({
      arrived: 0,
      served: 5,
      queued: 0,
      throttledNs: 100 * NS_PER_MS,
    })
    expect(stage.waits()).toEqual([
      { job: 'job.1', operation: 'open', arrived: 25, waited: 15, waitNs: 200 * NS_PER_MS, longestNs: 20 * NS_PER_MS },
    ])
  })

  it('drops waiting operations when the process has died', () => {
    const { stage, releases } = stageOf([{ type: 'open', rate: 100 }])
    stage.submit({ ...open, count: 10 }, 0)
    stage.submit({ ...open, count: 5 }, 0)
    expect(stage.drop()).toBe(14)
    stage.advance(NS_PER_S)
    expect([releases, stage.nextReleaseNs, stage.collect(NS_PER_S)[0]?.queued]).toEqual([[], Infinity, 0])
    expect(stage.submit(open, NS_PER_S)).toEqual({ kind: 'passed' })
  })
})

describe('statistics', () => {
  it('count per call and class in two tables, and print as two reports', () => {
    const { stage } = stageOf([{ context: 'meta_op', rate: null }], { switches: 'upstream' })
    stage.submit({ ...open, count: 3 }, 0)
    stage.submit({ call: 'open', path: '/home/x' }, 0)
    stage.done(open, { failed: true })
    stage.submit({ call: 'read', fd: 3, size: 100 }, 0)
    const all = stageOf([], {}).stage
    all.submit({ call: 'read', fd: 3, size: 100, count: 2 }, 0)
    expect(stage.statistics.intercepted.ofClass('metadata')).toEqual({ calls: 4, errors: 1, bypassed: 1, bytes: 0 })
    expect(stage.statistics.passedThrough.ofClass('data').calls).toBe(1)
    expect(all.statistics.intercepted.ofClass('data')).toEqual({ calls: 2, errors: 0, bypassed: 2, bytes: 200 })
    expect(formatCallTable(stage.statistics.intercepted, 'Intercepted calls')).toMatchInlineSnapshot(`
      "Intercepted calls
                                 calls          errors        bypassed           bytes
      data                           0               0               0               0
      metadata                       4               1               1               0
        open                         4               1               1               0
      directory                      0               0               0               0
      ext_attr                       0               0               0               0
      special                        0               0               0               0
      "
    `)
  })
})
