import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { LdlmRecord } from '../../history/ldlm-table.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'
import { demo, emulatedCluster } from '../../../tests/node/emulated-cluster.ts'
import type { ExecResult, NodeConnection } from '../../base/connection.ts'
import { LdlmReader } from './ldlm-reader.ts'
import { LDLM_TOTAL, ldlmColumn, type LdlmMeasure } from './ldlm-series.ts'

const T0 = 1_767_225_600_000
const NS = 'filter-t-OST0000_UUID'

interface Counts {
  readonly namespace?: string
  readonly granted?: number
  readonly grants?: number
  readonly cancels?: number
  /** Server's clock, s. */
  readonly atS?: number
  readonly isRoot?: boolean
}

/** Text printed by a server. */
function poolText({ namespace = NS, granted = 5, grants = 10, cancels = 5, atS = 100, isRoot = true }: Counts): string {
  const at = `ldlm.namespaces.${namespace}`
  return (
    `ldlm.lock_granted_count=${granted}\n${at}.lock_count=${granted + 1}\n${at}.lock_timeouts=0\n` +
    `${at}.pool.granted=${granted}\n${at}.pool.grant_rate=3\n${at}.pool.cancel_rate=2\n${at}.pool.limit=1000\n` +
    (isRoot
      ? `${at}.pool.stats=\nsnapshot_time             ${atS}.000000000 secs.nsecs\n` +
        `grant                     ${grants} samples [locks] 1 1 ${grants}\n` +
        `cancel                    ${cancels} samples [locks] 1 1 ${cancels}\n`
      : '')
  )
}
const answer = (...of: readonly Counts[]): Result<ExecResult> => printed(of.map(poolText).join(''))

type Answers = Readonly<Record<string, () => Promise<Result<ExecResult>> | Result<ExecResult>>>

/** A reader of servers with given answers; `oss` in a name makes it an OSS. */
function start(answers: Answers) {
  const kept: { atMs: number; node: string; records: readonly LdlmRecord[] }[] = []
  const nodes = Object.entries(answers).map(([host, exec]): NodeConnection => ({
    host,
    roles: [host.startsWith('oss') ? 'oss' : host.startsWith('mds') ? 'mds' : 'scheduler'],
    exec: async () => exec(),
  }))
  const reader = new LdlmReader(nodes, (atMs, node, records) => void kept.push({ atMs, node, records }))
  const { series } = reader
  return {
    reader,
    series,
    kept,
    at: (second: number): Promise<void> => reader.refresh(second * NS_PER_S, T0 + second * 1000),
    value: (m: LdlmMeasure, second: number, node = 'oss01', namespace = NS): number =>
      series.table.value(`${node}\u0000${namespace}`, ldlmColumn(m), series.rowAt(T0 + second * 1000)),
    total: (second: number): number => series.totals.value(LDLM_TOTAL, 0, series.rowAt(T0 + second * 1000)),
    names: (): string[] => [...series.known].map((n) => n.namespace),
  }
}

