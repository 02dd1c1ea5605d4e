import { createRouterClient } from '@orpc/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clusterInput, type CheckEvent, type ClusterCard, type ConnectionsFrame } from '#core/api/clusters.ts'
import { readClusters } from '#electron/cluster/live/cluster-file.ts'
import { openHost, type Host } from '#electron/host/host.ts'
import { noSshd } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { tempFolder } from './temp-folder.ts'

/** Console with the lab's cluster configured, nothing connected. */
async function consoleOf(lab: Lab, trusts = true) {
  const dataDir = tempFolder()
  const read = readClusters(lab.clusterFile)
  if (!read.ok) throw new Error(read.error.why)
  const opened = await openHost({
    shell: 'terminal',
    historyFile: ':memory:',
    dataDir,
    paced: false,
    clusters: read.value,
    ssh: {
      home: dataDir,
      configFile: null,
      agentSocket: '',
      knownHosts: trusts ? [{ path: lab.knownHosts, isRequired: true }] : [],
    },
  })
  if (!opened.ok) throw new Error(opened.error.what)
  const host = opened.value
  const client = createRouterClient(host.router, { context: { peer: 'test' } })
  return { host, client, dataDir, name: read.value[0]!.name }
}

let streams = 0

type Client = Awaited<ReturnType<typeof consoleOf>>['client']

/** First frame of connections that matches. */
async function until(
  client: Client,
  fits: (card: ClusterCard, frame: ConnectionsFrame) => boolean,
): Promise<ClusterCard> {
  const stream = `c${++streams}`
  const frames = await client.views.connections({ stream, hz: 10 }, { signal: AbortSignal.timeout(18_000) })
  let last: ClusterCard | undefined
  for await (const f of frames) {
    await client.host.ack({ stream, seq: f.seq })
    last = f.clusters[0]!
    if (fits(last, f)) return last
  }
  throw new Error(`it never came: ${JSON.stringify({ ...last, probes: [], cost: [] }, null, 1).slice(0, 4000)}`)
}

const hosts: Host[] = []
const open = async (lab: Lab, trusts?: boolean) => {
  const opened = await consoleOf(lab, trusts)
  hosts.push(opened.host)
  return opened
}

