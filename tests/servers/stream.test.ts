/** Streaming reader on a server with a real sudo and sshd: samples come from it, and from lctl where it cannot read. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serverInput } from '#core/api/clusters.ts'
import { LiveServer } from '#electron/cluster/live/live-server.ts'
import { SshAccess } from '#electron/cluster/live/ssh-access.ts'
import { ProbeScheduler } from '#electron/cluster/probes/probe-scheduler.ts'
import { ServerProbe } from '#electron/cluster/probes/server-probe.ts'
import { NodeCollector, type NodeReading } from '#electron/cluster/read/collector.ts'
import type { ClusterSource } from '#electron/base/connection.ts'
import { scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { LOGIN, noServers } from '../lab/nspawn.ts'
import { until } from './lab.ts'

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
const TREE = '/sys/kernel/debug/lustre'
/** Writes the emulated parameters to files where debugfs has them. A tmpfs takes its place: no test can add files to it. */
const FILES = [
  `mountpoint -q /sys/kernel/debug && [ -d ${TREE} ] || { mount -t tmpfs -o mode=0700 tmpfs /sys/kernel/debug; mkdir ${TREE}; }`,
  `mkdir -p ${TREE}/obdfilter/one-OST0000 ${TREE}/ost/OSS/ost_io; cd ${TREE}`,
  'put() { lctl $2 >new && mv new "$1"; }',
  'put devices dl',
  'put obdfilter/one-OST0000/job_stats "get_param -n obdfilter.one-OST0000.job_stats"',
  'for n in nrs_policies stats; do put ost/OSS/ost_io/$n "get_param -n ost.OSS.ost_io.$n"; done',
].join('\n')

describe.skipIf(noServers !== '')('the streaming reader of a server', () => {
  let lab: Lab
  beforeAll(async () => {
    const scenario = join(scratch(), 'one.yaml')
    writeFileSync(scenario, SCENARIO)
    lab = await startLab({ parts: 'nspawn', scenario, servers: [HOST], login: 'ops', sudo: 'read' })
  })
  afterAll(async () => lab?.stop())

  const login = (line: string): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> =>
    new Promise((resolve) => {
      const child = execFile('ssh', ['-F', lab.sshConfig, '-o', 'BatchMode=yes', HOST, line], (e, stdout, stderr) =>
        resolve({ code: e ? Number(e.code) : 0, stdout, stderr }),
      )
      child.stdin?.end()
    })

  /** Server with its collector, as user of the lab. */
  async function open(
    user: string,
  ): Promise<{ server: LiveServer; read: () => Promise<NodeReading>; stop: () => void }> {
    const access = new SshAccess({
      knownHosts: [{ path: lab.knownHosts, isRequired: true }],
      configFile: lab.sshConfig,
    })
    const server = new LiveServer(serverInput.parse({ host: HOST, user }), access)
    await server.bring()
    const node = server.node(['oss'])
    if (!node || !server.isReady) throw new Error(JSON.stringify(server.steps))
    const source: ClusterSource = {
      kind: 'LIVE',
      cluster: 'one',
      nodes: [node],
      maxRate: 100,
      periodNs: 1e8,
      nowNs: () => performance.now() * 1e6,
      toUnixMs: (ns) => ns / 1e6,
    }
    const board = new ProbeScheduler(source)
    const collector = new NodeCollector(new ServerProbe(node, board, source, 5), board, source)
    const read = async (): Promise<NodeReading> => {
      for (;;) {
        const reading = await collector.begin(source.nowNs())
        if (reading && !reading.ok) throw new Error(reading.reason)
        if (reading?.ok && reading.readings[0]) return reading.readings[0]
        await new Promise((again) => setTimeout(again, 20))
      }
    }
    return { server, read, stop: () => (server.forget(), access.stop()) }
  }
  const readers = async (): Promise<number> =>
    (await lab.exec(HOST, 'ls -d /proc/[0-9]*/exe | while read f; do readlink $f; done')).stdout
      .split('\n')
      .filter((f) => /\/(?:[mg]awk|busybox)$/.test(f)).length

  it('is not used where parameters are not files, which the checklist says; lctl reads them', async () => {
    const { server, read, stop } = await open(LOGIN)
    const reading = await until(read, () => server.steps.some((s) => s.id === 'reader'))
    expect(reading.targets[0]?.entries[0]?.jobId).toBe('1.hog.u1001')
    expect(reading.stream).toBeUndefined()
    const step = server.steps.find((s) => s.id === 'reader')
    expect(step).toMatchObject({ state: 'skipped', command: 'sudo -n /usr/local/sbin/sluice-read' })
    expect(step?.detail).toMatch(/^counters are read by lctl: .* is not readable as a file/)
    stop()
  })

  it.each([LOGIN, 'root'])('gives %s the samples that lctl gives, from one process', async (user) => {
    expect(await lab.exec(HOST, FILES)).toMatchObject({ code: 0, stderr: '' })
    const { server, read, stop } = await open(user)
    const first = await until(read, (r) => r.stream !== undefined)
    expect(first.policies.map((p) => p.name)).toContain('fifo')
    await lab.exec(HOST, FILES)
    const second = await read()
    expect(second.stream?.sequence).toBe((first.stream?.sequence ?? 0) + 1)
    expect(second.stream?.uptimeMs).toBeGreaterThanOrEqual(first.stream?.uptimeMs ?? Infinity)
    const [delta] = second.targets[0]?.deltas ?? []
    expect([delta?.jobId, (delta?.rpcs ?? 0) > 0]).toEqual(['1.hog.u1001', true])
    expect(server.steps.at(-1)).toMatchObject({ id: 'reader', state: 'ok' })
    expect(await readers()).toBe(1)
    stop()
    await until(readers, (n) => n === 0)
  })

  it('exploit: sudo runs it without arguments only, and its files are not open to the login', async () => {
    for (const words of ['/etc/shadow', '-f /etc/shadow', "'' x", '"$(id)"']) {
      const refused = await login(`sudo -n /usr/local/sbin/sluice-read ${words}`)
      expect([refused.code, refused.stdout]).toEqual([1, ''])
      expect(refused.stderr).toMatch(/password is required|not allowed/)
    }
    expect((await login(`cat ${TREE}/devices`)).code).not.toBe(0)
    expect(await login('sudo -n /usr/local/sbin/sluice-read')).toMatchObject({
      code: 0,
      stdout: 'sluice-read 1 4095\n',
    })
  })
})