describe('reading lock counters', () => {
  it('takes rates from what the pools counted by the server’s own clock', async () => {
    const answers = [
      answer({ grants: 10, cancels: 5, atS: 100 }),
      answer({ grants: 40, cancels: 25, atS: 102 }),
      answer({ grants: 41, cancels: 25, atS: 103 }),
    ]
    const c = start({ oss01: () => answers.shift()! })
    for (const s of [0, 1, 2]) await c.at(s)
    expect(['grantRate', 'cancelRate'].map((m) => [0, 1, 2].map((s) => c.value(m as LdlmMeasure, s)))).toEqual([
      [NaN, 15, 1],
      [NaN, 10, 0],
    ])
    expect(c.value('limit', 2)).toBe(1000)
    expect(c.kept.map((k) => k.records[0]?.grants)).toEqual([null, 15, 1])
    expect(c.kept[0]?.records[1]).toMatchObject({ namespace: '', granted: 5, locks: null })
  })

  it('begins with a new base when a table was cleared, and after a gap: no rate is made up', async () => {
    const answers = [
      answer({ grants: 900, cancels: 900, atS: 100 }),
      answer({ grants: 3, cancels: 1, atS: 101 }),
      answer({ grants: 8, cancels: 1, atS: 102 }),
      lost('connection reset'),
      answer({ grants: 900, cancels: 900, atS: 104 }),
      answer({ grants: 901, cancels: 900, atS: 105 }),
    ]
    const c = start({ oss01: () => answers.shift()! })
    for (let s = 0; s < 6; s++) await c.at(s)
    expect([0, 1, 2, 3, 4, 5].map((s) => c.value('grantRate', s))).toEqual([NaN, NaN, 5, NaN, NaN, 1])
    expect([2, 3, 4].map((s) => c.value('granted', s))).toEqual([5, NaN, 5])
    expect([2, 3, 4].map((s) => c.reader.missingAt(T0 + s * 1000))).toEqual([
      [],
      [{ node: 'oss01', reason: 'connection reset' }],
      [],
    ])
  })

  it('shows the values of the pool where its statistics need root', async () => {
    const c = start({ oss01: () => answer({ isRoot: false }) })
    await c.at(0)
    expect([c.value('grantRate', 0), c.value('cancelRate', 0)]).toEqual([3, 2])
  })

  it('reads only OSSes and MDSes, once a second', async () => {
    const requests: string[] = []
    const node = (host: string) => () => {
      requests.push(host)
      return answer({})
    }
    const c = start({ oss01: node('oss01'), mds01: node('mds01'), sched01: node('sched01') })
    for (let ms = 0; ms < 2500; ms += 100) await c.reader.refresh(ms * 1e6, T0 + ms)
    expect(requests).toEqual(['oss01', 'mds01', 'oss01', 'mds01', 'oss01', 'mds01'])
    expect(c.series.table.newest).toBe(3)
    expect(c.reader.takeCosts()).toHaveLength(6)
    expect(c.reader.takeCosts()).toEqual([])
    expect(
      new LdlmReader([{ host: 's', roles: ['scheduler'], exec: async () => answer({}) }], () => undefined).hasServers,
    ).toBe(false)
  })

  it('names a server without namespaces with the message of lctl, and reads the others', async () => {
    const error = "error: get_param: param_path 'ldlm/namespaces/{filter,mdt}-*_UUID': No such file or directory\n"
    const c = start({
      oss01: () => answer({}),
      oss02: () => printed('', error, 2),
      oss03: () => printed('ldlm.namespaces.MGS.lock_count=4\n'),
    })
    await c.at(0)
    expect(c.value('granted', 0)).toBe(5)
    expect(c.reader.missingAt(T0)).toEqual([
      { node: 'oss02', reason: error.trim() },
      { node: 'oss03', reason: 'lctl exited with 0 and named no namespace of a target' },
    ])
    // The others are all servers that have ever counted locks.
    expect(c.total(0)).toBe(5)
  })

  it('has no sum while a server that counts is missing: a part of the locks is not all of them', async () => {
    let isUp = true
    const c = start({
      oss01: () => answer({}),
      oss02: () => {
        if (!isUp) return lost('away')
        return answer({ granted: 7, namespace: 'filter-t-OST0001_UUID' })
      },
    })
    for (let s = 0; s < 4; s++) {
      isUp = s !== 2
      await c.at(s)
    }
    expect([0, 1, 2, 3].map((s) => c.total(s))).toEqual([12, 12, NaN, 12])
  })

  it('follows a target that fails over to another server', async () => {
    let at = 'oss01'
    const other = { namespace: 'filter-t-OST0009_UUID' }
    const on = (host: string) => () => answer(other, ...(at === host ? [{ granted: 8 }] : []))
    const c = start({ oss01: on('oss01'), oss02: on('oss02') })
    await c.at(0)
    at = 'oss02'
    await c.at(1)
    expect([0, 1].map((s) => [c.value('granted', s), c.value('granted', s, 'oss02')])).toEqual([
      [8, NaN],
      [NaN, 8],
    ])
    // A rate on the new server includes only what it counted there.
    expect(c.value('grantRate', 1, 'oss02')).toBeNaN()
  })
})

describe('a slow server', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('is not asked again before it answers, holds up no other, and is named when it is late', async () => {
    let requests = 0
    let release: (r: Result<ExecResult>) => void = () => undefined
    const c = start({
      oss01: () => answer({}),
      oss02: () => {
        requests++
        return new Promise<Result<ExecResult>>((resolve) => (release = resolve))
      },
    })
    const rounds: Promise<void>[] = []
    for (let s = 0; s < 5; s++) {
      rounds.push(c.at(s))
      await Promise.resolve()
    }
    await vi.advanceTimersByTimeAsync(1)
    expect(requests).toBe(1)
    expect(c.value('granted', 4)).toBe(5)
    expect(c.reader.missingAt(T0 + 4000)).toEqual([])
    await vi.advanceTimersByTimeAsync(10_001)
    expect(c.reader.missingAt(T0 + 4000)).toEqual([{ node: 'oss02', reason: 'no answer for 10 s' }])
    await c.at(15)
    expect(requests).toBe(1)
    release(answer({}))
    await vi.advanceTimersByTimeAsync(1)
    // An answer this late is dropped; the server is read again.
    const last = c.at(16)
    await vi.advanceTimersByTimeAsync(1)
    expect(requests).toBe(2)
    release(answer({ granted: 9 }))
    await Promise.all([...rounds, last])
    expect(c.value('granted', 16, 'oss02')).toBe(9)
    expect(c.reader.missingAt(T0 + 16_000)).toEqual([])
    expect(c.reader.missingAt(T0 + 15_000)).toHaveLength(1)
  })

  it('that hangs on its locks alone keeps no sample back', async () => {
    const c = emulatedCluster(demo(), {
      mode: 'observe',
      around: (node) => ({
        ...node,
        exec: (command) =>
          command.includes('ldlm') ? new Promise<Result<ExecResult>>(() => undefined) : node.exec(command),
      }),
    })
    await c.run(3)
    expect(c.monitor.sample).toBeGreaterThan(25)
    expect(c.monitor.missing.size).toBe(0)
    expect(c.monitor.failures).toEqual([])
    await vi.advanceTimersByTimeAsync(10_001)
    expect(c.monitor.ldlm.missingAt(Infinity).map((m) => m.node)).toEqual(['oss01', 'oss02', 'mds01'])
    expect(c.sent.filter((s) => s.command.includes('ldlm'))).toHaveLength(3)
  })
})

