/** The stage in real programs: calls that are limited, calls that are not, and the effect of a bad controller (none). */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { localToStage } from '#core/padll/wire/stage-wire.ts'
import {
  limit,
  noStage,
  rateOf,
  ScriptedController,
  shortFolder,
  Staged,
  trialProgram,
  type Script,
} from '#tests/kits/electron/padll/scripted-controller.ts'
import type { StageSettings } from './stage-environment.ts'

const trial = trialProgram()
const OPENS = limit('open', 'no_op', 1000)
/** Longer than any regular run of these programs. */
const HANG_MS = 15_000

let folder: string
let file: string
let controllers: ScriptedController[] = []
let running: Staged[] = []

beforeEach(() => {
  folder = shortFolder()
  mkdirSync(join(folder, 'managed'))
  file = join(folder, 'managed/file')
  writeFileSync(file, 'content')
})
afterEach(() => {
  for (const c of controllers) c.close()
  for (const r of running) r.child.kill('SIGKILL')
  controllers = []
  running = []
})

async function controller(script: Script, path?: string): Promise<ScriptedController> {
  const one = await new ScriptedController(script, path).listen()
  controllers.push(one)
  return one
}

function start(socket: string, command: string, args: readonly string[], more: Partial<StageSettings> = {}): Staged {
  const mounts = [join(folder, 'managed')]
  const one = new Staged(command, args, { job: 'job.1', mounts, socket, startWaitMs: 5000, ...more })
  running.push(one)
  return one
}

