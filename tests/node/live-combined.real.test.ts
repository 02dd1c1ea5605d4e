/** A server that is both OSS and MDS, over a real sshd: one name everywhere, and facts that are discovered again when it boots. */
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { splitParams } from '#core/lustre/lctl.ts'
import { SERVICES } from '#electron/base/service.ts'
import { stopScript } from '#electron/host/sources/stop.ts'
import { LIMITS } from '#electron/ssh/limits.ts'
import { noSshd, scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { endsOf, liveConsole, type LiveConsole } from './live-console.ts'

const HOST = 'lustre01'
const waits = { timeout: 60_000, interval: 100 }
const PLACED = [
  [SERVICES.ost_io, 'sl_data'],
  [SERVICES.mdt, 'sl_meta'],
  [SERVICES.mdt_readpage, 'sl_page'],
] as const

const scenario = (): string => {
  const file = join(scratch(), 'combined.yaml')
  writeFileSync(
    file,
    `title: One machine
cluster: one
policy: tbf jobid
clients: { count: 2 }
control: { max_rate: 200, mode: observe }
oss:
  - name: ${HOST}
    osts:
      - { name: one-OST0000, disk: { bandwidth_mb_s: 200 } }
      - { name: one-OST0001, disk: { bandwidth_mb_s: 200 } }
mds:
  - { name: ${HOST}, mdts: [{ name: one-MDT0000 }] }
jobs:
  - { id: "1.data.u1", clients: [1], op: write, size_kib: 64, processes: 2, pattern: { kind: continuous } }
  - { id: "2.meta.u2", clients: [2], op: open, processes: 2, pattern: { kind: continuous } }
`,
  )
  return file
}

/** lctl of a booting server: while one file exists, no module is loaded; while another exists, no target is mounted. */
const BOOTING = [
  'PATH=${PATH#*:}',
  'gone() { for p in "$@"; do case $p in *.*) echo "error: get_param: param_path \'$p\': No such file or directory" >&2 ;; esac; done; exit 2; }',
  'if [ -e $LAB_SHARED/unloaded ] && [ "$1" != --version ]; then',
  '  echo "error: get_param: param_path \'version\': No such file or directory" >&2; exit 2; fi',
  'if [ -e $LAB_SHARED/unmounted ]; then case $* in dl) exit 0 ;; *job_stats*|*nrs_*|*ldlm*) gone "$@" ;; esac; fi',
  'exec lctl "$@"',
].join('\n')

/** grep that also finds a process which ended before its command line is read. */
const ENDED_PROCESS =
  'grep() { command grep "$@"; e=$?; case $1 in -lsE) echo /proc/4194305/cmdline ;; esac; return $e; }\n'

describe.skipIf(noSshd !== '')('a server that is OSS and MDS, over SSH', () => {
  const folder = scratch()
  const unloaded = join(folder, 'unloaded')
  const unmounted = join(folder, 'unmounted')
  let lab: Lab
  let live: LiveConsole
  beforeAll(async () => {
    lab = await startLab({
      scenario: scenario(),
      servers: [HOST],
      settings: { interval_ms: 1000 },
      programs: { lctl: BOOTING },
      shared: folder,
    })
    const limits = { ...LIMITS, backoff: { baseMs: 400, mostMs: 1600 } }
    live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts, limits })
    await live.show()
  })
  afterAll(async () => {
    await live?.close()
    await lab?.stop()
  })

  const left = async (): Promise<string[]> => {
    const texts = await Promise.all(PLACED.map(([s]) => lab.rules(HOST, s.rules.replace('.nrs_tbf_rule', ''))))
    return texts.flatMap((t) => t.match(/^sl_\w+/gm) ?? [])
  }
  const place = async (): Promise<void> => {
    for (const [service, name] of PLACED) {
      await lab.exec(HOST, `lctl set_param ${service.rules}='reg start ${name} jobid={x.*} rate=20'`)
    }
    expect(await left()).toEqual(PLACED.map(([, name]) => name))
  }
  const monitor = () => live.host.monitor

  it('is one card and one node', async () => {
    const card = await live.card((c) => c.state === 'connected')
    expect(card.servers.map((s) => [s.host, s.roles])).toEqual([[HOST, ['oss', 'mds']]])
    expect(monitor().source.nodes.map((n) => [n.host, n.roles])).toEqual([[HOST, ['oss', 'mds']]])
    const all = { job_stats: 3, ost_io: 1, mdt: 1 }
    const reading = { ost: monitor().reading(HOST, 'ost_io'), mdt: monitor().reading(HOST, 'mdt') }
    expect({
      job_stats: (reading.ost?.targets.length ?? 0) + (reading.mdt?.targets.length ?? 0),
      ost_io: monitor().serversOf('ost_io').length,
      mdt: monitor().serversOf('mdt').length,
    }).toEqual(all)
    expect(reading.ost?.atNs).toBe(reading.mdt?.atNs)
  })

  it('has the rules of all its services listed under its name', async () => {
    await place()
    for (const [service, name] of PLACED) {
      await expect
        .poll(
          () =>
            monitor()
              .serviceReading(HOST, service.name)
              ?.rules.map((r) => r.name),
          waits,
        )
        .toContain(name)
      for await (const f of await live.client.views.rules({ stream: `r${name}`, service: service.name })) {
        await live.client.host.ack({ stream: `r${name}`, seq: f.seq })
        if (!f.rows.some((r) => r.name === name)) continue
        expect([f.nodes, f.rows.map((r) => r.name).filter((n) => n.startsWith('sl_'))]).toEqual([[HOST], [name]])
        break
      }
    }
  })

  it('has its locks counted once', async () => {
    const { stdout } = await lab.exec(HOST, 'lctl get_param ldlm.namespaces.*.pool.limit')
    const names = [...splitParams(stdout).keys()].filter((n) => /\.(?:filter|mdt)-/.test(n))
    expect(names).toHaveLength(3)
    await expect.poll(() => [...monitor().ldlm.series.known].length, waits).toBe(3)
    expect([...monitor().ldlm.series.known].map((n) => n.node)).toEqual([HOST, HOST, HOST])
  })

  it.each(['dash', 'busybox sh', 'bash'])('is freed by the script of the global stop, run by %s', async (shell) => {
    await place()
    const script = stopScript(live.host.onScreen.console)
    expect(script.text.match(/^'?lustre01\S*\)$/gm)).toHaveLength(1)
    expect(script.text).not.toContain('+')
    const args = ['-F', lab.sshConfig, '-o', 'BatchMode=yes', HOST, `${shell} -s ${HOST}`]
    const ran = spawnSync('ssh', args, { input: ENDED_PROCESS + script.text, encoding: 'utf8' })
    expect(ran.stderr).toBe('')
    expect(ran).toMatchObject({ status: 0 })
    expect(ran.stdout).toMatch(/lustre01: no rule of Sluice is left\n$/)
    expect(await left()).toEqual([])
  })

  it('is freed by the global stop: one server, one end', async () => {
    await place()
    await live.client.source.unlock({ typed: live.name })
    const stopped = await live.client.source.stopAll()
    expect(endsOf(stopped.nodes)).toEqual([`${HOST} done`])
    expect([stopped.removed, await left()]).toEqual([3, []])
  })

  it('that was reset works again after its boot, without any action', async () => {
    lab.kill(HOST)
    await live.card((c) => c.servers[0]?.state === 'lost')
    for (const file of [unloaded, unmounted]) writeFileSync(file, '')
    await lab.restart(HOST)
    await live.card((c) => c.servers[0]?.code === 'LUSTRE_NOT_LOADED')
    rmSync(unloaded)
    await live.card((c) => c.servers[0]?.steps.some((s) => s.detail.startsWith('nothing is set up')) === true)
    // It keeps its place and name while it is missing.
    expect(monitor().serversOf('mdt')).toEqual([HOST])
    rmSync(unmounted)
    const card = await live.card(
      (c) =>
        c.state === 'connected' &&
        c.servers[0]?.targets.length === 3 &&
        !c.servers[0].steps.some((s) => s.state === 'bad') &&
        !c.notices.some((n) => n.code === 'LEFTOVERS'),
      60_000,
    )
    expect(card.servers[0]?.roles).toEqual(expect.arrayContaining(['oss', 'mds']))
    const before = monitor().answered
    await expect.poll(() => monitor().answered, waits).toBeGreaterThan(before + 1)
    expect(monitor().missing.size).toBe(0)
  })
})
