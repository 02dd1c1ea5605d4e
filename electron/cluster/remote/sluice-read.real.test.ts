/** The program sluice-read with real awks: over parameter files, and through a real sshd. */
import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { LDLM_PARAMETERS, parseLdlm } from '#core/lustre/ldlm-counters.ts'
import { formatParam } from '#core/lustre/lctl.ts'
import { BRW_PARAMETERS } from '../../base/service.ts'
import { CounterRequests, CounterStream, type CounterReading } from '#core/lustre/counter-stream.ts'
import { endpointOf, knowing, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { makeKey, noSshd, publicHalf, scratch, startSshd, type Sshd } from '#tests/kits/electron/ssh/sshd.ts'
import { CounterReader, readerProgram, readerStart, STREAM_PARAMETERS } from './counter-reader.ts'
import { noScope, ROOT_SCOPE, READER_PATH } from './sudo-scope.ts'

const AWKS = ['mawk', 'gawk', 'busybox awk'].filter((awk) => existsSync(`/usr/bin/${awk.split(' ')[0] ?? ''}`))
const JOBS = 'obdfilter.*.job_stats'
const POLICIES = 'ost.OSS.ost_io.nrs_policies'
const RULES = 'ost.OSS.ost_io.nrs_tbf_rule'
const STATS = 'ost.OSS.ost_io.stats'
const OST = (i: number): string => `obdfilter.fs-OST000${i}.job_stats`

const DEVICES = `  0 UP osd-ldiskfs fs-OST0000-osd fs-OST0000-osd_UUID 4
  1 UP ost OSS OSS_uuid 3
  2 UP obdfilter fs-OST0000 fs-OST0000_UUID 6
  3 UP obdfilter fs-OST0001 fs-OST0001_UUID 6
`
const policies = (tbf: string): string =>
  `\nregular_requests:\n  - name: fifo\n    state: started\n    fallback: yes\n    queued: 0                 \n\n  - name: tbf jobid\n    state: ${tbf}\n    fallback: no\n`

const entry = (id: string, n: number): string =>
  `- job_id:          ${id}\n  snapshot_time:   176367648${n % 10}.000000001 secs.nsecs\n  write_bytes:     { samples: ${n}, unit: bytes }\n`

/** Parameter files of a server in a folder, and the program over them with one of the awks. */
class Files {
  readonly root = scratch()
  readonly bin = scratch()
  readonly program: string

  constructor(awk: string) {
    writeFileSync(join(this.bin, 'awk'), `#!/bin/sh\nexec /usr/bin/${awk} "$@"\n`)
    chmodSync(join(this.bin, 'awk'), 0o755)
    const text = readerProgram()
    const tree = '/sys/kernel/debug/lustre/'
    expect(text.split(tree).length).toBe(2)
    this.program = text.replace(tree, `${this.root}/`).replace('\nPATH=', `\nPATH=${this.bin}:`)
    this.write('devices', DEVICES)
    this.write(POLICIES, policies('started'))
    this.write(RULES, 'CPT 0:\na jobid={x} 5, ref 0\n')
    this.write(OST(0), `job_stats:\n${entry('a.1', 1)}${entry('b.2', 2)}`)
    this.write(OST(1), '')
  }

  path(name: string): string {
    return join(this.root, name.replaceAll('.', '/'))
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true })
    rmSync(this.path(name), { force: true })
    writeFileSync(this.path(name), text, 'latin1')
  }
}

/** The program as a process, without a console. */
class Process {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<number | null>
  readonly #stream = new CounterStream()
  #sequence = 0
  #requests: CounterRequests | undefined
  #out = ''
  #more: () => void = () => undefined

  constructor(program: string, words: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn('/bin/sh', ['-c', program, 'sluice-read', ...words], { env: { PATH: '/usr/bin:/bin', ...env } })
    this.ended = new Promise((resolve) => this.child.once('close', resolve))
    this.child.stdin.on('error', () => undefined)
    this.child.stdout.on('data', (chunk: Buffer) => {
      this.#out += chunk.toString('latin1')
      this.#more()
    })
  }

