/** The door of ccPFS before a server in memory, and before one that answers wrongly: EIO, never another program's memory. */
import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  doorTrial,
  library,
  MOUNT,
  noDoor,
  runProgram,
  shortFolder,
  type Ended,
} from '#tests/kits/electron/ccpfs/door-kit.ts'
import { DoorServer, replyFrame, type DoorServerOptions } from '#tests/kits/electron/ccpfs/door-server.ts'
import { doorSuite } from '#tests/kits/electron/ccpfs/door-suite.ts'
import { System } from '#tests/kits/electron/ccpfs/processes.ts'
import { resourcePath } from '../files/resources.ts'
import { doorEnvironment, doorLibrary } from './door-library.ts'

const listen = async (folder: string, options: DoorServerOptions = {}): Promise<DoorServer & { socket: string }> => {
  const server = new DoorServer(options)
  const socket = join(folder, 'door.socket')
  await server.listen(socket)
  return Object.assign(server, { socket })
}

doorSuite({
  name: 'a server in memory',
  start: async (folder) => {
    const server = await listen(folder)
    return {
      socket: server.socket,
      close: async () => {
        await server.close()
        expect(server.violations).toEqual([])
      },
    }
  },
})

doorSuite({
  name: 'sluice ccpfs client',
  start: async () => {
    const cluster = await System.start()
    const { socket } = await cluster.clientDaemon('node')
    return { socket, close: () => cluster.stop() }
  },
})

/** The library with checks of memory, and the runtime of these checks. */
async function sanitized(): Promise<{ library: string; env: Record<string, string> } | undefined> {
  const made = await doorLibrary({ isSanitized: true })
  const runtime = execFileSync('cc', ['-print-file-name=libasan.so'], { encoding: 'utf8' }).trim()
  if (!made.ok || !isAbsolute(runtime)) return undefined
  const env = {
    LD_PRELOAD: `${runtime} ${made.value}`,
    // Programs that are not built with the checks free nothing at their end.
    ASAN_OPTIONS: 'detect_leaks=0:abort_on_error=0:exitcode=99',
    UBSAN_OPTIONS: 'print_stacktrace=1:exitcode=99',
  }
  return { library: made.value, env }
}

const checked = noDoor === '' ? await sanitized() : undefined
if (noDoor === '' && !checked) process.stderr.write('skipped, no libasan: the door is not checked with sanitizers\n')

