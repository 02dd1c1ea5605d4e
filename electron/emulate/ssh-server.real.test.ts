import { execFile, spawn } from 'node:child_process'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { shellQuote } from '#core/lustre/lctl.ts'
import { stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { noSshd } from '#tests/kits/electron/ssh/sshd.ts'
import { startEmulation, type TestEmulation } from '#tests/kits/electron/emulate/emulation.ts'

let e: TestEmulation
beforeAll(async () => {
  e = await startEmulation('read')
})
afterAll(() => e.stop())
afterEach(stopSessions)

const nodeOf = (name: string) => e.emulation.source.emulator.node(name)!

describe.skipIf(noSshd !== '')('the real ssh', () => {
  const args = (...more: string[]): string[] => [
    '-F',
    'none',
    '-o',
    'BatchMode=yes',
    '-o',
    'IdentitiesOnly=yes',
    '-o',
    `UserKnownHostsFile=${e.cluster.knownHosts}`,
    '-i',
    e.key.identity,
    '-p',
    String(e.port('oss01')),
    ...more,
  ]
  const run = (program: string, words: readonly string[]): Promise<{ code: number; stdout: Buffer; stderr: string }> =>
    new Promise((resolve) => {
      execFile(program, words, { encoding: 'buffer', timeout: 15_000 }, (error, stdout, stderr) =>
        resolve({
          code: typeof error?.code === 'number' ? error.code : error ? -1 : 0,
          stdout,
          stderr: stderr.toString(),
        }),
      ).stdin?.end()
    })
  const ssh = (...more: string[]) => run('ssh', args(...more))

  it('runs commands, and ends with their exit codes', async () => {
    const line = 'lctl get_param version obdfilter.*.job_stats; (exit 3)'
    const { stdout, code } = await ssh('root@127.0.0.1', line)
    expect(code).toBe(3)
    expect(stdout.equals(Buffer.from(nodeOf('oss01').exec(line).stdout, 'latin1'))).toBe(true)
  })

  it('may have a shell that reads its input, and neither a login shell, a terminal, nor a file transfer', async () => {
    const shell = spawn('ssh', args('root@127.0.0.1', 'sh'), { stdio: ['pipe', 'pipe', 'ignore'] })
    let output = ''
    shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    shell.stdin.end('hostname\nexit 5\nhostname\n')
    expect(await new Promise((resolve) => shell.on('close', resolve))).toBe(5)
    expect(output).toBe('oss01\n')
    expect((await ssh('root@127.0.0.1')).stderr).toMatch(/shell request failed/)
    expect((await ssh('-tt', 'root@127.0.0.1', 'true')).stderr).toMatch(/PTY allocation request failed/)
    expect((await ssh('-s', 'root@127.0.0.1', 'sftp')).stderr).toMatch(/subsystem request failed/)
  })

  it('finds no other method than keys', async () => {
    const { code, stderr } = await ssh('-o', 'PreferredAuthentications=none,password', 'root@127.0.0.1', 'true')
    expect(code).toBe(255)
    expect(stderr).toMatch(/Permission denied \(publickey\)/)
  })

  it('may forward nothing', async () => {
    const through = await ssh('-W', `127.0.0.1:${e.port('mds01')}`, 'root@127.0.0.1')
    expect(through.stderr).toMatch(/administratively prohibited|open failed|forwarding failed/i)
    expect(through.stdout.length).toBe(0)
    const back = await ssh('-o', 'ExitOnForwardFailure=yes', '-R', '0:127.0.0.1:22', 'root@127.0.0.1', 'hostname')
    expect(back.stderr).toMatch(/forwarding (?:request )?failed|remote port forwarding failed/i)
    const env = await ssh('-o', 'SetEnv=SLUICE_X=1', '-A', 'root@127.0.0.1', 'hostname')
    expect(env.stdout.toString()).toBe('oss01\n')
  })

  it('reports a command that arrived broken', async () => {
    // Bytes of a job id that are not UTF-8: Node passes arguments as text only, so the shell produces them.
    const quoted = args('root@127.0.0.1').map(shellQuote).join(' ')
    const { code, stderr } = await run('sh', ['-c', `ssh ${quoted} "$(printf 'echo \\377x')"`])
    expect(code).toBe(255)
    expect(stderr).toContain('not UTF-8')
  })
})
