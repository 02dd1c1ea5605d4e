/** sluice-read of an emulated server: its answers are those of the script, and the console reads with it over SSH. */
import { CounterRequests } from '#core/lustre/counter-stream.ts'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { CounterReading } from '#core/lustre/counter-stream.ts'
import { LDLM_PARAMETERS } from '#core/lustre/ldlm-counters.ts'
import { getParamCommand, splitParams } from '#core/lustre/lctl.ts'
import type { EmulatedNode } from '#core/emulator/node.ts'
import { startEmulation, type TestEmulation } from '#tests/kits/electron/emulate/emulation.ts'
import { endpointOf, knowing, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { scratch } from '#tests/kits/electron/ssh/sshd.ts'
import { BRW_PARAMETERS } from '../base/service.ts'
import { CounterReader, readerProgram, readerStart, STREAM_PARAMETERS } from '../cluster/remote/counter-reader.ts'
import { noScope, READER_PATH, ROOT_SCOPE } from '../cluster/remote/sudo-scope.ts'

const JOBS = 'obdfilter.*.job_stats'
const POLICIES = 'ost.OSS.ost_io.nrs_policies'
const RULES = 'ost.OSS.ost_io.nrs_tbf_rule'
const STATS = 'ost.OSS.ost_io.stats'
const ALL = [JOBS, POLICIES, RULES, STATS, ...LDLM_PARAMETERS, ...BRW_PARAMETERS]

let e: TestEmulation
let oss: EmulatedNode
beforeAll(async () => {
  e = await startEmulation('read')
  oss = e.emulation.source.emulator.node('oss01')!
})
afterAll(() => e.stop())
afterEach(stopSessions)

const root = { isRoot: true, lctl: 'lctl', sudo: ROOT_SCOPE }
const ops = {
  isRoot: false,
  lctl: '/usr/sbin/lctl',
  sudo: { ...noScope(''), kind: 'read' as const, reader: READER_PATH },
}

/** The script over files with the node's parameters; writes them before each request. */
class Script {
  readonly #root = scratch()
  readonly #child = spawn('/bin/sh', ['-c', readerProgram().replace('/sys/kernel/debug/lustre/', `${this.#root}/`)])
  #requests: CounterRequests | undefined
  #out = ''

  write(): void {
    const put = (path: string, text: string): void => {
      mkdirSync(dirname(join(this.#root, path)), { recursive: true })
      writeFileSync(join(this.#root, path), text, 'latin1')
    }
    put('devices', oss.exec('lctl dl').stdout)
    for (const [name, value] of splitParams(oss.exec(getParamCommand(...ALL)).stdout))
      put(name.replaceAll('.', '/'), value === '' ? '' : `${value}\n`)
  }

  async answer(sequence: number, names: readonly string[]): Promise<string> {
    while (!this.#requests) {
      this.#out += await this.#more()
      this.#requests = CounterRequests.of(this.#out)
      if (!this.#requests) continue
      this.#out = ''
      this.#child.stdin.write(this.#requests.start)
    }
    this.#child.stdin.write(this.#requests.line(sequence, names))
    const isWhole = (): boolean => /^end .*\n/m.test(this.#out)
    while (!isWhole()) this.#out += await this.#more()
    const out = this.#out
    this.#out = ''
    return out
  }

  async #more(): Promise<string> {
    const chunk = await new Promise<Buffer>((resolve) => this.#child.stdout.once('data', resolve))
    return chunk.toString('latin1')
  }

  stop(): void {
    this.#child.kill()
  }
}

/** Lines of an answer without times; the order of parameters of a pattern is free. */
const facts = (answer: string): string[] =>
  answer
    .replace(/^begin (\d+) .*$/m, 'begin $1')
    .replace(/^end (\d+) .*$/m, 'end $1')
    .split('\n')
    .sort()

describe('sluice-read of an emulated server', { timeout: 20_000 }, () => {
  it('answers what the script does over files with the same parameters', async () => {
    const script = new Script()
    const shell = oss.inputShell()
    expect(shell.push(readerProgram())).toEqual({ stdout: 'sluice-read 1\n', stderr: '' })
    const changes = [
      '',
      "lctl set_param ost.OSS.ost_io.nrs_policies='tbf jobid'",
      `lctl set_param ${RULES}='reg start sl_a jobid={x.y} rate=7'`,
      'lctl set_param obdfilter.*.job_stats=clear',
      'lctl set_param ost.OSS.ost_io.nrs_policies=fifo',
    ]
    for (const [i, line] of changes.entries()) {
      expect(line === '' || oss.exec(line).code === 0, line).toBe(true)
      script.write()
      const request = `${i + 1} ${ALL.join(' ')}\n`
      const { stdout, stderr } = shell.push(request)
      expect([facts(stdout), stderr], line).toEqual([facts(await script.answer(i + 1, ALL)), ''])
    }
    script.stop()
  })

  it('accepts what the console requests, and ends at anything else', () => {
    const begin = (): ReturnType<EmulatedNode['inputShell']> => {
      const shell = oss.inputShell()
      shell.push(readerProgram())
      return shell
    }
    expect(begin().push(`1 ${[...STREAM_PARAMETERS].join(' ')}\n`).stdout).toMatch(/^begin 1 [^]*\nend 1 .*\n$/)
    for (const request of ['1 version', 'x', '', '1 ../../etc/passwd', `1 ${RULES} | id`, '1234567890123']) {
      const shell = begin()
      expect([shell.push(`${request}\n`).stdout, shell.isOver, shell.code], request).toEqual(['', true, 2])
    }
  })

  const connected = async (user: string) => {
    const known = knowing(readFileSync(e.cluster.knownHosts, 'utf8'))
    const session = sessionOf(known, endpointOf(e.port('oss01'), [e.key.identity], { user }))
    const connection = await session.connect()
    if (!connection.ok) throw new Error(JSON.stringify(connection.error))
    return session
  }

  it.each([
    ['root', root],
    ['ops', ops],
  ])('is what the console reads with, as %s', async (user, access) => {
    const session = await connected(user)
    const text = readerStart(access)
    if (!text.ok) throw new Error(text.error.why)
    const reader = new CounterReader(() => session.stream(text.value))
    let read = await reader.read([JOBS, POLICIES])
    while (!read.ok && read.error.why === 'it is starting') {
      await new Promise((again) => setTimeout(again, 5))
      read = await reader.read([JOBS, POLICIES])
    }
    if (!read.ok) throw new Error(read.error.why)
    const expected = splitParams(oss.exec(getParamCommand(JOBS, POLICIES)).stdout)
    const shown = (of: CounterReading['values'] | Map<string, string>): string[] =>
      [...of].map(([name, value]) => `${name}=${value.replace(/[\x01-\x08\x0b-\x1f\x7f-\x9f]/g, '?')}`).sort()
    expect(shown(read.value.values)).toEqual(shown(expected))
    expect(read.value.stepMs).toBe(0.001)
    expect(await session.run('echo x')).toMatchObject({ ok: true, value: { stdout: 'x\n' } })
    reader.close()
  })

  it('is refused to a login without the right', async () => {
    const other = await startEmulation('none')
    const known = knowing(readFileSync(other.cluster.knownHosts, 'utf8'))
    const session = sessionOf(known, endpointOf(other.port('oss01'), [other.key.identity], { user: 'ops' }))
    await session.connect()
    const text = readerStart(ops)
    const reader = new CounterReader(() => session.stream(text.ok ? text.value : ''))
    while (reader.why === '') {
      await reader.read([JOBS])
      await new Promise((again) => setTimeout(again, 5))
    }
    expect(reader.why).toContain('a password is required')
    other.stop()
  })
})
