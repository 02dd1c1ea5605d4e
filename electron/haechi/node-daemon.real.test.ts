/** A running node of processes: its tokens add up whatever happens to its clients, and neither commands nor memory can be abused. */
import { spawnSync } from 'node:child_process'
import { closeSync, fchmodSync, fstatSync, openSync, readdirSync, readSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { answerNode, type NewClient } from '#core/haechi/console.ts'
import { unpackPool } from '#core/haechi/pool-word.ts'
import { lowEpoch, unpackReport } from '#core/haechi/report-word.ts'
import { parseHaechiStatus, type HaechiStatus } from '#core/haechi/status.ts'
import { sendCommand } from '../wire/control-channel.ts'
import { haechiHelper } from './helper.ts'
import { HaechiDaemon, type DaemonOptions } from './node-daemon.ts'
import { NODE_SETTINGS } from './node-setup.ts'
import { measureProfile, sigmaOf } from './profile-node.ts'
import { openSharedFile } from './shared-file.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'

let helper: string
beforeAll(async () => {
  const built = await haechiHelper()
  if (!built.ok) throw new Error(built.error.why ?? built.error.what)
  helper = built.value
})

const BATCH = 100

const halvesOf = (word: bigint) =>
  unpackReport({ hi: Number(BigInt.asUintN(32, word >> 32n)), lo: Number(BigInt.asUintN(32, word)) })
const client = (name: string, reservation: number, more: Partial<NewClient> = {}): NewClient => ({
  name,
  job: '',
  reservation,
  limit: null,
  workload: { kind: 'backlogged' },
  reads: 0.5,
  ...more,
})

const open: HaechiDaemon[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((daemon) => daemon.close()))
})

async function start(clients: readonly NewClient[], more: Partial<DaemonOptions> = {}) {
  const controlSocket = join(tempFolder(), 'run', 'control.socket')
  const started = await HaechiDaemon.start({
    name: 'dn0',
    controlSocket,
    helper,
    why: '',
    settings: {
      ...NODE_SETTINGS,
      periodNs: 1e8,
      batch: BATCH,
      // A process that waits for a core is not dead.
      missedReports: 10_000,
      estimator: { ...NODE_SETTINGS.estimator, enabled: false },
    },
    profile: { globalIops: 40_000, localIops: 36_000 },
    profiled: { sigma: 0.01, intervals: 0, intervalNs: 0, measuredMs: 0, from: 'given' },
    slots: 16,
    records: 64,
    seed: 1,
    completionBatch: 8,
    clients,
    log: () => undefined,
    onEnd: () => undefined,
    ...more,
  })
  if (!started.ok) throw new Error(`${started.error.what}: ${started.error.why ?? ''}`)
  const daemon = started.value
  open.push(daemon)
  const send = async (...args: string[]) => {
    const sent = await sendCommand(controlSocket, args, '', 'the node')
    if (!sent.ok || !sent.value) throw new Error('no answer')
    return sent.value
  }
  const status = async (since = 0): Promise<HaechiStatus> => {
    const read = parseHaechiStatus((await send('status', '--json', '--since', String(since))).stdout)
    if ('fault' in read) throw new Error(read.fault)
    return read.status
  }
  const until = async (isSo: (s: HaechiStatus) => boolean): Promise<HaechiStatus> => {
    for (;;) {
      const now = await status()
      if (isSo(now)) return now
      await sleep(30)
    }
  }
  return { daemon, controlSocket, send, status, until }
}

const TEN = Array.from({ length: 10 }, (_, i) => client(`c${i}`, i < 2 ? 900 : 100))

it.each([
  ['haechi.deadline', { ...NODE_SETTINGS, conversion: 'deadline' as const }],
  ['haechi.evidence', { ...NODE_SETTINGS, estimator: { ...NODE_SETTINGS.estimator, rule: 'evidence' as const } }],
])('refuses %s, which its helper does not have', async (name, settings) => {
  await expect(start([], { settings })).rejects.toThrow(`A running data node does not support ${name}`)
})

