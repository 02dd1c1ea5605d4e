/** Clearing of job_stats on a server with a real sudo and sshd: the one command that the sudoers file allows, and readers that it finds. */
import { execFile, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scratch } from '#tests/kits/electron/ssh/sshd.ts'
import { readersOn } from '#electron/cluster/probes/other-readers.ts'
import type { NodeConnection } from '#electron/base/connection.ts'
import { ok } from '#core/base/result.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { noServers } from '../lab/nspawn.ts'
import { ConsoleFolder, until } from './lab.ts'

const HOST = 'oss01'
const SCENARIO = `title: One
cluster: one
clients: { count: 1 }
control: { max_rate: 200, mode: observe }
oss:
  - { name: ${HOST}, osts: [{ name: one-OST0000, disk: { bandwidth_mb_s: 20 } }] }
jobs:
  - { id: "1.hog.u1001", clients: [1], op: write, size_kib: 64, total_rpcs: 100000000, pattern: { kind: continuous } }
`
const CLEAR = "sudo -n /usr/sbin/lctl set_param 'obdfilter.*.job_stats'=clear"

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

describe.skipIf(noServers !== '')('clearing of job_stats by a login', () => {
  let lab: Lab
  beforeAll(async () => {
    const scenario = join(scratch(), 'one.yaml')
    writeFileSync(scenario, SCENARIO)
    lab = await startLab({ parts: 'nspawn', scenario, servers: [HOST], login: 'ops', sudo: 'clear' })
    await lab.exec(HOST, 'lctl set_param "ost.OSS.ost_io.nrs_policies=tbf jobid"')
  })
  afterAll(async () => lab?.stop())

  const ssh = ['-o', 'BatchMode=yes'] as const
  const login = (line: string): Promise<Ended> =>
    new Promise((resolve) => {
      const child = execFile('ssh', ['-F', lab.sshConfig, ...ssh, HOST, line], (e, stdout, stderr) =>
        resolve({ code: e ? Number(e.code) : 0, stdout, stderr }),
      )
      child.stdin?.end()
    })
  /** RPCs that job_stats counts, bypassing SSH. */
  const counted = async (): Promise<number> => {
    const { stdout } = await lab.exec(HOST, 'lctl get_param -n obdfilter.one-OST0000.job_stats')
    return Number(/ write: +\{ samples: +(\d+)/.exec(stdout)?.[1] ?? 0)
  }

  it('is allowed for the one command', async () => {
    const before = await until(counted, (n) => n > 100)
    expect(await login(CLEAR)).toMatchObject({ code: 0, stderr: '' })
    expect(await counted()).toBeLessThan(before)
  })

  it.each([
    "sudo -n /usr/sbin/lctl set_param 'obdfilter.*.job_stats'=clear jobid_var=x",
    "sudo -n /usr/sbin/lctl set_param 'obdfilter.*.job_stats=clear jobid_var=x'",
    "sudo -n /usr/sbin/lctl set_param 'obdfilter.*.job_stats'=clear -P",
    "sudo -n /usr/sbin/lctl set_param -P 'obdfilter.*.job_stats'=clear",
    "sudo -n /usr/sbin/lctl set_param 'obdfilter.one-OST0000.job_stats'=clear",
    "sudo -n /usr/sbin/lctl set_param 'mdt.*.job_stats'=clear",
    "sudo -n /usr/sbin/lctl set_param 'obdfilter.*.job_stats'=1.hog.u1001",
    "sudo -n /usr/sbin/lctl set_param 'obdfilter.*.job_stats'=",
    "sudo -n /usr/sbin/lctl set_param 'ost.OSS.ost_io.nrs_policies'=fifo",
    'sudo -n /usr/local/sbin/sluice-rule clear ost.OSS.ost_io.nrs_tbf_rule reg ab_0123456789',
  ])('exploit: %s is refused, and nothing is cleared', async (line) => {
    const before = await counted()
    expect((await login(line)).code).not.toBe(0)
    expect(await counted()).toBeGreaterThanOrEqual(before)
    expect((await lab.exec(HOST, 'lctl get_param -n jobid_var')).stdout).not.toBe('x\n')
  })

  const control = (folder: ConsoleFolder, ...words: readonly string[]): Promise<Ended & { code: number | null }> => {
    const { cluster } = folder
    const mode = ['--mode', 'enforce', '--target', cluster, '--clear-job-stats', cluster, '--for', '14', '--json']
    return folder.run('control', cluster, '--controller', 'adaptbf', ...mode, ...words) as Promise<Ended>
  }

  it('is done by `sluice control` after each period, and ends with it', async () => {
    const folder = new ConsoleFolder(lab)
    const ended = await control(folder)
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    const cleared = ended.stdout.split('\n').flatMap((l) => {
      const { job_stats_cleared: n } = (l === '' ? {} : JSON.parse(l)) as { job_stats_cleared?: number }
      return n ?? []
    })
    expect(cleared.at(-1)).toBeGreaterThan(1)
    const exported = join(folder.data, 'audit.jsonl')
    expect(await folder.run('audit', 'export', '--output', exported)).toMatchObject({ code: 0 })
    const stdout = readFileSync(exported, 'utf8')
    expect(stdout).toContain('clear job_stats after each period on oss01')
    expect(stdout).toMatch(/job_stats no longer cleared after \d+ times/)
    const after = await counted()
    await until(counted, (n) => n > after)
  })

  it('finds streaming readers of other logins, and is refused while one runs', async () => {
    const node: NodeConnection = { host: HOST, roles: ['oss'], exec: async (line) => ok(await login(line)) }
    await until(
      () => readersOn(node),
      (n) => n === 0,
    )
    const other = spawn('ssh', ['-F', lab.sshConfig, ...ssh, HOST, 'sudo -n /usr/local/sbin/sluice-read'])
    await until(
      () => readersOn(node),
      (n) => n === 1,
    )
    const folder = new ConsoleFolder(lab)
    const refused = await control(folder)
    other.kill()
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(/1 other sluice-read process runs on oss01/)
    expect(refused.stdout).not.toContain('job_stats_cleared')
  })
})