describe.skipIf(noDoor !== '')('door: daemons that fail', () => {
  const trial = doorTrial()
  let server: (DoorServer & { socket: string }) | undefined
  afterEach(() => server?.close())

  const CALLS = [
    'open 0 f 66 420',
    'write 0 9000 1',
    'pread 0 9000 0',
    'readv 0 9000',
    'append 0 1',
    'write 0 10 1',
    'fstat 0',
    'stat f',
    'list .',
    'lseek 0 0 2',
    'stream f r 10 1',
    'rename f g',
    'close 0',
  ]

  const run = (socket: string, lines: readonly string[], timeoutMs = 20_000): Promise<Ended> =>
    runProgram(socket, trial, [MOUNT], {
      stdin: `${lines.join('\n')}\n`,
      timeoutMs,
      ...(checked ? { env: checked.env } : {}),
    })

  const head = (length: number, id: number, result: number): Buffer => {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt32LE(length, 0)
    bytes.writeUInt32LE(id, 4)
    bytes.writeInt32LE(result, 8)
    return bytes
  }
  const bytes = (n: number): Buffer => Buffer.alloc(n, 0x41)
  const WRONG: Record<string, (id: number) => Buffer> = {
    'a length beyond the limit': (id) => Buffer.concat([head(0xffffffff, id, 5), bytes(5000)]),
    'a length without a result': (id) => head(4, id, 0),
    'more content than was asked for': (id) => replyFrame(id, { result: 1 << 20, content: bytes(1 << 20) }),
    'less content than the result': (id) => replyFrame(id, { result: 9000, content: bytes(10) }),
    'a result beyond the request': (id) => replyFrame(id, { result: 0x7fffffff }),
    'a number of no request': (id) => replyFrame(id + 77, { result: 0 }),
    'an error with content': (id) => replyFrame(id, { result: -5, content: bytes(5) }),
    'an impossible error': (id) => replyFrame(id, { result: -0x80000000 }),
    'two replies': (id) => Buffer.concat([replyFrame(id, { result: 0 }), replyFrame(id, { result: 0 })]),
    'names with slashes': (id) => replyFrame(id, { result: 1, content: Buffer.from('../../etc\0') }),
    'names that are too long': (id) => replyFrame(id, { result: 1, content: bytes(1 << 16) }),
    'random bytes': () => Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919) >> 3)),
  }
  const OPERATIONS = [1, 3, 4, 5, 8, 9, 14]

  it.each(Object.entries(WRONG))('%s', async (_, wrong) => {
    for (const at of OPERATIONS) {
      const one = await listen(shortFolder(), { instead: (op, id) => (op === at ? wrong(id) : undefined) })
      const got = await run(one.socket, CALLS)
      await one.close()
      // Every call was answered, and no check of memory failed.
      expect(got.stderr).not.toMatch(/Sanitizer|runtime error/)
      expect(got.code).toBe(0)
      expect(got.stdout.trim().split('\n')).toHaveLength(CALLS.length)
      expect(one.violations).toEqual([])
    }
  })

  it('a wrong reply is EIO, and the other files of that connection fail with it', async () => {
    let wrongs = 0
    server = await listen(shortFolder(), {
      instead: (op, id) => (op === 3 && wrongs++ === 0 ? replyFrame(id, { result: 99, content: bytes(3) }) : undefined),
    })
    const lines = [
      'open 0 f 66 420',
      'open 1 g 66 420',
      'write 0 100 1',
      'pread 0 100 0',
      'write 1 5 1',
      'open 2 f 2 0',
      'pread 2 9 0',
    ]
    const { stdout } = await run(server.socket, lines)
    const last = stdout.trim().split('\n').slice(3)
    expect(last).toEqual(['pread EIO', 'write EIO', 'open 0', expect.stringMatching(/^pread 9 /)])
  })

  it('no daemon: ENOTCONN with a message, and other files are unaffected', async () => {
    const text = 'cat $D/f $D/g /proc/self/comm'
    const got = await runProgram(join(shortFolder(), 'none'), 'bash', ['-c', text], { env: { D: MOUNT } })
    expect(got).toMatchObject({ code: 1, stdout: 'cat\n' })
    expect(got.stderr).toContain(`cat: ${MOUNT}/g: Transport endpoint is not connected`)
    expect(got.stderr.match(/no connection to the client daemon/g)).toHaveLength(1)
  })

  it('requests of several threads are under way together, and answered in any order', async () => {
    const folder = shortFolder()
    server = await listen(folder, { hold: { op: 3, count: 8 } })
    const lines = ['open 0 f 66 420', 'write 0 8000 1', 'threads 0 8']
    const { stdout } = await run(server.socket, lines)
    expect(stdout).toBe((await runProgram(undefined, trial, [folder], { stdin: lines.join('\n') + '\n' })).stdout)
  })

  it('a daemon that was restarted: open files fail, new ones do not', async () => {
    let writes = 0
    const one = (server = await listen(shortFolder(), {
      instead: (op) => {
        if (op === 4 && ++writes === 2) one.disconnect()
        return undefined
      },
    }))
    const lines = ['open 0 f 66 420', 'write 0 5 1', 'write 0 5 1', 'fsync 0', 'open 1 f 2 0', 'fsync 1', 'close 0']
    const { stdout } = await run(server.socket, lines)
    expect(stdout).toBe('open 0\nwrite 5\nwrite EIO\nfsync EIO\nopen 0\nfsync 0\nclose 0\n')
  })

  it('a daemon that does not answer: EIO after the timeout', async () => {
    server = await listen(shortFolder(), { instead: (op) => (op === 6 ? Buffer.alloc(0) : undefined) })
    const got = await run(server.socket, ['open 0 f 66 420', 'fsync 0', 'write 0 5 1', 'open 1 f 0 0'], 300)
    expect(got.stdout).toBe('open 0\nfsync EIO\nwrite EIO\nopen 0\n')
  })

  it.skipIf(!checked)('programs with checks of memory', async () => {
    server = await listen(shortFolder())
    const text =
      'seq 9999 > $D/f; sort -r $D/f > $D/g; cp $D/g $D/h; cmp $D/g $D/h; (cat $D/h; ls $D) | tail -4; rm $D/f $D/g $D/h'
    const env = { ...checked?.env, D: MOUNT }
    expect(await runProgram(server.socket, 'bash', ['-c', text], { env })).toEqual({
      code: 0,
      stdout: '1\nf\ng\nh\n',
      stderr: '',
    })
    expect(server.violations).toEqual([])
  })
})

