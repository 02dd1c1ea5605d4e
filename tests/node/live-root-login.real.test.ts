/** A cluster with root logins: nothing is written until that is allowed, and existing rules can be removed. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import { noSshd } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { liveConsole, type LiveConsole } from './live-console.ts'
import { tempFolder } from './temp-folder.ts'

const waits = { timeout: 60_000, interval: 100 }

describe.skipIf(noSshd !== '')('a login as root', { timeout: 120_000 }, () => {
  let lab: Lab
  let live: LiveConsole | undefined
  beforeAll(async () => {
    lab = await startLab({ servers: ['oss01'], settings: { allow_root: false, safe_mode: 'review' } })
  })
  afterEach(async () => {
    await live?.close()
    live = undefined
  })
  afterAll(async () => lab?.stop())

  const sluice = (data: string, file: string, ...args: string[]): Promise<Ended> =>
    runSluice(['--config', file, '--known-hosts', lab.knownHosts, ...args], { SLUICE_DATA: data, SSH_AUTH_SOCK: '' })
  const rule = (): string => {
    const path = join(tempFolder(), 'desired.yaml')
    writeFileSync(path, 'rules:\n  - { match: "jobid={4690.python.u1021}", rate: 300, name: sl_hog }\n')
    return path
  }

  it('plans from the shell, and ends with 2 and the key that allows it where it would write', async () => {
    const data = tempFolder()
    const plan = await sluice(data, lab.clusterFile, 'rules', 'plan', lab.cluster, '--desired', rule(), '--json')
    expect(plan.stderr).toBe('')
    const { id } = JSON.parse(plan.stdout) as { id: string }
    const to = ['--target', lab.cluster, '--json']
    const applied = await sluice(data, lab.clusterFile, 'rules', 'apply', id, ...to)
    const enforced = await sluice(
      data,
      lab.clusterFile,
      ...['control', lab.cluster, '--controller', 'static', '--mode', 'enforce', '--for', '5', ...to],
    )
    for (const ended of [applied, enforced]) {
      expect([ended.code, JSON.parse(ended.stdout.trim().split('\n').at(-1) ?? '')]).toMatchObject([
        2,
        { error: { code: 'ROOT_LOGIN' } },
      ])
      expect(ended.stderr).toContain('allow_root: true')
    }
    expect(await lab.rules('oss01')).not.toMatch(/^(?:sl|st)_/m)
    // Existing rules can still be removed.
    await lab.exec('oss01', "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='reg start st_0123456789 jobid={x} rate=9'")
    const cleaned = await sluice(data, lab.clusterFile, 'rules', 'clean', lab.cluster, '--json')
    expect([cleaned.code, await lab.rules('oss01')]).toEqual([0, expect.not.stringContaining('st_')])

    const allowed = join(tempFolder(), 'clusters.yaml')
    writeFileSync(allowed, readFileSync(lab.clusterFile, 'utf8').replace('allow_root: false', 'allow_root: true'))
    const done = await sluice(data, allowed, 'rules', 'apply', id, '--target', lab.cluster, '--canary', '0', '--json')
    expect([done.code, done.stderr]).toEqual([0, ''])
    expect(await lab.rules('oss01')).toMatch(/^sl_hog/m)
    await sluice(data, allowed, 'rules', 'clean', lab.cluster)
  })

  it('writes in the window after its name was typed, which is on record; taking it back removes the rules', async () => {
    const dataDir = tempFolder()
    live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts, dataDir })
    const { client, name, host } = live
    await live.show()
    const { servers } = await live.card((c) => c.state === 'connected')
    expect(servers[0]?.steps.find((s) => s.id === 'sudo')?.fix).toContain('allow_root: true')
    await client.source.setController({ controller: 'static' })
    await expect(client.source.setMode({ mode: 'enforce' })).rejects.toMatchObject({ data: { code: 'ROOT_LOGIN' } })
    await expect(client.clusters.setAllowRoot({ name, allow: true, typed: 'other' })).rejects.toMatchObject({
      data: { code: 'NOT_TYPED' },
    })
    await client.clusters.setAllowRoot({ name, allow: true, typed: name })
    await client.source.setMode({ mode: 'enforce' })
    await expect.poll(() => lab.rules('oss01'), waits).toMatch(/^st_/m)
    await client.clusters.setAllowRoot({ name, allow: false, typed: '' })
    expect(await lab.rules('oss01')).not.toMatch(/^st_/m)
    expect(host.monitor.loop.mode).toBe('advise')
    await live.close()
    live = undefined
    const path = join(tempFolder(), 'audit.jsonl')
    await runSluice(['audit', 'export', '-o', path], { SLUICE_DATA: dataDir })
    const record = readFileSync(path, 'utf8')
    expect(record).toContain('root login may write')
    expect(record).toContain('root login may not write')
  })
})