describe.skipIf(noSshd !== '')('a live cluster', () => {
  let lab: Lab
  beforeAll(async () => {
    lab = await startLab()
  })
  afterAll(async () => {
    for (const h of hosts) await h.close()
    await lab.stop()
  })

  it('is connected, found out about, sampled and put on screen', async () => {
    const { client, host, name } = await open(lab)
    await client.clusters.connect({ name })
    await client.clusters.show({ name })
    const card = await until(client, (c) => c.state === 'connected' && c.onScreen)
    expect(card.servers.map((s) => [s.state, s.roles.length > 0, s.key?.verdict])).toEqual(
      card.servers.map(() => ['connected', true, 'match']),
    )
    expect(card.servers.find((s) => s.roles.includes('oss'))?.steps.filter((s) => s.state === 'bad')).toEqual([])
    const frames = await client.views.overview({ stream: 'o', hz: 5 }, { signal: AbortSignal.timeout(15_000) })
    for await (const f of frames) {
      await client.host.ack({ stream: 'o', seq: f.seq })
      if (f.sample >= 2) break
    }
    expect(host.monitor.source.kind).toBe('LIVE')
    expect(host.monitor.jobs.size).toBeGreaterThan(2)
    expect(host.monitor.missing.size).toBe(0)
  })

  it('says which server does not answer, keeps the others, and takes it back when it answers', async () => {
    const { client, host, name } = await open(lab)
    await client.clusters.connect({ name })
    await client.clusters.show({ name })
    await until(client, (c) => c.state === 'connected' && c.onScreen)
    lab.kill('oss02')
    const partial = await until(client, (c) => c.state === 'partial')
    expect(
      partial.servers.find((s) => s.host.includes(String(lab.node('oss02').port)) || s.level === 'bad'),
    ).toBeDefined()
    const before = host.monitor.sample
    await expect.poll(() => host.monitor.sample).toBeGreaterThan(before + 2)
    await lab.restart('oss02')
    await until(client, (c) => c.state === 'connected')
  })

  it('shows an unknown key before anything of the user is sent, and continues when a person trusts it', async () => {
    const { client, host: console, name } = await open(lab, false)
    await client.clusters.connect({ name })
    const refused = await until(client, (c) => c.servers.every((s) => s.state === 'refused'))
    const keys = refused.servers.map((s) => s.key!)
    expect(keys.every((k) => k.isOpen && /^SHA256:[A-Za-z0-9+/]{43}$/.test(k.fingerprint))).toBe(true)
    const forged = { ...keys[0]!, fingerprint: `SHA256:${'A'.repeat(43)}`, compared: true }
    const { host, port, type, compared } = forged
    await expect(
      client.clusters.trust({ host, port, type, compared, fingerprint: forged.fingerprint }),
    ).rejects.toMatchObject({
      data: { code: 'KEY_NOT_SHOWN' },
    })
    for (const k of keys) {
      await client.clusters.trust({
        host: k.host,
        port: k.port,
        type: k.type,
        fingerprint: k.fingerprint,
        compared: true,
      })
    }
    await until(client, (c) => c.state === 'connected')
    const trusted = console.clusters.access.store?.read()
    expect(trusted?.ok && trusted.value.length).toBe(keys.length)
  })

  it('is checked step by step before it is added, written down, and there again at the next start', async () => {
    const { client, host, dataDir } = await open(lab, false)
    const at = lab.node('oss01')
    const server = {
      name: 'oss01',
      host: '127.0.0.1',
      port: at.port,
      user: lab.user,
      identity: lab.identity,
      jump: null,
      roles: [],
    }
    const check = async () => {
      const events: CheckEvent[] = []
      for await (const e of await client.clusters.check(server)) events.push(e)
      return events
    }
    const logins = (): number => at.sshd.log().split('Accepted publickey').length
    const before = logins()
    const first = await check()
    const key = first.find((e) => e.kind === 'key')?.key
    expect(first.at(-1)).toEqual({ kind: 'end', ok: false })
    expect(logins()).toBe(before)
    await client.clusters.trust({ ...key!, compared: true })
    const second = await check()
    expect(second.at(-1)).toEqual({ kind: 'end', ok: true })
    const found = second.find((e) => e.kind === 'found')?.server
    expect(found).toMatchObject({ roles: ['oss'], timers: 'systemd', sudo: { kind: 'root' } })
    expect(found?.targets.length).toBeGreaterThan(0)
    // Every command was listed before it ran.
    const seen = second.flatMap((e) => (e.kind === 'steps' ? e.steps.filter((s) => s.state === 'now') : []))
    expect(seen.filter((s) => s.command === '')).toEqual([])
    await client.clusters.save({ cluster: clusterInput.parse({ name: 'added', env: 'STAGE', servers: [server] }) })
    await expect(
      client.clusters.save({ cluster: clusterInput.parse({ name: 'added', env: 'DEV', servers: [server] }) }),
    ).rejects.toMatchObject({ data: { code: 'CLUSTER_NAME' } })
    await host.close()
    hosts.splice(hosts.indexOf(host), 1)
    const again = await openHost({ shell: 'terminal', historyFile: ':memory:', dataDir, paced: false })
    if (!again.ok) throw new Error(again.error.what)
    hosts.push(again.value)
    expect(again.value.clusters.find('added')?.cluster.input).toMatchObject({ env: 'STAGE', safeMode: 'review+unlock' })
  })

  it('loses its place on the screen when it is disconnected, and nothing of it runs on', async () => {
    const { client, host, name } = await open(lab)
    await client.clusters.connect({ name })
    await client.clusters.show({ name })
    await until(client, (c) => c.onScreen)
    await client.clusters.disconnect({ name })
    expect(host.monitor.source.kind).toBe('EMULATED')
    const card = await until(client, (c) => c.state === 'idle')
    expect(card.servers.map((s) => s.state)).toEqual(card.servers.map(() => 'idle'))
    await expect(client.clusters.show({ name })).rejects.toMatchObject({ data: { code: 'NOT_CONNECTED' } })
  })
})