describe('exploits: what a hostile server answers', () => {
  const good = poolText({})

  it.each([
    ['a name with an escape sequence', 'ldlm.namespaces.filter-\u001b[2J-OST0000_UUID.lock_count=1\n'],
    ['a name of 10 000 characters', `ldlm.namespaces.filter-${'x'.repeat(10_000)}-OST0000_UUID.lock_count=1\n`],
    ['binary', '\u0000\u0001\u00ff\u00fe'.repeat(500) + '\n'],
    ['a job id as a namespace', 'ldlm.namespaces.filter-$(reboot)-OST0000_UUID.lock_count=1\n'],
  ])('%s becomes no namespace', async (_, text) => {
    const c = start({ oss01: () => printed(text + good) })
    await c.at(0)
    expect(c.names()).toEqual([NS])
    expect(c.kept[0]?.records.map((r) => r.namespace)).toEqual([NS, ''])
  })

  it('an endless answer is not read, and reported', async () => {
    const c = start({ oss01: () => printed(good.repeat(10_000)) })
    await c.at(0)
    expect(c.names()).toEqual([])
    expect(c.reader.missingAt(T0)[0]?.reason).toMatch(/more than 1000000 characters/)
  })

  it('a reason full of escape sequences is one short plain line', async () => {
    const stderr = `\u001b[31merror\u0007\u009b2J ${'x'.repeat(10_000)}\nsecond line`
    const c = start({ oss01: () => printed('', stderr, 1), oss02: () => lost(stderr) })
    await c.at(0)
    for (const { reason } of c.reader.missingAt(T0)) {
      expect(reason).toMatch(/^\?\[31merror\?\?2J x+$/)
      expect(reason.length).toBe(300)
    }
  })

  it('ever new namespaces take no more memory: what comes when all are taken is counted and left out', async () => {
    let round = 0
    const names = (): Counts[] =>
      Array.from({ length: 300 }, (_, i) => ({
        namespace: `filter-f${round}-OST${i.toString(16).padStart(4, '0')}_UUID`,
        isRoot: false,
      }))
    const c = start({ oss01: () => answer(...names()) })
    await c.at(0)
    expect([c.names().length, c.reader.omitted]).toEqual([256, 44])
    for (round = 1; round < 8; round++) await c.at(round)
    expect(c.names().length).toBeLessThanOrEqual(600)
    // The newest are present: removed ones made room.
    expect(c.names().filter((n) => n.startsWith('filter-f7-')).length).toBeGreaterThan(0)
  })
})

it('the emulated cluster: memory and history agree, second by second', async () => {
  const c = emulatedCluster(demo(), { mode: 'observe' })
  await c.run(12)
  const { series } = c.monitor.ldlm
  expect(series.table.newest).toBe(12)
  const NAME = 'mdt-demo-MDT0000_UUID'
  const read = c.history.reader().ldlmBetween(0, Infinity)
  const kept = read.filter((s) => s.namespace === NAME)
  expect(kept).toHaveLength(12)
  const column = (m: LdlmMeasure): number[] =>
    kept.map((k) => series.table.value(`mds01\u0000${NAME}`, ldlmColumn(m), series.rowAt(k.atMs)))
  expect(kept.map((k) => k.granted)).toEqual(column('granted'))
  expect(kept.map((k) => k.grants ?? NaN)).toEqual(column('grantRate'))
  const whole = read.find((s) => s.namespace === '' && s.atMs >= c.source.toUnixMs(11e9))
  expect(whole?.granted).toBeGreaterThan(0)
  // Additions and present locks agree: nothing is counted twice or lost.
  const grown = kept.at(-1)!.granted! - kept[0]!.granted!
  const net = kept.slice(1).reduce((n, k) => n + k.grants! - k.cancels!, 0)
  expect(net).toBeCloseTo(grown, 0)
  expect(c.monitor.cost.bytesPerSec).toBeGreaterThan(0)
})
