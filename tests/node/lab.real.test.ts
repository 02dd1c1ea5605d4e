import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createConnection, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseJobStats } from '#core/lustre/job-stats.ts'
import { shellQuote } from '#core/lustre/lctl.ts'
import { ALL_BYTES, BYTES_YAML } from '../kits/electron/emulate/emulation.ts'
import { parseClusters } from '#electron/cluster/live/cluster-file.ts'
import { endpointOf, knowing, sessionOf, stopSessions } from '../kits/electron/ssh/console.ts'
import { noSshd, scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { startStillLab } from '../lab/still-lab.ts'

const run = promisify(execFile)
const RULE = 'ost.OSS.ost_io.nrs_tbf_rule'

interface Ended {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

/** One command by the real ssh; byte text. */
async function ssh(config: string, node: string, line: string): Promise<Ended> {
  const args = ['-F', config, '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=5', node, line]
  return new Promise((resolve) => {
    const child = execFile('ssh', args, { encoding: 'latin1', maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, code: error ? Number(error.code) : 0 }),
    )
    child.stdin?.end()
  })
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
    socket.once('data', () => resolve(true)).once('close', () => resolve(false))
    socket.once('error', () => undefined).once('data', () => socket.destroy())
  })

describe.skipIf(noSshd !== '')('the lab', () => {
  let lab: Lab
  beforeAll(async () => {
    const scenario = join(scratch(), 'bytes.yaml')
    writeFileSync(scenario, BYTES_YAML)
    lab = await startLab({ scenario, settings: { interval_ms: 500 } })
  })
  afterAll(() => lab.stop())
  afterEach(stopSessions)

  it('answers over a real sshd byte for byte as the emulator does, job ids of every byte among it', async () => {
    await expect.poll(() => lab.exec('oss01', 'lctl get_param *.*.job_stats').then((r) => r.stdout)).toContain('job_id')
    await lab.setSpeed(0)
    for (const line of [
      'lctl get_param version obdfilter.*.job_stats',
      'lctl get_param nosuch',
      'lctl dl',
      'hostname',
    ]) {
      const direct = await lab.exec('oss01', line)
      const { stdout, stderr, code } = await ssh(lab.sshConfig, 'oss01', line)
      expect({ stdout, stderr, code }, line).toEqual(direct)
    }
    const { stdout } = await ssh(lab.sshConfig, 'oss01', 'lctl get_param -n obdfilter.*.job_stats')
    expect(new Set(parseJobStats(stdout).entries.map((e) => e.jobId))).toEqual(new Set(ALL_BYTES))
    await lab.setSpeed(1)
  })

  it('hands on arguments of every byte as they are', async () => {
    // Quoted for the server's shell; lctl repeats unknown names.
    const name = ALL_BYTES.join('').replace(/[/.]/g, '')
    const direct = await lab.exec('oss01', `lctl get_param ${shellQuote(name)}`)
    expect(direct.stderr.length).toBeGreaterThan(250)
    const endpoint = endpointOf(lab.node('oss01').port, [lab.identity])
    const session = sessionOf(knowing(readFileSync(lab.knownHosts, 'latin1')), endpoint)
    await session.connect()
    expect(await session.run(`lctl get_param ${shellQuote(name)}`)).toEqual({ ok: true, value: direct })
  })

  it('shows rules that were written through sshd, and runs timers of the emulated node', async () => {
    await ssh(lab.sshConfig, 'oss01', `lctl set_param ${RULE}='start lab jobid={a.n01} rate=50'`)
    expect(await lab.rules('oss01')).toContain('lab jobid={a.n01} 50')
    const timer = `systemd-run --on-active=1s --unit=sluice-lab --collect lctl set_param ${RULE}='stop lab'`
    expect((await ssh(lab.sshConfig, 'oss01', timer)).stderr).toContain('sluice-lab.timer')
    expect((await ssh(lab.sshConfig, 'oss01', 'systemctl list-timers')).stdout).toContain('sluice-lab.timer')
    await expect.poll(() => lab.rules('oss01')).not.toContain('lab jobid')
  })

  it('writes a cluster file that the console reads', () => {
    const read = parseClusters(readFileSync(lab.clusterFile, 'utf8'), lab.clusterFile)
    expect(read).toMatchObject({
      ok: true,
      value: [{ name: 'bytes', intervalMs: 500, servers: lab.nodes.map(({ port }) => ({ host: '127.0.0.1', port })) }],
    })
  })

  it('can be killed and started again, with the same key or another', async () => {
    const { port } = lab.node('mds01')
    lab.kill('mds01')
    expect(await answers(port)).toBe(false)
    await lab.restart('mds01')
    expect((await ssh(lab.sshConfig, 'mds01', 'hostname')).stdout).toBe('mds01\n')
    await lab.restart('mds01', { hostKey: 'new' })
    expect((await ssh(lab.sshConfig, 'mds01', 'hostname')).stderr).toMatch(/HOST IDENTIFICATION HAS CHANGED/)
  })

  it('can hang and continue', async () => {
    const session = sessionOf(
      knowing(readFileSync(lab.knownHosts, 'latin1')),
      endpointOf(lab.node('oss01').port, [lab.identity]),
    )
    await session.connect()
    lab.stall('oss01')
    const hung = await session.run('hostname', { timeoutMs: 300 })
    expect(hung).toMatchObject({ ok: false, error: { code: 'SSH_COMMAND_TIMEOUT' } })
    lab.resume('oss01')
    expect(await session.run('hostname')).toMatchObject({ ok: true, value: { stdout: 'oss01\n' } })
  })

  it('forgets as a reboot does', async () => {
    await lab.exec('oss01', `lctl set_param ${RULE}='start lab jobid={a.n01} rate=50'`)
    await lab.exec('oss01', 'systemd-run --on-active=1h --unit=sluice-b true')
    expect(await lab.rules('oss01')).toContain('lab jobid')
    await lab.forget('oss01')
    expect(await lab.rules('oss01')).not.toContain('jobid')
    expect((await lab.exec('oss01', 'systemctl list-timers --no-legend')).stdout).toBe('')
  })
})

