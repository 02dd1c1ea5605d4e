import {
  existsSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { shellQuote } from '#core/lustre/lctl.ts'
import { randomStream } from '#core/base/random.ts'
import type { Session } from './session.ts'
import { SshNode } from './ssh-node.ts'
import { endpointOf, knowing, QUICK, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { scriptedServer } from '#tests/kits/electron/ssh/scripted-server.ts'
import { makeKey, noSshd, publicHalf, scratch, startSshd, type Sshd } from '#tests/kits/electron/ssh/sshd.ts'

/** Processes with this word in their command line; a zombie has none. */
function processesWith(word: string): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(word)
    } catch {
      return false
    }
  }).length
}

function isAlive(pid: string | undefined): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

const N = '0123456789abcdef0123456789abcdef'

describe.skipIf(noSshd !== '')('commands on a real sshd', () => {
  const folder = scratch()
  const key = join(folder, 'id')
  let sshd: Sshd
  beforeAll(async () => {
    makeKey(key)
    sshd = await startSshd({ authorized: [publicHalf(key)] })
  })
  afterAll(() => sshd?.stop())
  afterEach(stopSessions)

  async function open(server = sshd, limits = QUICK): Promise<Session> {
    const session = sessionOf(knowing(server.knownLines()), endpointOf(server.port, [key]), { limits })
    const r = await session.connect()
    if (!r.ok) throw new Error(`${r.error.what}: ${r.error.why}`)
    return session
  }
  const modeOf = (s: Session): string => (s.state.kind === 'connected' ? s.state.connected.commands.mode : s.state.kind)
  const out = (r: Awaited<ReturnType<Session['run']>>): string => (r.ok ? r.value.stdout : r.error.code)
  /** Counter of sleep durations, so that no other process of the machine uses the same. */
  let asleep = 0
  const duration = (): string => `${100_000 + asleep++}.${process.pid}`
  const isRunning = (mark: string): boolean => processesWith(mark) > 0

  it('answer alike in the channel and by themselves', async () => {
    const s = await open()
    const commands = [
      'true',
      'false',
      'exit 300',
      'kill -9 $$',
      'echo "a  b" c',
      "printf 'no newline'",
      'printf "\\000\\377\\n"',
      'nosuchcommand',
      'echo x >&2; exit 2',
      'if',
      "echo 'open",
      ')',
      'cd /; pwd',
      'cat',
      '  ',
      '# nothing',
      'echo a\necho b',
      'set -e; false; echo no',
      'trap "echo bye" EXIT',
      'exec 1>&2; echo moved',
    ]
    for (const command of commands.filter((c) => c !== 'kill -9 $$' && c !== 'exit 300')) {
      const framed = await s.run(command)
      const alone = await s.exec(command)
      if (!framed.ok || !alone.ok) throw new Error(command)
      expect([command, framed.value.code, framed.value.stdout]).toEqual([command, alone.value.code, alone.value.stdout])
    }
    expect(modeOf(s)).toBe('channel')
  })

  it('leave nothing behind for the next one: folder, variables, options, functions, exit', async () => {
    const s = await open()
    await s.run('cd /tmp; X=1; export X; set -f; umask 0; f() { :; }; readonly Y=2; exit 9')
    const [state] = [await s.run('pwd; echo "[$X$Y]"; echo $-; umask; f 2>/dev/null || echo none')]
    expect(out(state)).not.toContain('/tmp\n')
    expect(out(state)).toMatch(/\[\]\n[^f]*\n0?022\nnone\n$/)
  })

  it('do not read the commands that follow them', async () => {
    const s = await open()
    const [eaten, next] = await Promise.all([s.run('cat'), s.run('echo next')])
    expect([out(eaten), out(next)]).toEqual(['', 'next\n'])
  })

  it('10,000 hostile job ids go there and come back as they are', async () => {
    const s = await open()
    const random = randomStream(7, 'hostile')
    const nasty = [
      "'",
      '"',
      '`id`',
      '$(id)',
      '\\',
      '\n',
      ';',
      '|',
      '&&',
      '>',
      '*',
      '~',
      '!',
      '#',
      '-n',
      '%s',
      '\x1b[31m',
      '\r',
      '\t',
      "'; exit 9; '",
      `e${N} 0\n`,
      `b${N}\n`,
      'é',
      '\xff\xfe',
      '\x81\x88',
      ')',
      '{',
      'EOF',
      '<img src=x onerror=alert(1)>',
      '${IFS}',
      '\x7f',
      '\x01',
    ]
    const text = (): string =>
      Array.from({ length: 1 + random.below(6) }, () =>
        random.below(3) === 0 ? String.fromCharCode(1 + random.below(255)) : (nasty[random.below(nasty.length)] ?? ''),
      ).join('')
    let done = 0
    while (done < 10_000) {
      const ids = Array.from({ length: 100 }, text)
      const r = await s.run(`printf '%s\\0' ${ids.map(shellQuote).join(' ')}`)
      if (!r.ok) throw new Error(r.error.code)
      expect(r.value.stdout.split('\0').slice(0, -1)).toEqual(ids)
      done += ids.length
    }
    // And one at a time, with the exit code and stderr of each.
    for (let i = 0; i < 200; i++) {
      const id = text()
      expect(await s.run(`printf %s ${shellQuote(id)}; printf %s ${shellQuote(id)} >&2; exit ${i % 256}`)).toEqual({
        ok: true,
        value: { stdout: id, stderr: id, code: i % 256 },
      })
    }
    expect(modeOf(s)).toBe('channel')
  })

  it('a command that prints every mark it can guess does not end its frame', async () => {
    const s = await open()
    const guess = `for i in 1 2 3; do echo "e${N} 0"; echo "b${N}"; done; set; env; cat /proc/$$/environ 2>/dev/null | tr '\\0' '\\n'; exit 4`
    const r = await s.run(guess)
    expect(r).toMatchObject({ ok: true, value: { code: 4 } })
    expect(await s.run('echo sane')).toMatchObject({ ok: true, value: { stdout: 'sane\n' } })
  })

  it('what a process left in the background writes later is not taken for the next answer', async () => {
    const s = await open()
    const wrote = join(folder, 'wrote-late')
    await s.run(`(sleep 0.2; echo late; echo late >&2; : >'${wrote}') &`)
    await expect.poll(() => existsSync(wrote)).toBe(true)
    expect(await s.run('echo mine')).toEqual({ ok: true, value: { stdout: 'mine\n', stderr: '', code: 0 } })
  })

  it('large answers arrive whole, in bytes', async () => {
    const s = await open()
    for (const run of [s.run.bind(s), s.exec.bind(s)]) {
      const r = await run('head -c 20000000 /dev/zero | tr "\\0" "\\377"; echo end >&2')
      expect(r.ok && [r.value.stdout.length, r.value.stdout.charCodeAt(19_999_999), r.value.stderr]).toEqual([
        20_000_000,
        255,
        'end\n',
      ])
    }
  })

  it.each(['run', 'exec'] as const)('flooding: %s stops at its bound, and the process is gone', async (how) => {
    const s = await open()
    const mark = `flood-${duration()}`
    for (const to of ['', ' >&2']) {
      const r = await s[how](`yes ${mark}${to}`, {
        stdoutBytes: 100_000,
        stderrBytes: 100_000,
      })
      expect(r).toMatchObject({ ok: false, error: { code: 'SSH_OUTPUT' } })
    }
    await expect.poll(() => isRunning(mark)).toBe(false)
    expect(out(await s[how]('echo on'))).toBe('on\n')
    expect(modeOf(s)).toBe('channel')
  })

  it.each(['run', 'exec'] as const)(
    'stuck: %s ends at its deadline, the process is gone, and the session continues',
    async (how) => {
      const s = await open()
      const seconds = duration()
      expect(await s[how](`sleep ${seconds}`, { timeoutMs: 200 })).toMatchObject({
        ok: false,
        error: { code: 'SSH_COMMAND_TIMEOUT' },
      })
      await expect.poll(() => isRunning(seconds)).toBe(false)
      expect(out(await s[how]('echo on'))).toBe('on\n')
      expect(s.state.kind).toBe('connected')
    },
  )

  it('a stuck command does not cost those that wait behind it', async () => {
    const s = await open()
    const stuck = s.run(`sleep ${duration()}`, { timeoutMs: 200 })
    const next = s.run('echo next')
    expect([(await stuck).ok, out(await next)]).toEqual([false, 'next\n'])
  })

  it.each(['run', 'exec'] as const)('given up: %s is killed on the server', async (how) => {
    const s = await open()
    const seconds = duration()
    const abort = new AbortController()
    const pending = s[how](`sleep ${seconds}`, { signal: abort.signal })
    await expect.poll(() => isRunning(seconds)).toBe(true)
    abort.abort()
    expect(await pending).toMatchObject({ ok: false, error: { code: 'SSH_CANCELLED' } })
    await expect.poll(() => isRunning(seconds)).toBe(false)
    expect(await s[how]('true', { signal: abort.signal })).toMatchObject({
      ok: false,
      error: { code: 'SSH_CANCELLED' },
    })
  })

  it('a command that kills the shell ends as not known, and the next one has a new shell', async () => {
    const s = await open()
    expect(await s.run('kill -9 $$')).toMatchObject({ ok: false, error: { code: 'SSH_COMMAND_LOST' } })
    expect(out(await s.run('echo again'))).toBe('again\n')
  })

  it('are refused before they are sent where they are no byte text', async () => {
    const s = await open()
    for (const bad of ['a\0b', '€', 'x'.repeat(200_000)]) {
      expect(await s.run(bad)).toMatchObject({ ok: false, error: { code: 'SSH_COMMAND_TEXT' } })
      expect(await s.exec(bad)).toMatchObject({ ok: false, error: { code: 'SSH_COMMAND_TEXT' } })
    }
  })

  it('wait for their turn up to a bound, and never take more channels than sshd has', async () => {
    // However long this machine takes for as many logins as there are commands.
    const s = await open(sshd, { ...QUICK, waiting: 20, commandMs: 120_000, shellMs: 60_000 })
    const execs = await Promise.all(Array.from({ length: 27 }, (_, i) => s.exec(`echo ${i}`)))
    expect(execs.map(out)).toEqual(Array.from({ length: 27 }, (_, i) => `${i}\n`))
    const many = await Promise.all(Array.from({ length: 40 }, () => s.run('true')))
    expect(many.filter((r) => !r.ok && r.error.code === 'SSH_BUSY').length).toBeGreaterThan(0)
    expect(many.filter((r) => r.ok).length).toBeGreaterThanOrEqual(20)
  })

  it('a node answers as its session does, and fails with its failure', async () => {
    const s = await open()
    const node = new SshNode('oss1', ['oss'], s)
    expect(await node.exec('echo x')).toEqual({ ok: true, value: { stdout: 'x\n', stderr: '', code: 0 } })
    s.stop()
    expect(await node.exec('echo x')).toEqual({
      ok: false,
      error: { code: 'SSH_NOT_CONNECTED', what: '127.0.0.1 is not connected', why: 'idle' },
    })
  })

  describe('where the login shell is not what it should be', () => {
    const script = (name: string, text: string): string => {
      const file = join(folder, name)
      writeFileSync(file, `#!/bin/sh\n${text}\n`)
      chmodSync(file, 0o755)
      return file
    }
    /** A PATH on the server with an `sh` that is another program. */
    const pathWith = (name: string, target: string): string => {
      const bin = join(folder, `bin-${name}`)
      mkdirSync(bin, { recursive: true })
      symlinkSync(target, join(bin, 'sh'))
      return `SetEnv SHLVL=2 PATH=${bin}:/usr/bin:/bin`
    }
    async function withServer(lines: string[], use: (s: Session) => Promise<void>, limits = QUICK): Promise<void> {
      const server = await startSshd({ authorized: [publicHalf(key)], lines })
      try {
        await use(await open(server, limits))
      } finally {
        stopSessions()
        server.stop()
      }
    }

    it('banner noise of login files: the channel reads past it', async () => {
      const noisy = script(
        'noisy',
        'echo "*** WELCOME ***"; echo "e0 0"; echo motd >&2; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"',
      )
      await withServer([`ForceCommand ${noisy}`, 'Banner /etc/hostname'], async (s) => {
        expect(modeOf(s)).toBe('channel')
        expect(await s.run('echo clean; echo err >&2')).toEqual({
          ok: true,
          value: { stdout: 'clean\n', stderr: 'err\n', code: 0 },
        })
      })
    })

    it('noise without end: one by one', async () => {
      const endless = script(
        'endless',
        'case "$SSH_ORIGINAL_COMMAND" in "exec sh") exec yes;; esac; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"',
      )
      await withServer([`ForceCommand ${endless}`], async (s) => {
        expect(modeOf(s)).toBe('exec')
        expect(out(await s.run('echo x'))).toBe('x\n')
      })
    })

    it('nologin: every command reports it', async () => {
      const nologin = script('nologin', 'echo "This account is currently not available."; exit 1')
      await withServer([`ForceCommand ${nologin}`], async (s) => {
        expect(modeOf(s)).toBe('exec')
        expect(await s.run('echo x')).toMatchObject({
          ok: true,
          value: { code: 1, stdout: expect.stringContaining('not available') as unknown },
        })
      })
    })

    it('a restricted shell that may not start another: one by one', async () => {
      const restricted = script('restricted', 'exec bash -r -c "$SSH_ORIGINAL_COMMAND"')
      await withServer([`ForceCommand ${restricted}`], async (s) => {
        expect(modeOf(s)).toBe('exec')
        expect(await s.run('echo x; exit 5')).toEqual({ ok: true, value: { stdout: 'x\n', stderr: '', code: 5 } })
      })
    })

    it.each([
      ['one that echoes what it is told', '/bin/cat'],
      ['one that is no shell at all', '/usr/bin/yes'],
      ['one that ends at once', '/bin/true'],
      ['one that says nothing', '/usr/bin/tail'],
    ])('%s', async (name, target) => {
      await withServer(
        [pathWith(name.replaceAll(' ', '-'), target)],
        async (s) => {
          expect(modeOf(s)).toBe('exec')
          expect(out(await s.run('echo x'))).toBe('x\n')
        },
        { ...QUICK, shellMs: 500 },
      )
    })

    it('csh’s grammar: the beginning of a frame is invalid there', async () => {
      // csh has no `>&2` and no `(eval …)`: it complains and does not answer.
      const csh = script('sh-like-csh', 'while read -r line; do echo "Ambiguous output redirect." >&2; echo 0; done')
      await withServer([pathWith('csh', csh)], async (s) => expect(modeOf(s)).toBe('exec'), { ...QUICK, shellMs: 500 })
    })

    it('bash as sh: as good as dash', async () => {
      await withServer([pathWith('bash', '/bin/bash')], async (s) => {
        expect(modeOf(s)).toBe('channel')
        const all = Array.from({ length: 255 }, (_, i) => String.fromCharCode(i + 1)).join('')
        expect(await s.run(`printf %s ${shellQuote(all)}`)).toMatchObject({ ok: true, value: { stdout: all } })
      })
    })

    it('slow to start: commands go one by one instead of waiting', async () => {
      const slow = script(
        'slow',
        'case "$SSH_ORIGINAL_COMMAND" in "exec sh") sleep 5;; esac; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"',
      )
      await withServer([`ForceCommand ${slow}`], async (s) => expect(modeOf(s)).toBe('exec'), {
        ...QUICK,
        shellMs: 300,
      })
    })

    it('slow to start once: the channel is tried again, and from then on commands share one login', async () => {
      const isSlow = join(folder, 'is-slow')
      const logins = join(folder, 'logins')
      writeFileSync(isSlow, '')
      const once = script(
        'slow-once',
        `echo x >>${logins}; [ -e ${isSlow} ] && sleep 2; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"`,
      )
      const limits = { ...QUICK, shellMs: 300, shellAgain: { baseMs: 50, mostMs: 200 } }
      await withServer(
        [`ForceCommand ${once}`],
        async (s) => {
          expect(modeOf(s)).toBe('exec')
          rmSync(isSlow)
          expect(out(await s.run('echo alone'))).toBe('alone\n')
          await expect.poll(() => modeOf(s)).toBe('channel')
          const before = readFileSync(logins, 'utf8').length
          for (let i = 0; i < 5; i++) expect(out(await s.run(`echo ${i}`))).toBe(`${i}\n`)
          expect(readFileSync(logins, 'utf8')).toHaveLength(before)
        },
        limits,
      )
    })

    it('a server that lies about its shell: forged marks, codes out of range, floods', async () => {
      const replies = ['b\ne 0\n', `b${N}\ne${N} 0\n`, 'a b\n', 'x'.repeat(600_000)]
      for (const reply of replies) {
        const server = await scriptedServer({
          hostKey: key,
          onExec: (command, channel) => {
            if (command === 'exec sh') channel.write(reply)
            else {
              channel.write('alone')
              channel.exit(0)
              channel.end()
            }
          },
        })
        const known = knowing(`[127.0.0.1]:${server.port} ${publicHalf(key)}\n`)
        const s = sessionOf(known, endpointOf(server.port, [key]), { limits: { ...QUICK, shellMs: 300 } })
        expect((await s.connect()).ok).toBe(true)
        expect([modeOf(s), out(await s.run('x'))]).toEqual(['exec', 'alone'])
        s.stop()
        server.stop()
      }
    })
  })

  it('leave no process and no file when the session ends', async () => {
    const s = await open()
    const shell = out(await s.run('echo $PPID $$'))
      .trim()
      .split(' ')
      .at(-1)
    expect(isAlive(shell)).toBe(true)
    s.stop()
    await expect.poll(() => isAlive(shell)).toBe(false)
  })
})
