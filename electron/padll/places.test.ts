/** Meeting points of the daemons, their access control, and their persistent state. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { sendCommand, serveCommand } from './control-channel.ts'
import { readGlobalConfig, readLocalConfig } from './global-config.ts'
import { cacheFolder } from '#electron/files/native-library.ts'
import { parseAddress, printAddress } from '#electron/wire/address.ts'
import { listenAuthenticated, type Listening } from '#electron/wire/listen.ts'
import { padllFolder } from './places.ts'
import { shortFolder } from '#tests/kits/electron/padll/scripted-controller.ts'
import { stageEnvironment } from './stage-environment.ts'
import { stageLibrary } from './stage-library.ts'
import { NO_STATE, readState, writeState } from './state-file.ts'

const open: Listening[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const options = (onLost: (why: string) => void = () => undefined) => ({
  what: 'a local controller',
  most: 10,
  peering: { purpose: 'test/1', secret: undefined },
  onSocket: () => undefined,
  onLost,
})

async function listening(path: string, onLost?: (why: string) => void): Promise<Listening> {
  const one = await listenAuthenticated({ path }, options(onLost))
  if (!one.ok) throw new Error(one.error.what)
  open.push(one.value)
  return one.value
}

describe('sockets', () => {
  it('are in a folder that no other user can enter', async () => {
    const folder = join(shortFolder(), 'new')
    await listening(join(folder, 's'))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 's')).mode & 0o777).toBe(0o600)
  })

  it('are refused in a folder of another user, through a link, or under a name that is too long', async () => {
    const base = shortFolder()
    const shared = join(base, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o777)
    symlinkSync(shared, join(base, 'link'))
    const codes: (string | undefined)[] = []
    for (const path of [join(shared, 's'), join(base, 'link/s'), join(base, 'x'.repeat(120)), 'relative/s']) {
      const refused = await listenAuthenticated({ path }, options())
      codes.push(refused.ok ? undefined : refused.error.code)
    }
    expect(codes).toEqual(['SOCKET_FOLDER', 'SOCKET_FOLDER', 'SOCKET_PATH', 'SOCKET_PATH'])
  })

  it('of a living program are left alone, those of a dead one taken over', async () => {
    const path = join(shortFolder(), 's')
    const first = await listening(path)
    expect(await listenAuthenticated({ path }, options())).toMatchObject({
      ok: false,
      error: { code: 'ADDRESS_TAKEN', what: `Cannot listen at ${path}` },
    })
    await first.close()
    expect(existsSync(path)).toBe(false)
    const dead = createServer()
    await new Promise<void>((resolve) => dead.listen(path, resolve))
    renameSync(path, `${path}.kept`)
    await new Promise((resolve) => dead.close(resolve))
    renameSync(`${path}.kept`, path)
    await listening(path)
    expect(await new Promise((resolve) => connect(path).once('connect', () => resolve('up')))).toBe('up')
  })

  it('are not taken from under a file that is no socket', async () => {
    const path = join(shortFolder(), 's')
    writeFileSync(path, 'precious')
    expect(await listenAuthenticated({ path }, options())).toMatchObject({
      ok: false,
      error: { code: 'ADDRESS_TAKEN' },
    })
    expect(existsSync(path)).toBe(true)
  })

  it('that are removed or replaced are missed', async () => {
    const path = join(shortFolder(), 's')
    let why = ''
    await listening(path, (output) => (why = output))
    rmSync(path)
    await expect.poll(() => why).toContain('was removed')
  })
})

describe('addresses', () => {
  it('are paths or ports', () => {
    for (const text of ['/run/a b/s', 'node1:7424', '[::1]:80', '127.0.0.1:0']) {
      const read = parseAddress(text)
      expect(read.ok && printAddress(read.value)).toBe(text)
    }
    expect(parseAddress('unix:/a')).toEqual({ ok: true, value: { path: '/a' } })
    for (const text of ['', 'node', 'node:', 'node:70000', '$(id):1', 'a:b:c', '::1:80', '../s']) {
      expect(parseAddress(text), text).toMatchObject({ ok: false, error: { code: 'ADDRESS' } })
    }
  })

  it('are of one user', () => {
    expect(padllFolder({ XDG_RUNTIME_DIR: '/run/user/7' }, 7)).toBe('/run/user/7/sluice-padll')
    expect(padllFolder({}, 7)).toBe('/tmp/sluice-padll-7')
    expect(padllFolder({}, 0)).toBe('/run/sluice-padll')
    expect(padllFolder({ SLUICE_PADLL: '/x' }, 0)).toBe('/x')
    // The dynamic linker splits at spaces.
    expect(cacheFolder({ XDG_CACHE_HOME: '/home/a b' })).toMatch(/^\/var\/tmp\/sluice-stage-\d+$/)
  })
})

describe('the state of a global controller', () => {
  it('is there or is not, and nothing in between', () => {
    const file = join(shortFolder(), 'state.json')
    expect(readState(file)).toEqual({ ok: true, value: NO_STATE })
    const state = { ...NO_STATE, epoch: 7, policies: { text: '1 0 job a meta_op 5\n', startedMs: 1 } }
    expect(writeState(file, state)).toMatchObject({ ok: true })
    expect(readState(file)).toEqual({ ok: true, value: state })
    expect(readdirSync(join(file, '..'))).toEqual(['state.json'])
    for (const text of ['', '{"version":1', '{"version":2}', '{"version":1,"epoch":-1}', 'null']) {
      writeFileSync(file, text)
      expect(readState(file), text).toMatchObject({ ok: false, error: { code: 'STATE_UNREADABLE' } })
    }
    expect(writeState(join(file, 'none', 's'), state)).toMatchObject({ ok: false, error: { code: 'STATE_UNWRITABLE' } })
  })
})

describe('configurations', () => {
  const written = (text: string): string => {
    const file = join(shortFolder(), 'c.yaml')
    writeFileSync(file, text)
    return file
  }

  it('are the public ones, with rule files beside them', () => {
    const file = written(
      'controller: core\ncore_address: "127.0.0.1:7424"\ncontrol_type: 3\nsystem_limit: 110000\n' +
        'housekeeping_rules_file: h.txt\npolicies_rules_file: p.txt\nepsilon: 0.1\nlease_s: 5\non_expiry: 100\n' +
        'limits: { open: 5000 }\n',
    )
    const rule = '1 create_channel 1000 posix 0 open no_op\n2 create_object 1000 1 posix no_op no_op drl 10000 500\n'
    writeFileSync(join(file, '../h.txt'), rule)
    writeFileSync(join(file, '../p.txt'), '1 20 job app1 meta_op 5000\n')
    expect(readGlobalConfig(file)).toMatchObject({
      ok: true,
      value: {
        address: { host: '127.0.0.1', port: 7424 },
        settings: { algorithm: 'psfa', epsilon: 0.1, lease: { ns: 5e9, onExpiry: { rate: 100 } } },
        housekeeping: [{ kind: 'create_channel' }, { kind: 'create_object' }],
        policies: '1 20 job app1 meta_op 5000\n',
      },
    })
    const read = readGlobalConfig(file)
    expect(read.ok && [...(read.value.settings.limits ?? [])]).toEqual([
      ['meta_op', 110_000],
      ['open', 5000],
    ])
    expect(readLocalConfig(written('controller: local\nlocal_address: l.sock\ncore_address: /g'))).toMatchObject({
      ok: true,
      value: { core: { path: '/g' } },
    })
  })

  it.each([
    ['system_limits: 5', 'system_limits'],
    ['controller: local', 'controller'],
    ['control_type: 4', 'control_type'],
    ['epsilon: 1.5', 'epsilon'],
    ['system_limit: .nan', 'system_limit'],
    ['limits: { opens: 5 }', 'opens'],
    ['core_address: nowhere', 'core_address'],
    ['a: &a [*a, *a]', ''],
    ['{', ''],
    ['housekeeping_rules_file: none.txt', 'none.txt'],
  ])('%s is refused', (text, where) => {
    const read = readGlobalConfig(written(text))
    expect(read).toMatchObject({ ok: false, error: { code: 'CONFIG' } })
    expect(read.ok ? '' : `${read.error.what} ${read.error.why ?? ''}`).toContain(where)
  })

  it('names line and column of a faulty rule', () => {
    const file = written('housekeeping_rules_file: h.txt')
    writeFileSync(join(file, '../h.txt'), '1 create_channel 1000 posix 0 opening no_op\n')
    expect(readGlobalConfig(file)).toMatchObject({
      ok: false,
      error: { why: expect.stringMatching(/^line 1, column/) as string },
    })
  })
})

describe('commands to a controller', () => {
  it('are one line each way; garbage ends the connection', async () => {
    const path = join(shortFolder(), 's')
    const server = createServer((s) => {
      s.on('error', () => undefined)
      void serveCommand(s, (args, stdin) => ({ stdout: `${args.join('|')} ${stdin}`, stderr: '', code: 3 }))
    })
    await new Promise<void>((resolve) => server.listen(path, resolve))
    try {
      const text = 'line\nline "é"\u2028\n'
      expect(await sendCommand(path, ['policies', 'set'], text)).toEqual({
        ok: true,
        value: { stdout: `policies|set ${text}`, stderr: '', code: 3 },
      })
      for (const junk of ['\n', '{}\n', '{"args":[1],"stdin":""}\n', 'x'.repeat(9 << 20)]) {
        const ended = await new Promise<string>((resolve) => {
          let output = ''
          const socket = connect(path, () => socket.write(junk))
          socket.on('data', (d) => (output += d.toString())).on('error', () => undefined)
          socket.on('close', () => resolve(output))
        })
        expect(ended).toBe('')
      }
    } finally {
      server.close()
    }
    expect(await sendCommand(path, ['status'], '')).toEqual({ ok: true, value: null })
  })
})

describe('programs under a stage', () => {
  const settings = { library: '/l.so', job: 'j', mounts: ['/m'], socket: '/s' }
  it('get what the library can use, or are not started', () => {
    expect(stageEnvironment(settings, 'other.so')).toMatchObject({ ok: true, value: { LD_PRELOAD: '/l.so other.so' } })
    const codes = [
      { job: '' },
      { job: 'x'.repeat(201) },
      { job: 'ü'.repeat(101) },
      { job: 'a\0b' },
      { mounts: [] },
      { mounts: ['relative'] },
      { mounts: ['/a\n/b'] },
      { mounts: Array.from({ length: 17 }, (_, i) => `/m${i}`) },
      { socket: 's' },
      { socket: `/${'x'.repeat(107)}` },
      { workflows: 0 },
      { instance: 1.5 },
      { library: '/my files/l.so' },
    ].map((wrong) => {
      const made = stageEnvironment({ ...settings, ...wrong })
      return made.ok ? undefined : made.error.code
    })
    expect(codes).toEqual([
      ...Array<string>(4).fill('STAGE_JOB'),
      ...Array<string>(4).fill('STAGE_MOUNT'),
      ...Array<string>(2).fill('STAGE_SOCKET'),
      ...Array<string>(2).fill('STAGE_NUMBER'),
      'STAGE_PRELOAD',
    ])
  })

  it('need a compiler that works, and a folder of their own', async () => {
    const cache = join(shortFolder(), 'cache')
    expect(await stageLibrary({ cc: 'no-such-cc', cache })).toMatchObject({ ok: false, error: { code: 'NO_COMPILER' } })
    expect(await stageLibrary({ cc: 'false', cache })).toMatchObject({ ok: false, error: { code: 'STAGE_BUILD' } })
    expect(readdirSync(cache)).toEqual([])
    chmodSync(cache, 0o777)
    expect(await stageLibrary({ cache })).toMatchObject({ ok: false, error: { code: 'STAGE_CACHE' } })
    expect(await stageLibrary({ sources: '/nowhere', cache })).toMatchObject({
      ok: false,
      error: { code: 'STAGE_SOURCES' },
    })
  })

  it('an altered library is rebuilt', async () => {
    const cache = join(shortFolder(), 'cache')
    const sources = shortFolder()
    writeFileSync(join(sources, 'a.c'), 'int a;\n')
    const first = await stageLibrary({ sources, cache })
    if (!first.ok) return expect(first.error.code).toBe('NO_COMPILER')
    writeFileSync(first.value, 'something else')
    expect(await stageLibrary({ sources, cache })).toEqual(first)
    expect(statSync(first.value).size).toBeGreaterThan(1000)
    writeFileSync(join(sources, 'a.c'), 'int b;\n')
    const second = await stageLibrary({ sources, cache })
    expect(second.ok && second.value).not.toBe(first.value)
  })
})