  get output(): string {
    return this.#out
  }

  async until(isThere: (out: string) => boolean): Promise<string> {
    while (!isThere(this.#out)) await new Promise<void>((resolve) => (this.#more = resolve))
    const out = this.#out
    this.#out = ''
    return out
  }

  async started(): Promise<void> {
    this.#requests = CounterRequests.of(await this.until((out) => CounterRequests.of(out) !== undefined))
    this.child.stdin.write(this.#requests?.start ?? '')
  }

  async read(...names: readonly string[]): Promise<CounterReading & { readonly text: string }> {
    if (this.#sequence === 0) await this.started()
    const sequence = ++this.#sequence
    this.#stream.expect(sequence, names)
    this.child.stdin.write(this.#requests?.line(sequence, names) ?? '')
    const text = await this.until((out) => new RegExp(`^end ${sequence} .*\n`, 'm').test(out))
    const read = this.#stream.push(text)
    if (!read.ok || !read.value) throw new Error(`${JSON.stringify(read)} ${text}`)
    return { ...read.value, text }
  }
}

const running = new Set<Process>()
const start = (...args: ConstructorParameters<typeof Process>): Process => {
  const process = new Process(...args)
  running.add(process)
  return process
}
afterEach(() => {
  for (const { child } of running) child.kill('SIGKILL')
  running.clear()
})

describe.each(AWKS)('sluice-read with %s', (awk) => {
  it('returns the texts that lctl prints, and prints only what changed since', async () => {
    const files = new Files(awk)
    const process = start(files.program)
    const first = await process.read(JOBS, POLICIES, RULES, STATS)
    expect(Object.fromEntries(first.values)).toEqual({
      [OST(0)]: `job_stats:\n${entry('a.1', 1)}${entry('b.2', 2)}`.trimEnd(),
      [OST(1)]: '',
      [POLICIES]: policies('started').slice(0, -1),
      [RULES]: 'CPT 0:\na jobid={x} 5, ref 0',
    })
    expect(first.absent).toEqual([STATS])
    expect(first.uptimeMs).toBeGreaterThan(0)

    const second = await process.read(JOBS, POLICIES, RULES)
    expect([...second.values]).toEqual([...first.values])
    expect(second.text).toMatch(/^begin 2 \S+ \d+ -\ntable \S+ 2\ntable \S+ 0\nend 2 \S+ -\n$/)
    expect(second.stepMs).toBe(10)
    expect(second.cpuMs).toBeGreaterThanOrEqual(first.cpuMs)

    files.write(OST(0), `job_stats:\n${entry('b.2', 3)}${entry('c.3', 1)}`)
    files.write(OST(1), `job_stats:\n${entry('a.1', 9)}`)
    const third = await process.read(JOBS, POLICIES, RULES)
    expect(third.values.get(OST(0))).toBe(`job_stats:\n${entry('b.2', 3)}${entry('c.3', 1)}`.trimEnd())
    expect(third.values.get(OST(1))).toBe(`job_stats:\n${entry('a.1', 9)}`.trimEnd())
    expect(third.text.match(/^(?:entry|gone) /gm)).toHaveLength(4)

    files.write('devices', DEVICES.split('\n').slice(0, 3).join('\n'))
    expect([...(await process.read(JOBS)).values.keys()]).toEqual([OST(0)])
    process.child.stdin.end()
    expect(await process.ended).toBe(0)
  })

  it('takes no new time for news of a service, and prints it with other news', async () => {
    const files = new Files(awk)
    const stats = (time: number, n: number): string =>
      `snapshot_time ${time}.1 secs.nsecs\nstart_time 5.0 secs.nsecs\nelapsed_time ${time - 5}.1 secs.nsecs\nreq_waittime ${n} samples [usecs] 1 2 3 4\n`
    files.write(STATS, stats(10, 1))
    const process = start(files.program)
    expect((await process.read(STATS)).values.get(STATS)).toBe(stats(10, 1).trimEnd())
    files.write(STATS, stats(11, 1))
    const same = await process.read(STATS)
    expect(same.text).not.toContain('value')
    // Its time is the finest clock of a server.
    expect(same.text).toMatch(/^begin 2 \S+ \d+ 11\.1\nend 2 \S+ 11\.1\n$/)
    expect(same.stepMs).toBe(0.001)
    files.write(STATS, stats(12, 2))
    expect((await process.read(STATS)).values.get(STATS)).toBe(stats(12, 2).trimEnd())
  })

  it('returns lock counters and disk statistics of all targets, and drops those that are gone', async () => {
    const files = new Files(awk)
    const lock = (ns: string, leaf: string): string => `ldlm.namespaces.${ns}.${leaf}`
    const [own, mdt] = ['filter-fs-OST0000_UUID', 'mdt-fs-MDT0000_UUID']
    files.write('devices', `${DEVICES}  4 UP mdt fs-MDT0000 fs-MDT0000_UUID 9\n`)
    const stats = (n: number): string =>
      `snapshot_time             ${n}.000000001 secs.nsecs\ngrant                     ${n} samples [locks]\n`
    files.write(lock(own, 'lock_count'), '7\n')
    files.write(lock(own, 'pool.stats'), stats(1))
    files.write(lock(mdt, 'pool.limit'), '50\n')
    files.write(lock('MGC10.0.0.1@tcp', 'lock_count'), '1\n')
    files.write('ldlm.lock_granted_count', '8\n')
    files.write('osd-ldiskfs.fs-OST0000.brw_stats', 'snapshot_time: 5.1\n')
    const process = start(files.program)
    const names = [...LDLM_PARAMETERS, ...BRW_PARAMETERS]
    const first = await process.read(...names)
    expect(Object.fromEntries(first.values)).toEqual({
      'ldlm.lock_granted_count': '8',
      [lock(own, 'lock_count')]: '7',
      [lock(own, 'pool.stats')]: stats(1).trimEnd(),
      [lock(mdt, 'pool.limit')]: '50',
      'osd-ldiskfs.fs-OST0000.brw_stats': 'snapshot_time: 5.1',
    })
    expect(first.absent).toEqual([BRW_PARAMETERS[0]])
    // The time of a table counts: rates are made of it.
    files.write(lock(own, 'pool.stats'), stats(2))
    rmSync(files.path(lock(mdt, 'pool.limit')))
    const second = await process.read(...names)
    expect(second.values.get(lock(own, 'pool.stats'))).toBe(stats(2).trimEnd())
    expect([...second.values.keys()].sort()).toEqual(
      [...first.values.keys()].filter((n) => n !== lock(mdt, 'pool.limit')).sort(),
    )
    expect(second.text.match(/^value /gm)).toHaveLength(1)
    const text = [...second.values].map(([name, value]) => formatParam(name, value)).join('')
    expect(parseLdlm(text)).toMatchObject({
      grantedOnNode: 8,
      namespaces: [{ target: 'fs-OST0000', locks: 7, total: { grants: 2, atS: 2.000000001 } }],
    })
  })

  it('does not read rules where TBF does not run, which the kernel refuses', async () => {
    const files = new Files(awk)
    rmSync(files.path(RULES))
    // Opened, and refused when it is read, as by debugfs.
    symlinkSync('/proc/self/mem', files.path(RULES))
    for (const state of ['stopped', 'starting', 'stopping']) {
      files.write(POLICIES, policies(state))
      const read = await start(files.program).read(RULES, POLICIES)
      expect([read.absent, read.values.get(POLICIES)]).toEqual([[RULES], policies(state).slice(0, -1)])
    }
  })

  it('keeps entries apart whose ids are printed alike', async () => {
    const files = new Files(awk)
    files.write(OST(0), `job_stats:\n${entry('?', 1)}${entry('?', 2)}${entry('?', 3)}`)
    const process = start(files.program)
    await process.read(JOBS)
    files.write(OST(0), `job_stats:\n${entry('?', 1)}${entry('?', 5)}${entry('?', 3)}`)
    const read = await process.read(JOBS)
    expect(read.values.get(OST(0))).toBe(`job_stats:\n${entry('?', 1)}${entry('?', 5)}${entry('?', 3)}`.trimEnd())
    expect(read.text.match(/^entry /gm)).toHaveLength(1)
  })

  it('prints only the beginning of an entry whose end did not change', async () => {
    const files = new Files(awk)
    const long = (id: string, n: number): string =>
      `${entry(id, n)}  read:            { ${'samples: 0, '.repeat(20)}}\n`
    files.write(OST(0), `job_stats:\n${long('a.1', 1)}${long('b.2', 1)}`)
    const process = start(files.program)
    await process.read(JOBS)
    files.write(OST(0), `job_stats:\n${long('a.1', 100)}${long('b.2', 1)}`)
    const read = await process.read(JOBS)
    expect(read.values.get(OST(0))).toBe(`job_stats:\n${long('a.1', 100)}${long('b.2', 1)}`.trimEnd())
    expect(read.text).toMatch(/^part /m)
    expect(read.bytes).toBeLessThan(long('a.1', 100).length)
  })

  it('returns what the files contain, whatever comes, goes and moves between readings', async () => {
    const ids = fc.constantFrom('a.1', 'b-2', '-', '- job_id:', 'c', 'c', '\x01d', 'e'.repeat(40))
    const table = fc.array(
      fc.record({ id: ids, n: fc.integer({ min: 1, max: 3 }), size: fc.constantFrom(0, 90, 400) }),
      {
        maxLength: 8,
      },
    )
    const files = new Files(awk)
    const process = start(files.program)
    await fc.assert(
      fc.asyncProperty(table, async (jobs) => {
        const text = jobs.map(({ id, n, size }) => `${entry(id, n)}  punch: ${'0'.repeat(size)}.\n`).join('')
        files.write(OST(0), jobs.length > 0 ? `job_stats:\n${text}` : '')
        const read = await process.read(JOBS)
        const entriesOf = (t: string): string[] => t.split(/\n(?=- job_id: {10})/).toSorted()
        const wanted = jobs.length > 0 ? `job_stats:\n${text}`.trimEnd().replaceAll('\x01', '?') : ''
        expect(entriesOf(read.values.get(OST(0)) ?? '')).toEqual(entriesOf(wanted))
      }),
      { numRuns: 100 },
    )
  })

  it('exploit: a job id is never executed, nor interpreted by a terminal', async () => {
    const files = new Files(awk)
    const owned = join(files.root, 'owned')
    const ids = [
      `$(touch ${owned})`,
      `\`touch ${owned}\``,
      `"; system("touch ${owned}"); "`,
      `| touch ${owned}`,
      '\\n&\\\\1',
      '%s%n%d',
      '\xe9t\xe9 \xff\xfe',
      'end 1 1.00',
    ]
    const controls = '\x1b[31m\x07\x7f\x9b1m'
    files.write(OST(0), `job_stats:\n${[...ids, controls].map((id, i) => entry(id, i)).join('')}`)
    const read = await start(files.program).read(JOBS)
    const wanted = [...ids, '?[31m???1m'].map((id, i) => entry(id, i)).join('')
    expect(read.values.get(OST(0))).toBe(`job_stats:\n${wanted}`.trimEnd())
    expect(read.text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
    expect(existsSync(owned)).toBe(false)
  })

  it('exploit: opens no other path, whatever is requested or named as a target', async () => {
    const files = new Files(awk)
    files.write('secret/job_stats', `job_stats:\n${entry('secret', 1)}`)
    files.write(
      'devices',
      ['../secret', 'secret', '..', '-OST0000', 'a b-OST0000', '$(id)-OST0000', 'x/../y-OST0000']
        .map((name) => `  2 UP obdfilter ${name} x 6\n`)
        .join(''),
    )
    expect((await start(files.program).read(JOBS)).text).not.toContain('secret')
    for (const request of [
      '1 ../../etc/passwd',
      '1 version',
      '1 obdfilter.*.stats',
      '1 ost.OSS.ost_io.nrs_policies/../x',
      'x ost.OSS.ost_io.nrs_policies',
      '1234567890123 ost.OSS.ost_io.nrs_policies',
      '-1 ost.OSS.ost_io.nrs_policies',
      '',
      `1 ${'x'.repeat(100_000)}`,
      '1 ost.OSS.ost_io.nrs_policies | id',
      '\x00\xff\x1b',
    ]) {
      const process = start(files.program)
      await process.started()
      process.child.stdin.end(Buffer.from(`${request}\n`, 'latin1'))
      expect([await process.ended, process.output], request.slice(0, 80)).toEqual([2, ''])
    }
  })

  it('exploit: takes no argument, and nothing of its environment', async () => {
    const files = new Files(awk)
    const evil = scratch()
    for (const name of ['awk', 'case', 'test', 'sh']) {
      writeFileSync(join(evil, name), `#!/bin/sh\ntouch ${evil}/owned\n`, { mode: 0o755 })
    }
    writeFileSync(join(evil, 'env'), `touch ${evil}/owned\n`)
    expect(await start(files.program, ['/etc/passwd']).ended).toBe(2)
    const env = {
      PATH: `${evil}:/usr/bin:/bin`,
      ENV: join(evil, 'env'),
      BASH_ENV: join(evil, 'env'),
      AWKPATH: evil,
      AWKLIBPATH: evil,
      POSIXLY_CORRECT: '1',
      LC_ALL: 'de_DE.UTF-8',
      IFS: 'e',
      'BASH_FUNC_exec%%': `() { touch ${evil}/owned; }`,
    }
    const read = await start(files.program, [], env).read(JOBS)
    expect(read.values.size).toBe(2)
    expect(existsSync(join(evil, 'owned'))).toBe(false)
  })
})

describe('sluice-read', () => {
  it('accepts the parameters that the console requests, and no others', () => {
    const services = /split\("([a-zA-Z_. ]+)", w/.exec(readerProgram())?.[1]?.split(' ') ?? []
    const kinds = [...readerProgram().matchAll(/allowed\[w\[i\] "([.a-z_]+)"\]/g)].map((m) => m[1] ?? '')
    const tables = [...readerProgram().matchAll(/allowed\["([^"]+)"\]/g)].map((m) => m[1] ?? '')
    const all = services.flatMap((s) => kinds.map((k) => `${s}${k}`))
    expect(new Set([...all, ...tables])).toEqual(STREAM_PARAMETERS)
  })

  it('is started by its text as root, through sudo where it is allowed, and not elsewhere', () => {
    const access = { isRoot: false, lctl: '/usr/sbin/lctl' }
    expect(readerStart({ ...access, isRoot: true, sudo: ROOT_SCOPE })).toEqual({ ok: true, value: readerProgram() })
    expect(readerStart({ ...access, sudo: { ...noScope(''), kind: 'read', reader: READER_PATH } })).toEqual({
      ok: true,
      value: `exec sudo -n ${READER_PATH}\n`,
    })
    expect(readerStart({ ...access, sudo: { ...noScope(''), kind: 'read' } })).toMatchObject({
      ok: false,
      error: { code: 'STREAM_UNAVAILABLE' },
    })
  })
})

describe.skipIf(noSshd !== '')('the streaming reader through a real sshd', () => {
  let sshd: Sshd
  let key: string
  beforeAll(async () => {
    key = makeKey(join(scratch(), 'id'))
    sshd = await startSshd({ authorized: [publicHalf(key)] })
  })
  afterAll(() => sshd?.stop())
  afterEach(stopSessions)

  /** Reads until the program has started. */
  async function first(reader: CounterReader, names: readonly string[]): Promise<CounterReading> {
    for (;;) {
      const read = await reader.read(names)
      if (read.ok) return read.value
      if (read.error.why !== 'it is starting') throw new Error(JSON.stringify(read.error))
      await new Promise((again) => setTimeout(again, 10))
    }
  }

  const processesOf = (root: string): string[] =>
    execFileSync('ps', ['-ww', '-eo', 'args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(root))

  it('is one process for all readings, which ends with the reader', async () => {
    const files = new Files('gawk')
    const session = sessionOf(knowing(sshd.knownLines()), endpointOf(sshd.port, [key]))
    await session.connect()
    const changes: boolean[] = []
    const reader: CounterReader = new CounterReader(
      () => session.stream(files.program),
      () => changes.push(reader.isReading),
    )
    await first(reader, [JOBS, POLICIES])
    for (let i = 2; i < 30; i++) {
      files.write(OST(0), `job_stats:\n${entry('a.1', i)}`)
      const read = await reader.read([JOBS, POLICIES])
      if (!read.ok) throw new Error(read.error.why)
      expect([read.value.sequence, read.value.values.get(OST(0))]).toEqual([
        i,
        `job_stats:\n${entry('a.1', i)}`.trimEnd(),
      ])
    }
    expect(processesOf(files.root)).toHaveLength(1)
    expect(changes).toEqual([true])
    // Commands are not delayed by it.
    expect(await session.run('echo x')).toMatchObject({ ok: true, value: { stdout: 'x\n' } })
    reader.close()
    while (processesOf(files.root).length > 0) await new Promise((again) => setTimeout(again, 10))
    expect(await reader.read([JOBS])).toMatchObject({ ok: false, error: { code: 'STREAM_UNAVAILABLE' } })
  })

  it('says why it cannot be used, and is not started again at once', async () => {
    const session = sessionOf(knowing(sshd.knownLines()), endpointOf(sshd.port, [key]))
    await session.connect()
    for (const [text, why] of [
      ['echo no >&2; exit 5\n', 'no'],
      ['exec false\n', 'it exited with 1'],
    ] as const) {
      let starts = 0
      const ended = new Promise<void>((resolve) => {
        const reader = new CounterReader(
          () => {
            starts++
            return session.stream(text)
          },
          () => {
            expect(reader.why).toContain(why)
            resolve()
          },
        )
        void reader.read([JOBS]).then(async () => {
          await ended
          await reader.read([JOBS])
          expect(starts).toBe(1)
        })
      })
      await ended
    }
    const files = new Files('gawk')
    const devices = readFileSync(files.path('devices'), 'latin1')
    rmSync(files.path('devices'))
    const reader = new CounterReader(() => session.stream(files.program))
    await expect(first(reader, [JOBS])).rejects.toThrow('is not readable as a file')
    // Only what is not a file is left to lctl.
    let changes = 0
    const other = new CounterReader(
      () => session.stream(files.program),
      () => changes++,
    )
    const partly = await first(other, [JOBS, POLICIES, RULES])
    expect([partly.absent, [...partly.values.keys()]]).toEqual([[JOBS], [POLICIES, RULES]])
    expect([other.isReading, other.lctlNames, changes]).toEqual([true, [JOBS], 1])
    expect(await other.read([JOBS])).toMatchObject({ ok: true, value: { absent: [JOBS] } })
    // TBF that does not run is no reason to use lctl.
    files.write(POLICIES, policies('stopped'))
    expect(await other.read([POLICIES, RULES])).toMatchObject({ ok: true, value: { absent: [] } })
    files.write('devices', devices)
    expect(await other.read([JOBS])).toMatchObject({ ok: true, value: { absent: [] } })
    expect([other.lctlNames, changes]).toEqual([[], 2])
    // Two readings at once follow each other; a third is left to lctl.
    const three = await Promise.all([other.read([JOBS]), other.read([POLICIES]), other.read([JOBS])])
    expect(three.map((r) => r.ok)).toEqual([true, true, false])
    files.write(POLICIES, policies('started'))
    expect(readFileSync(files.path(POLICIES), 'latin1')).toBe(policies('started'))
  })
})