describe('tokens of a node with processes', () => {
  it('are conserved with ten clients, and no data I/O wakes the node', { timeout: 60_000 }, async () => {
    const { until } = await start(TEN)
    const s = await until((now) => now.periods.length >= 20)
    expect(s.violations).toEqual({ count: 0, latest: [] })
    expect(s.wakes.data).toBe(0)
    expect(s.dataIos).toBeGreaterThan(10_000)
    // Without a client that was killed every token has an owner, and no period hands out more than omega.
    expect(s.periods.map((p) => p.unowned + p.lost)).toEqual(s.periods.map(() => 0))
    for (const p of s.periods)
      expect(p.reserved + p.claimed - p.yielded).toBeLessThanOrEqual(Math.max(p.omega, p.reserved))
  })

  it('are bounded in what killed clients take with them', { timeout: 120_000 }, async () => {
    const { until, status, send } = await start(TEN)
    let killed = 0
    for (let round = 0; round < 6; round++) {
      await until((now) => now.epoch > round * 4 + 4)
      const victim = (await status()).clients.find((c) => c.state === 'active' && c.pid !== null)
      process.kill(victim?.pid ?? -1, 'SIGKILL')
      killed++
      await until((now) => now.kills.count === killed)
      expect((await send('add', `d${round}`, 'reservation=50')).code).toBe(0)
    }
    const { epoch } = await status()
    const s = await until((now) => (now.periods.at(-1)?.epoch ?? 0) > epoch + 1)
    expect(s.violations).toEqual({ count: 0, latest: [] })
    expect(s.kills.count).toBe(6)
    expect(s.kills.unowned).toBeLessThanOrEqual(6 * BATCH)
    // Reservation tokens of the period, and one batch of the pool, each.
    expect(s.kills.lost).toBeLessThanOrEqual(6 * (900 + BATCH))
    expect(s.clients.filter((c) => c.state === 'killed')).toHaveLength(6)
    expect(s.wakes.data).toBe(0)
  })

  it(
    'follow a reservation from the next period on; a client that leaves returns its own',
    { timeout: 60_000 },
    async () => {
      const { until, send } = await start([
        client('a', 500),
        client('b', 200, { workload: { kind: 'constant', perPeriod: 300 } }),
      ])
      expect(await send('set', 'a', 'reservation=1500', 'limit=1800')).toEqual({ stdout: '', stderr: '', code: 0 })
      const set = await until((now) => now.periods.at(-1)?.reserved === 1700)
      const [a] = (await until((now) => now.epoch > set.epoch + 3)).periods.at(-1)?.clients ?? []
      expect(a).toMatchObject({ reservation: 1500, limit: 1800 })
      expect((await send('remove', 'a')).code).toBe(0)
      const left = await until((now) => now.periods.at(-1)?.reserved === 200)
      expect(left.clients[0]?.state).toBe('left')
      expect(left.violations).toMatchObject({ count: 0 })
    },
  )

  it('end with the program that started the node, and leave no process and no file', { timeout: 60_000 }, async () => {
    const { daemon, until } = await start(TEN.slice(0, 3))
    const { clients } = await until((now) => now.periods.length > 1)
    await daemon.close()
    for (const { pid } of clients) expect(() => process.kill(pid ?? 0, 0)).toThrow()
    expect(readdirSync('/dev/shm').filter((name) => name.startsWith('.sluice-haechi-'))).toEqual([])
  })
})

describe('commands', () => {
  it('are refused with a reason, whatever they contain', { timeout: 60_000 }, async () => {
    const { send, status, daemon } = await start([client('a', 500, { job: '<b>\x1b[31m$(id)' })])
    const refused = [
      ...[
        ['set', 'a', 'reservation=-1'],
        ['set', 'a', 'reservation=1e3'],
        ['set', 'a', 'limit=NaN'],
        ['set', 'a'],
      ],
      ...[
        ['set', '$(reboot)', 'reservation=1'],
        ['add', '../x'],
        ['add', '-rf'],
        ['add', 'b', 'workload=burst:-1'],
      ],
      ...[
        ['add', 'b', 'job=x', 'job=y'],
        ['remove'],
        ['status', '--since', '1;id'],
        ['constructor'],
        [],
        ['set', '--run', 'x'],
      ],
    ]
    for (const args of refused) expect((await send(...args)).code, args.join(' ')).toBe(2)
    for (const args of [
      ['set', 'nobody', 'reservation=1'],
      ['set', 'a', 'reservation=3700'],
      ['add', 'a'],
      ['remove', 'nobody'],
      ['set', '--run', '0000000000000000', 'a', 'reservation=1'],
    ])
      expect((await send(...args)).code, args.join(' ')).toBe(1)
    const s = await status()
    expect(s.clients).toMatchObject([{ name: 'a', reservation: 500, job: '<b>\x1b[31m$(id)' }])
    // ASCII alone reaches a terminal or a shell.
    const printed = await answerNode(['status'], daemon)
    expect(printed.stdout).toMatch(/^[\x20-\x7e]*\n$/)
  })

  it('that are no commands end their connection, and the node goes on', { timeout: 60_000 }, async () => {
    const { controlSocket, status } = await start([])
    const junk = [
      '\0\0\0\0\n',
      '{}\n',
      '[]\n',
      '{"args":"status","stdin":""}\n',
      `{"args":[${'"x",'.repeat(200)}"x"],"stdin":""}\n`,
    ]
    for (const text of junk) {
      const answer = await new Promise<string>((resolve) => {
        let got = ''
        const socket = connect(controlSocket, () => socket.write(text))
        socket.on('data', (d: Buffer) => (got += d.toString()))
        socket.on('error', () => undefined)
        socket.on('close', () => resolve(got))
      })
      expect(answer).toBe('')
    }
    expect((await status()).node).toBe('dn0')
  })

  it('a second node is refused at the same socket', { timeout: 60_000 }, async () => {
    const { controlSocket } = await start([])
    await expect(start([], { controlSocket })).rejects.toThrow('answers there')
  })
})

