import { describe, expect, it } from 'vitest'
import type { Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { BrwRecord, TimeoutRecord } from '../../history/io-table.ts'
import { emulatedCluster, twoJobs } from '../../../tests/node/emulated-cluster.ts'
import type { ExecResult, NodeConnection } from '../../base/connection.ts'
import { BrwReader, TimeoutsReader } from './server-counters.ts'
import { printed } from '#tests/kits/electron/answers.ts'

const T0 = 1_767_225_600_000
const TARGET = 'testfs-OST0000'

/** brw_stats of an OST: writes of 4 KiB and of 1 MiB. */
const brw = (atS: number, small: number, large: number, startS = 0): string =>
  `osd-ldiskfs.${TARGET}.brw_stats=\nsnapshot_time:            ${atS}.000000000 secs.nsecs\n` +
  `start_time:               ${startS}.000000000 secs.nsecs\nelapsed_time:             ${atS}.000000000 secs.nsecs\n\n` +
  '                           read      |     write\n' +
  'disk I/O size          ios   % cum % |  ios         % cum %\n' +
  `4K:\t\t         0   0   0   | ${String(small).padStart(4)}  50  50\n` +
  `1M:\t\t         0   0   0   | ${String(large).padStart(4)}  50 100\n`

function start(exec: () => Promise<Result<ExecResult>> | Result<ExecResult>) {
  const node: NodeConnection = { host: 'oss01', roles: ['oss'], exec: async () => exec() }
  const kept: { atMs: number; records: readonly BrwRecord[] }[] = []
  const reader = new BrwReader([node], (atMs, _, records) => void kept.push({ atMs, records }), {
    read: (n, command) => n.exec(command),
    everyS: () => 60,
  })
  return { reader, kept, at: (s: number) => reader.refresh(s * NS_PER_S, T0 + s * 1000) }
}

describe('disk I/O of a target', () => {
  it('is what was counted between two readings, a minute apart', async () => {
    const answers = [brw(100, 10, 0), brw(160, 12, 5)]
    const { reader, kept, at } = start(() => printed(answers.shift() ?? ''))
    await at(0)
    await at(30)
    expect(kept).toEqual([])
    await at(60)
    const bins = {
      sizeBytes: [
        [4096, 0, 2],
        [1_048_576, 0, 5],
      ],
    }
    expect(kept).toEqual([{ atMs: T0 + 60_000, records: [{ target: TARGET, seconds: 60, bins }] }])
    expect(reader.newest(TARGET)).toMatchObject({ atMs: T0 + 60_000, seconds: 60, bins })
  })

  it.each([
    ['cleared counters', brw(160, 3, 0)],
    ['a remount', brw(160, 12, 5, 130)],
  ])('is not told over %s', async (_, second) => {
    const answers = [brw(100, 10, 0), second, brw(220, 13, 5, second.includes('130') ? 130 : 0)]
    const { kept, at } = start(() => printed(answers.shift() ?? ''))
    for (const s of [0, 60]) await at(s)
    expect(kept).toEqual([])
    await at(120)
    expect(kept).toHaveLength(1)
  })

  it('of a server that prints none is a reason, not zero; of one that hangs, too, and it is not asked twice', async () => {
    const why = "error: get_param: param_path 'osd-*/*/brw_stats': No such file or directory"
    const none = start(() => printed('', `${why}\n`, 2))
    await none.at(0)
    expect(none.reader.fault('oss01')).toBe(why)
    let requests = 0
    const hanging = start(() => (requests++, new Promise<Result<ExecResult>>(() => undefined)))
    void hanging.at(0)
    void hanging.at(60)
    expect(requests).toBe(1)
    expect(hanging.kept).toEqual([])
  })

  it('comes from every release of the emulator, and says nothing of targets that have another name', async () => {
    const c = emulatedCluster(twoJobs(), { controller: 'none' })
    await c.run(12)
    const newest = c.monitor.brw.newest('small-OST0001')
    expect(newest?.seconds).toBeCloseTo(5, 0)
    const writes = newest?.bins.sizeBytes?.find(([upper]) => upper === 65_536)?.[2] ?? 0
    expect(writes).toBeGreaterThan(0)
    expect(newest?.bins.timeMs?.length).toBeGreaterThan(0)
    expect(c.monitor.brw.newest('other-OST0001')).toBeUndefined()
  })
})

describe('service estimates', () => {
  it('are one a CPT, and lines that cannot be read are left out', async () => {
    const text =
      'ost.OSS.ost_io.timeouts=\n   service : cur   5  worst  31 (at 1763670000, 6486s ago)   1   0   1   0 \n' +
      '   service : cur   1  worst   1 (at 1763670001, 6485s ago)   1   0   1   0 \nnonsense\n'
    const kept: (readonly TimeoutRecord[])[] = []
    const node: NodeConnection = { host: 'oss01', roles: ['oss'], exec: async () => printed(text) }
    const options = { read: (n: NodeConnection, c: string) => n.exec(c), everyS: () => 60 }
    const reader = new TimeoutsReader([node], (_, __, records) => void kept.push(records), options)
    await reader.refresh(0, T0)
    expect(kept).toEqual([
      [
        { service: 'ost_io', cpt: 0, current: 5, worst: 31, worstAtS: 1_763_670_000 },
        { service: 'ost_io', cpt: 1, current: 1, worst: 1, worstAtS: 1_763_670_001 },
      ],
    ])
    expect(reader.newest('oss01')).toHaveLength(2)
    expect(reader.fault('oss01')).toBeUndefined()
  })

  it('of emulated servers are read', async () => {
    const c = emulatedCluster(twoJobs(), { controller: 'none' })
    await c.run(6)
    expect(c.monitor.timeouts.newest('oss01').map((t) => t.service)).toContain('ost_io')
  })
})

it('a probe that is switched off reads nothing more, and is shown as off', async () => {
  const c = emulatedCluster(twoJobs(), { controller: 'none' })
  await c.run(12)
  const before = c.monitor.brw.newest('small-OST0001')?.atMs
  expect(c.monitor.setProbe('brw', false).ok).toBe(true)
  await c.run(24)
  expect(c.monitor.brw.newest('small-OST0001')?.atMs).toBe(before)
  expect(c.monitor.brw.fault('oss01')).toBe('the probe brw is off')
})
