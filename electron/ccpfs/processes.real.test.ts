/** ccPFS as operators run it: every daemon a process, over Unix and TCP sockets, with real bytes and kills. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import type { Result } from '#core/base/result.ts'
import { LockTrace } from '#core/seqdlm/trace/lock-trace.ts'
import { readSecret } from '../wire/peer-auth.ts'
import { Door, System, type SystemOptions } from '#tests/kits/electron/ccpfs/processes.ts'
import { Ccpfs, type CcpfsFile } from './lib.ts'
import { eventsAnswer } from './events.ts'
import { ERRNO, O_CREAT } from './meta-calls.ts'
import { queryServer } from './query.ts'

const O_RDWR = 2
const LONG = { timeout: 120_000 }

let system: System
afterEach(() => system.stop())

async function started(options: SystemOptions = {}): Promise<System> {
  system = await System.start(options)
  return system
}

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

const opened = async (fs: Ccpfs, path: string): Promise<CcpfsFile> => value(await fs.open(path, { create: true }))
const content = async (file: CcpfsFile, length: number): Promise<Buffer> =>
  Buffer.from(value(await file.read(0, length)))

/** File of stripe 0 on its server. */
function objectOf({ layout: { base } }: CcpfsFile): string {
  return join(system.folder, `data${base % 2}/objects`, (base % 256).toString(16).padStart(2, '0'), String(base))
}

function readObject(file: CcpfsFile): string {
  return existsSync(objectOf(file)) ? readFileSync(objectOf(file), 'utf8') : ''
}