describe('memory of a node', () => {
  it('has no name and no rights of other users', () => {
    const fd = openSharedFile()
    if (!fd.ok) throw new Error(fd.error.why)
    const { mode, nlink, uid } = fstatSync(fd.value)
    expect([mode & 0o777, nlink, uid]).toEqual([0o600, 0, process.getuid?.()])
    closeSync(fd.value)
    expect(openSharedFile(['/nowhere'])).toMatchObject({ ok: false, error: { code: 'HAECHI_MEMORY' } })
  })

  /** The helper as it ends over a file. */
  const over = (fd: number, role = 'client'): string => {
    const settings = ['period', 'tick', 'check', 'retry', 'batch', 'window', 'phase2'].map((name) => `${name}=1000`)
    const args = [role, 'slots=1', 'records=1', ...(role === 'client' ? ['slot=0'] : []), ...settings]
    return spawnSync(helper, args, { stdio: ['ignore', 'ignore', 'pipe', fd], encoding: 'utf8', timeout: 5000 }).stderr
  }

  it('is refused by the helper if others could open it, if it has a name, another size, or no node', () => {
    const named = join(tempFolder(), 'memory')
    const file = openSync(named, 'w+', 0o600)
    expect(over(file)).toContain('has a name')
    fchmodSync(file, 0o644)
    expect(over(file)).toContain('other users can open')
    fchmodSync(file, 0o600)
    unlinkSync(named)
    expect(over(file)).toContain('0 bytes instead of')
    closeSync(file)
    const directory = openSync(tempFolder(), 'r')
    expect(over(directory)).toContain('not a file')
    closeSync(directory)
    const fresh = openSharedFile()
    if (!fresh.ok) throw new Error(fresh.error.why)
    // Standard input is at its end at once: the node prepares the memory and ends.
    expect(over(fresh.value, 'node')).toBe('')
    expect(over(fresh.value, 'node')).toContain('already has a node')
    closeSync(fresh.value)
  })
})

describe('capacity', () => {
  it('is measured with its deviation, over intervals', { timeout: 60_000 }, async () => {
    const shape = { records: 64, reads: 0.5, completionBatch: 16, intervals: 40, intervalNs: 5e6, periodNs: 5e7 }
    const measured = await measureProfile({ helper, clients: 2, ...shape })
    if (!measured.ok) throw new Error(`${measured.error.what}: ${measured.error.why ?? ''}`)
    expect(measured.value).toMatchObject({ intervals: 40, intervalNs: 5e6 })
    expect(measured.value.globalIops).toBeGreaterThanOrEqual(measured.value.localIops)
    expect(measured.value.sigma).toBeGreaterThan(0)
  })

  it.each<[string, number[], number, number]>([
    ['of equal intervals is 0', [5, 5, 5, 5], 2, 0],
    ['of windows: those of a whole period are equal', [1, 3, 1, 3, 1, 3], 2, 0],
    ['of single intervals if there are too few', [1, 3], 2, 0.5],
  ])('its deviation %s', (_, throughputs, size, expected) => {
    expect(sigmaOf(throughputs, size)).toBeCloseTo(expected, 12)
  })
})

it('threads serve where no helper is, and the status says so', { timeout: 60_000 }, async () => {
  const { until, send } = await start([client('a', 500)], { helper: undefined, why: 'no compiler' })
  const s = await until((now) => now.periods.length >= 3)
  expect(s.backend).toEqual({ kind: 'threads', why: 'no compiler' })
  expect(s.violations.count).toBe(0)
  expect((await send('set', 'a', 'reservation=700')).code).toBe(0)
  await until((now) => now.periods.at(-1)?.reserved === 700)
})

it('the mapping holds POOL and the report slots as core/haechi lays them out', { timeout: 60_000 }, async () => {
  const { until } = await start([client('a', 500), client('b', 700)])
  const { clients } = await until((now) => now.periods.length >= 2)
  // The descriptor of a client's process: the file has no name.
  const fd = openSync(`/proc/${clients[1]?.pid}/fd/3`, 'r')
  const at = (offset: number): bigint => {
    const word = Buffer.alloc(8)
    readSync(fd, word, 0, 8, offset)
    return word.readBigInt64LE()
  }
  const s = await until(() => {
    const { epoch } = unpackPool(at(0))
    const reports = [0, 1].map((slot) => halvesOf(at(64 + 8 * slot)))
    // Between two periods the words are of different ones.
    return reports.every((r) => r.epoch === lowEpoch(epoch) && r.residual + r.spent <= 700 && r.beat > 0)
  })
  closeSync(fd)
  expect(s.violations.count).toBe(0)
})