describe.skipIf(noSshd !== '')('a lab behind a jump host, for an ordinary login', () => {
  it('is reached through it, and runs what sudo of the emulated node allows', async () => {
    const lab = await startLab({ login: 'ops', sudo: 'read', jump: true, servers: ['oss01', 'sched01'] })
    expect(lab.nodes.map((n) => n.name)).toEqual(['oss01', 'sched01'])
    const { stdout } = await ssh(lab.sshConfig, 'oss01', 'id -un; sudo -n lctl get_param -n version; sudo -n -l')
    expect(stdout).toMatch(/^ops\n\d\S+\n[^]*NOPASSWD: \/usr\/sbin\/lctl/)
    const refused = await ssh(lab.sshConfig, 'oss01', `sudo -n lctl set_param ${RULE}=x`)
    expect(refused).toEqual({ stdout: '', stderr: 'sudo: a password is required\n', code: 1 })
    const queue: unknown = JSON.parse((await ssh(lab.sshConfig, 'sched01', 'squeue --json')).stdout)
    expect(queue).toMatchObject({
      errors: [],
      jobs: expect.arrayContaining([expect.objectContaining({ job_state: ['RUNNING'] })]) as unknown[],
    })
    expect(lab.jump?.log()).toContain('Accepted publickey')
    await lab.stop()
  })
})

describe.skipIf(noSshd !== '')('the still lab', () => {
  it('has servers with an OST each that answer what was recorded', async () => {
    const lab = await startStillLab({ servers: 17, jobs: 20 })
    const ask = async (node: string, line: string): Promise<string> => (await ssh(lab.sshConfig, node, line)).stdout
    const stats = await ask('still16', 'lctl get_param version obdfilter.*.job_stats')
    expect(stats).toMatch(/^version=\d\S+\nobdfilter\.still-OST0010\.job_stats=\njob_stats:\n/)
    expect(stats.match(/^- job_id:/gm)).toHaveLength(20)
    expect(await ask('still0', 'lctl get_param -n ost.OSS.ost_io.nrs_tbf_rule')).toMatch(/^regular_requests:\n/)
    expect(await ask('still0', 'lctl dl')).toContain('obdfilter still-OST0000')
    lab.stop()
  })
})

describe('sluice emulate', () => {
  const cli = join(import.meta.dirname, '../lab/emulate-main.ts')
  const sluice = async (...args: string[]): Promise<Ended> =>
    run(process.execPath, [cli, ...args], { encoding: 'utf8', timeout: 30_000 }).then(
      ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
      (e: { stdout: string; stderr: string; code: number }) => e,
    )

  it('prints a cluster file and the fingerprint, serves, and leaves nothing behind', async () => {
    const { stdout, code } = await sluice('demo', '--ssh', '--port', '0', '--for', '0.2', '--sudo', 'broad')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^# Host key of every node: SHA256:[A-Za-z0-9+/]{43}\n/)
    const read = parseClusters(stdout, 'stdout')
    expect(read).toMatchObject({ ok: true, value: [{ name: 'demo', env: 'DEV', maxRate: 500 }] })
    const servers = read.ok ? (read.value[0]?.servers ?? []) : []
    expect(servers.map((s) => s.roles)).toEqual([['oss'], ['oss'], ['mds'], ['scheduler'], ['controller']])
    expect(new Set(servers.map((s) => s.port)).size).toBe(servers.length)
    expect(servers.every((s) => s.user === 'ops' && s.host === '127.0.0.1')).toBe(true)
    const folder = /^# The same in (\S+)\/clusters\.yaml;/m.exec(stdout)?.[1] ?? ''
    expect(folder).toContain('sluice-emulate-')
    expect(existsSync(folder)).toBe(false)
  })

  it('fails by name', async () => {
    const cases: [string[], number, RegExp][] = [
      [[], 2, /--ssh, --socket PATH/],
      [['nosuch.yaml', '--ssh', '--port', '0'], 1, /scenario nosuch.yaml cannot be read/],
      [['demo', '--ssh', '--port', '0', '--key', '/nosuch/key'], 1, /key \/nosuch\/key.pub cannot be used/],
      [['demo', '--ssh', '--port', '65534'], 1, /There are not 5 free ports from 65534/],
      [['demo', '--socket', '/nosuch/socket'], 1, /socket \/nosuch\/socket cannot be made/],
    ]
    for (const [args, code, why] of cases) {
      const r = await sluice(...args)
      expect(r, args.join(' ')).toMatchObject({ code, stdout: '' })
      expect(r.stderr).toMatch(why)
    }
  })

  it('names a port that is taken', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', () => resolve()))
    const { port } = taken.address() as AddressInfo
    const r = await sluice('demo', '--ssh', '--port', String(port))
    taken.close()
    expect(r).toMatchObject({ code: 1, stdout: '' })
    expect(r.stderr).toMatch(/oss01 cannot listen on port \d+.*EADDRINUSE/)
  })
})