/** Runs one command of the trial program to its end. */
const run = (c: { path: string }, word: string, ...args: (string | number)[]): Staged =>
  start(c.path, trial, [word, ...args.map(String)])

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe.skipIf(noStage !== '')('limits', () => {
  it.each([1, 8])('opens of %i threads at the rate, within a twentieth', async (threads) => {
    const c = await controller({ rules: OPENS })
    const ended = await run(c, 'loop', file, 3, threads, 951).ended
    const { rate, best } = rateOf(ended)
    expect(best).toBeGreaterThan(950)
    expect(rate).toBeLessThan(1050)
    await expect.poll(() => c.stages.length).toBe(1)
  })

  it('fractions of an operation a refill are not lost', async () => {
    const c = await controller({ rules: limit('open', 'no_op', 150) })
    const { rate, best } = rateOf(await run(c, 'loop', file, 3, 2, 150 * 0.951).ended)
    expect(best).toBeGreaterThan(150 * 0.95)
    expect(rate).toBeLessThan(150 * 1.05)
  })

  it('bytes, in slices of what a refill gives', async () => {
    const c = await controller({ rules: limit('no_op', 'data_op', 4e6) })
    const { rate, best } = rateOf(await run(c, 'writes', file, 3, 1, 4e6 * 0.951).ended)
    expect(best).toBeGreaterThan(4e6 * 0.95)
    expect(rate).toBeLessThan(4e6 * 1.05)
  })

  it.each(['vectors', 'streams'])('bytes of %s', async (word) => {
    const c = await controller({ rules: limit('no_op', 'data_op', 4e6) })
    const { rate, best } = rateOf(await run(c, word, file, 3, 1, 4e6 * 0.951).ended)
    expect(best).toBeGreaterThan(4e6 * 0.95)
    expect(rate).toBeLessThan(4e6 * 1.05)
  })

  it('reads and writes with several buffers or of a stream are seen with the bytes they request', async () => {
    const c = await controller({ rules: limit('no_op', 'data_op', 1e9) })
    const one = run(c, 'blocks', file, 0)
    expect(await one.ended).toMatchObject({ code: 0, stdout: expect.not.stringContaining('failed') as string })
    const report = one.report()
    const seen = ['readv', 'writev', 'preadv', 'pwritev', 'fread', 'fwrite'].map((call) => {
      const { calls = 0, unmanaged = 0, bypassed = 0, bytes = 0, errors = 0 } = report[call] ?? {}
      return [call, { limited: calls - unmanaged - bypassed, bytes, errors }]
    })
    // The calls that the kernel refused request nothing, and the stream in memory is no file.
    expect(Object.fromEntries(seen)).toEqual({
      readv: { limited: 1, bytes: 8, errors: 1 },
      writev: { limited: 1, bytes: 8, errors: 1 },
      preadv: { limited: 2, bytes: 13, errors: 0 },
      pwritev: { limited: 2, bytes: 13, errors: 0 },
      fread: { limited: 2, bytes: 76, errors: 0 },
      fwrite: { limited: 1, bytes: 10, errors: 0 },
    })
  })

  it('a ring of io_uring is reported: its submissions cannot be limited', async ({ skip }) => {
    const c = await controller({ rules: OPENS })
    const one = run(c, 'uring', file, 4)
    const { stdout } = await one.ended
    if (stdout.trim() !== 'ring') skip(`no io_uring here: ${stdout.trim()}`)
    await expect.poll(() => c.stages[0]?.failed).toEqual([expect.stringContaining('E_IO_URING')])
    expect(one.ioUring()).toEqual([{ refused: false, rings: 1 }])
  })

  it('io_uring is refused where that is asked for, also to children', async () => {
    const c = await controller({ rules: OPENS })
    const args = ['-c', `"${trial}" uring "${file}" 0`]
    const one = start(c.path, 'sh', args, { isIoUringRefused: true })
    expect(await one.ended).toMatchObject({ code: 0, stdout: 'ENOSYS\n', stderr: '' })
    expect(one.ioUring()).toContainEqual({ refused: true, rings: 0 })
  })

  it('a new rate while threads wait for the old one', async () => {
    const c = await controller({ rules: limit('open', 'no_op', 1) })
    const one = run(c, 'some', file, 0, 400)
    await expect.poll(() => c.stages.length).toBe(1)
    await pause(500)
    c.stages[0]?.send({
      kind: 'enforce',
      request: c.nextRequest,
      epoch: 3,
      command: { channel: 1000, object: 1, rate: 1000 },
    })
    const { count, seconds } = rateOf(await one.ended)
    expect(count).toBe(400)
    expect(seconds).toBeLessThan(3)
    expect(seconds).toBeGreaterThan(0.7)
  })

  it('a controller with a lower epoch is not obeyed', async () => {
    const c = await controller({ rules: OPENS })
    const one = run(c, 'loop', file, 2, 1)
    await expect.poll(() => c.stages.length).toBe(1)
    const command = { channel: 1000, object: 1, rate: 500 }
    c.stages[0]?.send({ kind: 'enforce', request: c.nextRequest, epoch: 9, command })
    c.stages[0]?.send({ kind: 'enforce', request: c.nextRequest, epoch: 8, command: { ...command, rate: 1e6 } })
    c.stages[0]?.send({ kind: 'enforce', request: c.nextRequest, epoch: 9, command: { ...command, channel: 5 } })
    const { rate } = rateOf(await one.ended)
    expect(rate).toBeLessThan(700)
    await expect
      .poll(() => c.stages[0]?.failed)
      .toEqual([expect.stringContaining('E_STALE'), expect.stringContaining('E_CHANNEL')])
  })

  it('every way to a file is seen, and nothing else', async () => {
    const c = await controller({ rules: limit('no_op', 'meta_op', 1e9) })
    const managed = join(folder, 'managed')
    const one = run(c, 'ways', managed, 0)
    expect(await one.ended).toMatchObject({ code: 0, stdout: expect.not.stringContaining('failed') as string })
    const report = one.report()
    const limited = (call: string): number => {
      const t = report[call] ?? { calls: 0, unmanaged: 0, bypassed: 0 }
      return t.calls - t.unmanaged - t.bypassed
    }
    const calls = [
      'open',
      'openat',
      'close',
      'fopen',
      'fclose',
      'rename',
      'mkdirat',
      'rmdir',
      'stat',
      'fstatat',
      'fstat',
    ]
    expect(Object.fromEntries(calls.map((name) => [name, limited(name)]))).toEqual({
      open: 3,
      openat: 1,
      close: 6,
      fopen: 1,
      fclose: 1,
      rename: 1,
      mkdirat: 1,
      rmdir: 1,
      stat: 1,
      fstatat: 1,
      fstat: 1,
    })
    expect([limited('opendir'), limited('closedir'), limited('unlinkat')]).toEqual([1, 1, 1])
    // Data calls of managed descriptors, copies included: no channel matches them.
    expect(report.write).toMatchObject({ bytes: 8, bypassed: 4 })
  })

  it('find and tar run as ever, at the limit', async () => {
    for (let d = 0; d < 30; d++) {
      mkdirSync(join(folder, 'managed', `d${d}`))
      for (let f = 0; f < 5; f++) writeFileSync(join(folder, 'managed', `d${d}`, `f${f}`), 'x')
    }
    const managed = join(folder, 'managed')
    const c = await controller({ rules: limit('no_op', 'meta_op', 400) })
    for (const [command, args] of [
      ['find', [managed, '-type', 'f', '-size', '-100k']],
      ['tar', ['-cf', join(folder, 'out.tar'), '-C', managed, '.']],
    ] as const) {
      const plain = new Promise<string>((resolve) => {
        const free = new Staged(command, args, { job: 'none', mounts: ['/nowhere'], socket: '/nowhere.sock' })
        void free.ended.then(({ stdout }) => resolve(stdout))
      })
      const began = performance.now()
      const one = start(c.path, command, args)
      const ended = await one.ended
      const seconds = (performance.now() - began) / 1000
      expect(ended).toMatchObject({ code: 0, stderr: '', stdout: await plain })
      const limited = Object.values(one.report()).reduce((s, t) => s + t.calls - t.unmanaged - t.bypassed, 0)
      expect(limited).toBeGreaterThan(150)
      // One refill may be used at once.
      expect(limited / seconds).toBeLessThan(400 * 1.05)
    }
  })

  it('files elsewhere never wait', async () => {
    const c = await controller({ rules: limit('no_op', 'meta_op', 1) })
    const other = join(folder, 'managed-not')
    writeFileSync(other, '')
    const one = run(c, 'some', other, 0, 5000)
    expect(rateOf(await one.ended).count).toBe(5000)
    expect(one.report().open).toMatchObject({ calls: 5000, unmanaged: 5000, waited: 0 })
    expect(c.stages).toHaveLength(0)
  })

  it('an unknown operation or a bad rule is refused by word', async () => {
    const [channel, object] = OPENS as [(typeof OPENS)[0], (typeof OPENS)[0]]
    const c = await controller({ rules: [channel, channel, object, object, { ...object, channel: 4 }] })
    // The longest wait for the rules: on a busy machine the program would otherwise end without having seen them.
    await start(c.path, trial, ['some', file, '0', '3'], { startWaitMs: 10_000 }).ended
    await expect
      .poll(() => c.stages[0]?.failed.map((f) => f.split(':')[0]))
      .toEqual(['E_DUPLICATE', 'E_DUPLICATE', 'E_CHANNEL'])
  })

  it.each(['"; rm -rf /', 'a\nb: c', "it's ${HOME} `id`", '../../etc', 'ü'.repeat(100), '\u202e<img src=x>'])(
    'job id %j is text',
    async (job) => {
      const c = await controller({ rules: OPENS })
      await start(c.path, trial, ['some', file, '0', '1'], { job }).ended
      await expect.poll(() => c.stages.map((s) => s.identity)).toMatchObject([{ job }])
    },
  )
})