describe.skipIf(noDoor !== '')('sluice ccpfs run', () => {
  const sluice = (...args: string[]): Promise<Ended> =>
    runProgram(undefined, process.execPath, [resourcePath('../electron/cli/sluice.mjs'), 'ccpfs', 'run', ...args])

  it('runs a program with files of ccPFS, and exits as it does', async () => {
    const server = await listen(shortFolder())
    const text = 'echo "$0" > /ccpfs/f; cat /ccpfs/f; exit 7'
    const ended = await sluice('--mount', '/ccpfs', '--socket', server.socket, 'sh', '-c', text, 'it works')
    await server.close()
    expect(ended).toEqual({ code: 7, stdout: 'it works\n', stderr: '' })
  })

  it('says that there is no daemon, and runs the program', async () => {
    const socket = join(shortFolder(), 'none')
    const text = 'cat /ccpfs/f; echo unaffected'
    const { code, stdout, stderr } = await sluice('--mount', '/ccpfs', '--socket', socket, 'sh', '-c', text)
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'unaffected\n' })
    expect(stderr).toContain(`Start it, or check SLUICE_CCPFS_SOCKET (${socket})`)
  })

  it('says that the socket is in a folder that others can enter', async () => {
    const folder = shortFolder()
    chmodSync(folder, 0o755)
    const ended = await sluice('--mount', '/ccpfs', '--socket', join(folder, 'x'), 'true')
    expect(ended).toMatchObject({ code: 0, stdout: '' })
    expect(ended.stderr).toMatch(/^sluice ccpfs: The folder .* cannot be used: other users can enter it/)
  })

  it('refuses a prefix that is not absolute', async () => {
    const ended = await sluice('--mount', 'ccpfs', '--socket', '/run/x', 'true')
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain('ccpfs cannot be a mount of ccPFS')
  })
})

describe('environment of the door', () => {
  const good = { library: '/lib/x.so', mount: '/ccpfs', socket: '/run/x' }

  it('is before other libraries', () => {
    expect(doorEnvironment(good, '/lib/other.so')).toEqual({
      ok: true,
      value: {
        LD_PRELOAD: '/lib/x.so /lib/other.so',
        SLUICE_CCPFS_MOUNT: '/ccpfs',
        SLUICE_CCPFS_SOCKET: '/run/x',
        SLUICE_CCPFS_LOCKS: 'refused',
        SLUICE_CCPFS_TIMEOUT_MS: '60000',
      },
    })
  })

  it.each([
    [{ mount: '/' }, 'DOOR_MOUNT'],
    [{ mount: 'ccpfs' }, 'DOOR_MOUNT'],
    [{ mount: '/a/../b' }, 'DOOR_MOUNT'],
    [{ mount: '/a/' }, 'DOOR_MOUNT'],
    [{ mount: `/${'a'.repeat(2000)}` }, 'DOOR_MOUNT'],
    [{ socket: 'run/x' }, 'DOOR_SOCKET'],
    [{ socket: `/${'a'.repeat(120)}` }, 'DOOR_SOCKET'],
    [{ timeoutMs: 0 }, 'DOOR_TIMEOUT'],
    [{ timeoutMs: 1.5 }, 'DOOR_TIMEOUT'],
    [{ library: '/a b/x.so' }, 'DOOR_PRELOAD'],
  ])('refuses %o', (wrong, code) => {
    expect(doorEnvironment({ ...good, ...wrong }, '')).toMatchObject({ ok: false, error: { code } })
  })

  it('the library is compiled on this machine', () => {
    expect(library).toMatchObject({ ok: true })
  })
})