/** Lock steps of a server by kind, from its events. */
async function steps(server: number): Promise<Record<string, number>> {
  const { code, stdout } = await system.run('events', '--server', system.address(server), '--json').ended
  expect(code).toBe(0)
  const counts: Record<string, number> = {}
  for (const text of stdout.trim().split('\n')) {
    const { kind } = JSON.parse(text) as { kind: string }
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

describe.each(['seqdlm', 'basic', 'lustre', 'datatype'])('two clients of one file under %s', LONG, (locks) => {
  it('read what both wrote, over a Unix socket and a port, and survive a restart of all servers', async () => {
    const { servers } = await started({ locks })
    const fs = [await system.client(), await system.client()]
    const files = await Promise.all(fs.map((one) => opened(one, '/shared')))
    const BYTES = 47_008
    const WRITES = 20
    await Promise.all(
      files.map(async (file, c) => {
        for (let i = 0; i < WRITES; i++)
          value(await file.write((2 * i + c) * BYTES, Buffer.alloc(BYTES, 2 * i + c + 1)))
      }),
    )
    const expected = Buffer.concat(Array.from({ length: 2 * WRITES }, (_, i) => Buffer.alloc(BYTES, i + 1)))
    for (const file of files) {
      expect(value(await file.size())).toBe(expected.length)
      expect((await content(file, expected.length + 10)).equals(expected)).toBe(true)
    }
    // Atomic over both stripes: a reader sees one of the writes, never a mixture.
    const mixed: number[] = []
    await Promise.all(
      files.map(async (file, c) => {
        for (let i = 0; i < 15; i++) {
          value(await file.write(0, Buffer.alloc(200_000, 100 + c)))
          const seen = new Set(value(await file.read(0, 200_000)))
          if (seen.size !== 1) mixed.push(i)
        }
      }),
    )
    expect(mixed).toEqual([])
    const found = await steps(0)
    expect(found.granted).toBeGreaterThan(0)
    expect(found.revoked).toBeGreaterThan(0)
    // The Locks view draws its lanes from the same events.
    const trace = new LockTrace()
    const answer = eventsAnswer.parse(value(await queryServer({ path: system.address(0) }, undefined, 'events 0')))
    for (const { event } of answer.events) trace.feed.observe(0, event)
    expect(trace.kept.lives).toBe(answer.events.filter(({ event }) => event.kind === 'asked').length)
    expect(await system.status('--server', system.address(1))).toMatchObject({
      kind: 'server',
      isOpen: true,
      server: 1,
      servers: 2,
      clients: [{ client: 1 }, { client: 2 }],
      refusals: [],
    })
    const last = (await content(files[0] as CcpfsFile, 1))[0] as number
    for (const file of files) value(await file.fsync())
    for (const one of fs) await one.close()
    for (const daemon of servers) expect((await daemon.kill('SIGTERM')).code).toBe(0)
    await system.metaDaemon?.kill('SIGTERM')
    await system.startServer(0)
    await system.startServer(1)
    await system.startMeta()
    const again = await opened(await system.client(), '/shared')
    expected.fill(last, 0, 200_000)
    expect((await content(again, expected.length + 10)).equals(expected)).toBe(true)
  })
})

describe('a server that is killed', LONG, () => {
  it('comes back with every acknowledged write, and its clients continue with their locks', async () => {
    await started()
    const a = await system.client()
    const b = await system.client()
    const file = await opened(a, '/f')
    const other = await opened(b, '/f')
    value(await file.write(0, Buffer.alloc(300_000, 1)))
    // Flushed for the other client, and then dropped from the cache of the first.
    value(await other.write(100_000, Buffer.alloc(100_000, 2)))
    value(await file.write(250_000, Buffer.alloc(100_000, 3)))
    const expected = Buffer.alloc(350_000, 1).fill(2, 100_000, 200_000).fill(3, 250_000)
    await system.servers[0]?.kill()
    await system.servers[1]?.kill()
    const pending = other.write(0, Buffer.alloc(50_000, 4))
    expected.fill(4, 0, 50_000)
    await system.startServer(0)
    await system.startServer(1)
    value(await pending)
    expect((await content(file, 400_000)).equals(expected)).toBe(true)
    expect((await content(other, 400_000)).equals(expected)).toBe(true)
    value(await file.fsync())
    expect(a.counters.evictions + b.counters.evictions).toBe(0)
    expect(await system.status('--server', system.address(0))).toMatchObject({
      epoch: 2,
      isOpen: true,
      awaitedClients: 0,
    })
  })

  it('in the middle of appends of four clients loses and repeats none of them', async () => {
    await started()
    const RECORD = 1000
    const EACH = 40
    const clients = await Promise.all(Array.from({ length: 4 }, () => system.client()))
    const files = await Promise.all(clients.map((fs) => opened(fs, '/log')))
    const offsets: number[] = []
    const appending = Promise.all(
      files.map(async (file, c) => {
        for (let i = 0; i < EACH; i++) {
          const record = Buffer.alloc(RECORD, `${c}:${i};`)
          offsets.push(value(await file.append(record)))
          if (i % 10 === 9) value(await file.fsync())
        }
      }),
    )
    for (const server of [0, 1, 0]) {
      const before = offsets.length
      await expect.poll(() => offsets.length).toBeGreaterThan(before)
      await system.servers[server]?.kill()
      await system.startServer(server)
    }
    await appending
    const all = 4 * EACH
    expect(offsets.sort((a, b) => a - b)).toEqual(Array.from({ length: all }, (_, i) => i * RECORD))
    const log = await content(files[0] as CcpfsFile, all * RECORD + 1)
    const found: string[] = []
    for (let at = 0; at < log.length; at += RECORD) {
      const record = log.subarray(at, at + RECORD)
      const name = /^\d:\d+;/.exec(record.toString('latin1', 0, 10))?.[0] ?? ''
      expect(record.equals(Buffer.alloc(RECORD, name || 'none'))).toBe(true)
      found.push(name)
    }
    const expected = files.flatMap((_, c) => Array.from({ length: EACH }, (__, i) => `${c}:${i};`))
    expect(found.sort()).toEqual(expected.sort())
    expect(clients.map((fs) => fs.counters.evictions)).toEqual([0, 0, 0, 0])
  })

  it('waits for a dead client no longer than its recovery time', async () => {
    await started({ serverFlags: ['--recovery-seconds', '2'] })
    const { daemon, socket } = await system.clientDaemon('a')
    const door = await Door.open(socket)
    await door.hello()
    const handle = (await door.openFile('/f', O_RDWR | O_CREAT))?.result ?? -1
    expect((await door.onHandle(4, handle, 0, Buffer.alloc(1000, 7)))?.result).toBe(1000)
    expect((await door.onHandle(6, handle))?.result).toBe(0)
    for (const server of system.servers) await server.kill()
    await daemon.kill()
    await system.startServer(0)
    await system.startServer(1)
    const file = await opened(await system.client(), '/f')
    expect((await content(file, 2000)).equals(Buffer.alloc(1000, 7))).toBe(true)
    value(await file.write(0, Buffer.alloc(10, 8)))
  })
})

/** Three clients that write growing numbers to their own blocks of a file and read those of all, until `stop` returns true. */
async function numberedBlocks(clients: readonly Ccpfs[], stop: (operations: number) => boolean): Promise<string[]> {
  // Blocks of an odd length, of which some are on two stripes, and share pages with their neighbors.
  const BYTES = 3001
  const EACH = 12
  const started = Array<number>(clients.length * EACH).fill(0)
  const written = Array<number>(clients.length * EACH).fill(0)
  const problems: string[] = []
  let operations = 0
  const choose = (c: number, n: number): number => (operations * 7919 + c * 104_729 + (operations >> 3)) % n
  await Promise.all(
    clients.map(async (fs, c) => {
      const file = await opened(fs, '/numbers')
      while (!stop(operations) && problems.length === 0) {
        const kind = choose(c, 11)
        if (kind < 5) {
          const block = c * EACH + choose(c, EACH)
          const number = (started[block] ?? 0) + 1
          started[block] = number
          const bytes = Buffer.from(new Uint32Array(Math.ceil(BYTES / 4)).fill(number).buffer).subarray(0, BYTES)
          value(await file.write(block * BYTES, bytes))
          written[block] = number
        } else if (kind < 10) {
          const block = choose(c, started.length)
          const least = written[block] ?? 0
          const bytes = Buffer.from(value(await file.read(block * BYTES, BYTES)))
          const number = bytes.length >= 4 ? bytes.readUInt32LE(0) : 0
          for (let at = 0; at + 4 <= bytes.length; at += 4) {
            if (bytes.readUInt32LE(at) !== number) problems.push(`block ${block} is torn at ${at}`)
          }
          if (number < least || number > (started[block] ?? 0)) {
            problems.push(`block ${block} is ${number}, ${least} was written`)
          }
        } else value(await file.fsync())
        operations++
      }
    }),
  )
  return problems
}

describe.each(['seqdlm', 'lustre'])('servers that are killed in turns under %s', LONG, (locks) => {
  it('never show older data than were written, nor a part of a write', async () => {
    await started({ locks, stripeKb: 8, serverFlags: ['--cache-entries', '50'] })
    const limits = { minDirtyBytes: 20_000, maxRpcBytes: 16_384 }
    const clients = await Promise.all([0, 1, 2].map(() => system.client({ flushMs: 200, limits })))
    let isOver = false
    let done = 0
    const working = numberedBlocks(clients, (operations) => {
      done = operations
      return isOver
    })
    for (const victim of [0, 1, 'meta', 0, 'both', 1, 'meta', 0] as const) {
      const before = done
      await expect.poll(() => done).toBeGreaterThan(before + 20)
      if (victim === 'meta') {
        await system.metaDaemon?.kill()
        await system.startMeta()
        continue
      }
      const servers = victim === 'both' ? [0, 1] : [victim]
      for (const n of servers) await system.servers[n]?.kill()
      for (const n of servers) await system.startServer(n)
    }
    isOver = true
    expect(await working).toEqual([])
    expect(clients.map((fs) => fs.counters.evictions)).toEqual([0, 0, 0])
  })
})

describe('data that are written', LONG, () => {
  it('are flushed after a while without fsync', async () => {
    await started({ stripes: 1 })
    const file = await opened(await system.client({ flushMs: 50 }), '/f')
    value(await file.write(0, Buffer.from('old enough')))
    await expect.poll(() => readObject(file)).toBe('old enough')
  })

  it('to a storage that fails are kept: fsync names the error, and succeeds later', async () => {
    await started({ stripes: 1 })
    const fs = await system.client()
    const file = await opened(fs, '/f')
    mkdirSync(objectOf(file))
    value(await file.write(0, Buffer.from('data')))
    expect(await file.fsync()).toMatchObject({ ok: false, error: { code: 'EISDIR', errno: ERRNO.EISDIR } })
    expect((await content(file, 4)).toString()).toBe('data')
    rmdirSync(objectOf(file))
    await expect.poll(async () => (await file.fsync()).ok).toBe(true)
    expect(readObject(file)).toBe('data')
  })
})

describe('a client that is killed', LONG, () => {
  it('is evicted: what it synced stays, and others get its locks', async () => {
    await started()
    const { daemon, socket } = await system.clientDaemon('a')
    const door = await Door.open(socket)
    await door.hello()
    const handle = (await door.openFile('/f', O_RDWR | O_CREAT))?.result ?? -1
    await door.onHandle(4, handle, 0, Buffer.alloc(100_000, 1))
    expect((await door.onHandle(6, handle))?.result).toBe(0)
    await door.onHandle(4, handle, 50_000, Buffer.alloc(10_000, 2))
    await daemon.kill()
    const fs = await system.client()
    const file = await opened(fs, '/f')
    const found = await content(file, 200_000)
    expect(found.length).toBe(100_000)
    expect(found.subarray(0, 50_000).every((b) => b === 1)).toBe(true)
    expect(found.subarray(60_000).every((b) => b === 1)).toBe(true)
    value(await file.write(0, Buffer.alloc(5, 9)))
    expect((await steps(0)).evicted).toBeGreaterThan(0)
  })

  it('while it sleeps on a revoked lock is evicted, and learns that its data are lost', async () => {
    await started({ stripes: 1, serverFlags: ['--evict-seconds', '1'] })
    const { daemon, socket } = await system.clientDaemon('a')
    const door = await Door.open(socket)
    await door.hello()
    const handle = (await door.openFile('/f', O_RDWR | O_CREAT))?.result ?? -1
    await door.onHandle(4, handle, 0, Buffer.alloc(1000, 1))
    daemon.child.kill('SIGSTOP')
    const fs = await system.client()
    const file = await opened(fs, '/f')
    value(await file.write(0, Buffer.alloc(10, 2)))
    expect(value(await file.size())).toBe(10)
    daemon.child.kill('SIGCONT')
    await expect.poll(() => daemon.stderr).toContain('evicted')
    expect((await door.onHandle(6, handle))?.result).toBe(-ERRNO.EIO)
    expect((await door.onHandle(6, handle))?.result).toBe(0)
    expect((await door.onHandle(4, handle, 10, Buffer.alloc(10, 3)))?.result).toBe(10)
    expect(
      (await content(file, 100)).equals(Buffer.from([...Array<number>(10).fill(2), ...Array<number>(10).fill(3)])),
    ).toBe(true)
  })
})

describe('the metadata server that is killed', LONG, () => {
  it('keeps names and open files, and answers what it was asked meanwhile', async () => {
    await started()
    const fs = await system.client()
    value(await fs.mkdir('/d'))
    const file = await opened(fs, '/d/f')
    value(await file.write(0, Buffer.from('hello')))
    value(await fs.unlink('/d/f'))
    await system.metaDaemon?.kill()
    const pending = fs.open('/d/g', { create: true, exclusive: true })
    expect((await content(file, 10)).toString()).toBe('hello')
    await system.startMeta()
    const other = value(await pending)
    expect(value(await fs.readdir('/d')).map(String)).toEqual(['g'])
    expect((await content(file, 10)).toString()).toBe('hello')
    value(await file.close())
    value(await other.close())
    await expect.poll(async () => (await system.status('--meta', system.meta)).unlinked).toBe(0)
  })
})

describe('the door', LONG, () => {
  it('serves POSIX calls, and refuses what is not one', async () => {
    await started()
    const { socket } = await system.clientDaemon('a')
    const second = await system.clientDaemon('b')
    const door = await Door.open(socket)
    await door.hello()
    const other = await Door.open(second.socket)
    await other.hello()
    expect((await door.request(12, Buffer.from([0xed, 1, 0, 0, ...Buffer.from('/d')])))?.result).toBe(0)
    const handle = (await door.openFile('/d/f', O_RDWR | O_CREAT))?.result ?? -1
    expect(handle).toBeGreaterThan(0)
    expect((await door.onHandle(4, handle, 0, Buffer.from('hello world')))?.result).toBe(11)
    const appended = await door.onHandle(5, handle, Buffer.from('!!'))
    expect([appended?.result, appended?.payload.readUInt32LE(0)]).toEqual([2, 11])
    const there = await other.openFile('/d/f', 0)
    expect(there?.payload.readUInt32LE(0)).toBe(13)
    const length = Buffer.from([100, 0, 0, 0])
    const read = await other.onHandle(3, there?.result ?? -1, 6, length)
    expect([read?.result, read?.payload.toString()]).toEqual([7, 'world!!'])
    expect((await other.onHandle(3, there?.result ?? -1, 13, length))?.result).toBe(0)
    // Not opened for writing.
    expect((await other.onHandle(4, there?.result ?? -1, 0, Buffer.from('x')))?.result).toBe(-ERRNO.EBADF)
    expect((await door.onHandle(7, handle, 100_000))?.result).toBe(0)
    const stat = await other.request(9, Buffer.from('/d/f'))
    expect(stat?.payload.readUInt32LE(0)).toBe(100_000)
    expect(stat?.payload.readUInt32LE(16)).toBe(0o100640)
    const seconds = Number((stat?.payload.readBigUInt64LE(8) ?? 0n) / 1_000_000_000n)
    expect(Math.abs(seconds - Date.now() / 1000)).toBeLessThan(1000)
    expect((await door.onHandle(7, handle, 5))?.result).toBe(0)
    expect((await other.onHandle(8, there?.result ?? -1))?.payload.readUInt32LE(0)).toBe(5)
    expect((await other.request(14, Buffer.from('/d')))?.payload.toString()).toBe('f\0')
    expect((await other.request(11, Buffer.from('/d/f\0/g')))?.result).toBe(0)
    expect((await other.request(13, Buffer.from('/d')))?.result).toBe(0)
    expect((await other.request(10, Buffer.from('/g')))?.result).toBe(0)
    expect((await other.openFile('/g', 0))?.result).toBe(-ERRNO.ENOENT)
    // Open files outlive their name.
    expect((await door.onHandle(3, handle, 0, length))?.payload.toString()).toBe('hello')
    expect((await door.onHandle(2, handle))?.result).toBe(0)
    expect((await door.onHandle(2, handle))?.result).toBe(-ERRNO.EBADF)
    expect((await door.request(99, Buffer.alloc(4)))?.result).toBe(-ERRNO.ENOSYS)
    const status = await system.status('--client', socket)
    expect(status).toMatchObject({ kind: 'client', policy: 'SeqDLM', programs: expect.any(Array) as unknown })
    // Nothing before the hello; the daemon serves the others.
    const silent = await Door.open(socket)
    expect(await silent.openFile('/g', 0)).toBeUndefined()
    expect((await door.request(9, Buffer.from('/')))?.result).toBe(0)
  })

  it('keeps the dirty data of a program that ended', async () => {
    await started()
    const { socket, daemon } = await system.clientDaemon('a')
    const door = await Door.open(socket)
    await door.hello()
    const handle = (await door.openFile('/f', O_RDWR | O_CREAT))?.result ?? -1
    await door.onHandle(4, handle, 0, Buffer.from('kept'))
    door.end()
    expect((await daemon.kill('SIGTERM')).code).toBe(0)
    expect((await content(await opened(await system.client(), '/f'), 10)).toString()).toBe('kept')
  })
})

describe('access', LONG, () => {
  it('beyond loopback needs a key, which both sides must have', async () => {
    await started()
    const data = join(system.folder, 'data9')
    const open = await system.run('server', '--listen', '0.0.0.0:0', '--data', data).ended
    expect(open.code).toBe(1)
    expect(open.stderr).toContain('without authentication')
    const key = join(system.folder, 'key')
    const wrong = join(system.folder, 'wrong')
    for (const file of [key, wrong]) expect((await system.run('key', file).ended).code).toBe(0)
    const line = await system.run('server', '--listen', '127.0.0.1:0', '--data', data, '--key-file', key).ready()
    const at = /127\.0\.0\.1:\d+/.exec(line)?.[0] ?? ''
    expect((await system.run('status', '--server', at).ended).code).toBe(1)
    expect((await system.run('status', '--server', at, '--key-file', wrong).ended).code).toBe(1)
    expect((await system.run('status', '--server', at, '--key-file', key).ended).code).toBe(0)
    const listen = join(system.folder, 'm9')
    await system.run('meta', '--listen', listen, '--data', join(system.folder, 'meta9'), '--servers', at).ready()
    const secret = value(readSecret({ keyFile: key }))
    const fs = value(await Ccpfs.connect({ meta: { path: listen }, secret }))
    const file = await opened(fs, '/f')
    value(await file.write(0, Buffer.from('secret')))
    expect((await content(file, 10)).toString()).toBe('secret')
    value(await file.fsync())
    await fs.close()
    const refused = await Ccpfs.connect({ meta: { path: listen }, connectMs: 1000 })
    expect(refused.ok).toBe(false)
  })

  it('with bytes that are not the protocol ends that connection alone, and says why', async () => {
    await started()
    const fs = await system.client()
    const file = await opened(fs, '/f')
    value(await file.write(0, Buffer.from('safe')))
    const answers: string[] = []
    for (let i = 0; i < 40; i++) {
      const bytes = Buffer.from(
        Array.from({ length: 1 + ((i * 37) % 300) }, (_, k) => (i * 31 + k * 17 * (i + 1)) & 255),
      )
      const socket = connect(system.address(0))
      await new Promise<void>((resolve) => {
        const chunks: Buffer[] = []
        socket.on('data', (chunk: Buffer) => chunks.push(chunk))
        socket.on('error', () => undefined)
        socket.on('close', () => {
          answers.push(Buffer.concat(chunks).toString('latin1'))
          resolve()
        })
        // Closed by the server, or after all was sent.
        socket.end(bytes)
      })
    }
    expect(answers.filter((text) => text.includes('E_PROTOCOL')).length).toBeGreaterThan(10)
    const other = await opened(await system.client(), '/f')
    expect((await content(other, 10)).toString()).toBe('safe')
    expect(await system.status('--server', system.address(0))).toMatchObject({ epoch: 1, evictions: 0 })
  })

  it('to data of another file system is refused', async () => {
    await started()
    await (await system.client()).close()
    const listen = join(system.folder, 'm9')
    const addresses = `${system.address(0)},${system.address(1)}`
    await system.run('meta', '--listen', listen, '--data', join(system.folder, 'meta9'), '--servers', addresses).ready()
    const refused = await Ccpfs.connect({ meta: { path: listen } })
    expect(refused).toMatchObject({
      ok: false,
      error: { why: expect.stringContaining('another file system') as string },
    })
  })
})

describe('the example of docs/ccpfs.md', LONG, () => {
  it('runs', async () => {
    await started()
    const page = readFileSync(join(import.meta.dirname, '../../docs/ccpfs.md'), 'utf8')
    const code = /```ts\n([^`]+)```/.exec(page)?.[1] ?? ''
    const lib = JSON.stringify(pathToFileURL(join(import.meta.dirname, 'lib.ts')).href)
    const program = join(system.folder, 'example.mts')
    writeFileSync(
      program,
      `${code.replace(/'#electron\/ccpfs\/lib.ts'/, lib).replace('metaSocket', JSON.stringify(system.meta))}\nprocess.stdout.write(text)\n`.replace(
        'const connected',
        'let text = ""\nconst connected',
      ),
    )
    const run = spawnSync(process.execPath, [program], { encoding: 'utf8' })
    expect(run.stderr).toBe('')
    expect(run.stdout).toBe('checkpoint 1')
  })
})