describe.skipIf(noStage !== '')('a program continues', () => {
  const words = [
    ['storm', 1, 8],
    ['forked', 1, 1],
    ['exec', 0.2, 6],
    ['spawned', 0, 1],
    ['closing', 0, 20],
    ['bare', 0, 1],
    ['leaving', 0, 1],
    ['signals', 1, 1],
    ['faults', 0, 1],
    ['wild', 0, 1],
  ] as const
  it.each(words)('%s', { timeout: HANG_MS }, async (word, seconds, number) => {
    const c = await controller({ rules: OPENS })
    const ended = await run(c, word, file, seconds, number).ended
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(ended.stdout).not.toContain('failed')
    if (word === 'signals' || word === 'exec') expect(rateOf(ended).rate).toBeLessThan(1100)
    await expect.poll(() => c.stages.every((s) => s.ended)).toBe(true)
  })

  it.each(words)('%s, without a controller', { timeout: HANG_MS }, async (word, seconds, number) => {
    const ended = await run({ path: join(folder, 'none.sock') }, word, file, seconds, number).ended
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(ended.stdout).not.toContain('failed')
  })

  it('at its rate after the controller died, where it shall hold it', async () => {
    const c = await controller({ rules: OPENS, lease: { ns: 200e6, onExpiry: 'hold' } })
    const one = run(c, 'loop', file, 3, 4, 951)
    await expect.poll(() => c.stages.length).toBe(1)
    c.close()
    const { rate, best } = rateOf(await one.ended)
    expect(rate).toBeLessThan(1050)
    expect(best).toBeGreaterThan(950)
  })

  it('at the fallback rate after the lease, and again at its own when the controller speaks', async () => {
    const c = await controller({ rules: OPENS, lease: { ns: 500e6, onExpiry: { rate: 100 } } })
    const one = run(c, 'loop', file, 4, 1)
    await expect.poll(() => c.stages.length).toBe(1)
    await pause(2500)
    c.stages[0]?.send({ kind: 'alive' })
    // 0.5 s at 1000, 2 s at 100, 0.5 s at 1000, then 100.
    const { count } = rateOf(await one.ended)
    expect(count).toBeGreaterThan(1000)
    expect(count).toBeLessThan(1700)
  })

  it('at the fallback rate of a lost controller, until another one says more', async () => {
    const lease = { ns: 500e6, onExpiry: { rate: 100 } } as const
    const c = await controller({ rules: OPENS, lease })
    const one = run(c, 'loop', file, 4, 1)
    await expect.poll(() => c.stages.length).toBe(1)
    c.close()
    await pause(1500)
    rmSync(c.path, { force: true })
    const d = await controller({ rules: OPENS }, c.path)
    await expect.poll(() => d.stages.length).toBe(1)
    // With a new layout it keeps its rate.
    const { count } = rateOf(await one.ended)
    expect(count).toBeGreaterThan(600)
    expect(count).toBeLessThan(1100)
  })

  it('a fallback rate above its own changes nothing', async () => {
    const c = await controller({ rules: OPENS, lease: { ns: 200e6, onExpiry: { rate: 50_000 } } })
    const { rate } = rateOf(await run(c, 'loop', file, 2, 1).ended)
    expect(rate).toBeLessThan(1050)
  })

  it('unlimited when it was sent away', async () => {
    const c = await controller({
      rules: [],
      instead: (socket) => socket.write(localToStage.encode({ kind: 'refused', why: 'no' })),
    })
    const { count, seconds } = rateOf(await run(c, 'some', file, 0, 20_000).ended)
    expect(count).toBe(20_000)
    expect(seconds).toBeLessThan(10)
  })

  const hostile: [string, (socket: Socket) => void][] = [
    ['says nothing', () => undefined],
    ['sends garbage', (s) => s.write(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'.repeat(1000)))],
    ['sends a frame of 4 GiB', (s) => s.write(Buffer.from([255, 255, 255, 255, 1, 16]))],
    ['sends half a frame', (s) => s.write(localToStage.encode({ kind: 'collect', request: 1 }).subarray(0, 7))],
    ['hangs up', (s) => s.destroy()],
    [
      'never stops asking and never reads',
      (s) => {
        s.pause()
        const flood = Buffer.concat(
          Array.from({ length: 5000 }, () => localToStage.encode({ kind: 'collect', request: 1 })),
        )
        for (let i = 0; i < 20; i++) s.write(flood)
      },
    ],
    [
      'sets absurd rates',
      (s) => {
        for (const rule of OPENS) s.write(localToStage.encode({ kind: 'housekeeping', request: 1, rule }))
        s.write(localToStage.encode({ kind: 'ready', request: 1, lease: { ns: 0, onExpiry: 'hold' } }))
        for (const rate of [NaN, -1, Infinity, 1e300]) {
          const command = { channel: 1000, object: 1, rate, refillNs: 1 }
          s.write(localToStage.encode({ kind: 'enforce', request: 1, epoch: 1, command }))
        }
      },
    ],
  ]
  it.each(hostile)('though the controller %s', { timeout: HANG_MS }, async (_what, instead) => {
    const c = await controller({ rules: [], instead })
    const one = start(c.path, trial, ['some', file, '0', '1500'], { startWaitMs: 50 })
    const ended = await one.ended
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(rateOf(ended).count).toBe(1500)
  })

  it('though the socket is removed and comes back', { timeout: HANG_MS }, async () => {
    const c = await controller({ rules: OPENS })
    rmSync(c.path)
    const one = run(c, 'loop', file, 3, 1)
    await pause(700)
    const d = await controller({ rules: OPENS }, c.path)
    expect(await one.ended).toMatchObject({ code: 0 })
    expect(d.stages).toHaveLength(1)
  })
})
