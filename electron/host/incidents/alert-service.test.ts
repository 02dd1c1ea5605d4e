/** Alerts through the contract: the frames of an alert, and of the incident that it opens. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { afterEach, describe, expect, it } from 'vitest'
import { KINDS } from '#core/alerts/rules.ts'
import { statusFrame } from '#core/api/frames.ts'
import { incidentsFrame } from '#core/api/incidents.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { emulatedConsole, realNotebooks, scenarioOf } from '../../../tests/node/alerted-cluster.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openHost, type Host } from '../host.ts'
import { AlertService } from './alert-service.ts'

const disk = { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 }
const silence = (server: string, at_s: number, for_s: number): object => ({
  what: 'server-silent',
  server,
  at_s,
  for_s,
})

/** Three servers that one quiet job writes to, with the given faults. */
const scenario = (cluster: string, faults: readonly object[]): object => ({
  title: 'Three servers',
  cluster,
  clients: { count: 1 },
  oss: [1, 2, 3].map((n) => ({ name: `oss0${n}`, osts: [{ name: `${cluster}-OST000${n}`, disk }] })),
  control: { controller: 'none', mode: 'observe', max_rate: 200, period_ms: 1000 },
  faults,
  jobs: [{ id: '1.quiet.u1', clients: [1], op: 'write', size_kib: 64, pattern: { kind: 'poisson', rate: 2 } }],
})

const hosts: Host[] = []
afterEach(async () => {
  for (const h of hosts.splice(0)) await h.close()
})

async function opened(faults: readonly object[], dataDir = tempFolder()) {
  const scenarioFile = join(tempFolder(), 'three.yaml')
  writeFileSync(scenarioFile, JSON.stringify(scenario('three', faults)))
  const host = await openHost({
    shell: 'terminal',
    historyFile: join(dataDir, 's.sqlite'),
    paced: false,
    epochSeconds: 1_767_225_600,
    scenarioFile,
  })
  if (!host.ok) throw new Error(`${host.error.what}: ${host.error.why}`)
  hosts.push(host.value)
  const client = createRouterClient(host.value.router, { context: { peer: 'test' } })
  let frames = 0
  const first = async <T>(stream: AsyncIterable<T>): Promise<T> => {
    for await (const frame of stream) return frame
    throw new Error('no frame')
  }
  return {
    dataDir,
    client,
    host: host.value,
    run: (toSecond: number): Promise<void> =>
      host.value.source.runTo(toSecond * NS_PER_S, (atNs) => host.value.monitor.tick(atNs)),
    status: async () => first(await client.source.status({ stream: `s${++frames}`, at: null })),
    incidents: async (selected: string | null = null) =>
      first(await client.views.incidents({ stream: `i${++frames}`, selected })),
  }
}

describe('an alert, as a window sees it', () => {
  it('is in the status and the list, opens an exercise, joins it and says how long it lasted', async () => {
    const c = await opened([silence('oss02', 40, 25), silence('oss03', 160, 300)])
    await c.run(50)
    expect((await c.status()).alerts).toEqual([])
    await c.run(58)
    const status = await c.status()
    expect(statusFrame.parse(status)).toEqual(status)
    expect(status.alerts).toHaveLength(1)
    expect(status.alerts?.[0]).toMatchObject({ kind: 'disconnect', level: 'bad', where: 'oss02', endMs: null })
    const id = status.alerts?.[0]?.incident ?? ''
    expect(id).toMatch(/^INC-/)
    const list = await c.incidents(id)
    expect(incidentsFrame.parse(list)).toEqual(list)
    expect(list.alerts).toEqual(status.alerts)
    expect(list.incidents).toHaveLength(1)
    expect(list.incidents[0]).toMatchObject({
      id,
      status: 'exercise',
      author: 'alert',
      alert: 'disconnect',
      cluster: 'three',
    })
    expect(list.selected?.alert).toMatchObject({ kind: 'disconnect', where: 'oss02' })

    await c.run(180)
    const after = await c.incidents(id)
    expect(after.alerts.map((a) => [a.where, a.endMs === null, a.incident])).toEqual([
      ['oss03', true, id],
      ['oss02', false, id],
    ])
    expect(after.incidents).toHaveLength(1)
    expect(after.incidents[0]?.status).toBe('exercise')
    const note = after.selected?.cells.find((cell) => cell.kind === 'note')
    const text = note?.kind === 'note' ? note.text : ''
    expect(text).toContain('Disconnect on oss02 ended after 25 s')
    expect(text).toContain('oss03 does not answer')
  })

  it('goes by settings that are changed, kept and refused through the contract', async () => {
    const c = await opened([silence('oss01', 40, 300)])
    const { rules } = await c.client.incidents.alertRules()
    expect(rules.map((r) => r.kind)).toEqual(KINDS)
    expect(rules.every((r) => r.on && r.threshold === r.usual.threshold)).toBe(true)
    await c.client.incidents.setAlertRule({ kind: 'disconnect', on: true, threshold: 1, forS: 3, opens: false })
    await expect(
      c.client.incidents.setAlertRule({ kind: 'disconnect', on: true, threshold: 5_000, forS: 3, opens: false }),
    ).rejects.toThrow()
    await c.run(44)
    const { alerts, incidents } = await c.incidents()
    expect(alerts).toMatchObject([{ kind: 'disconnect', incident: null, endMs: null }])
    expect(incidents).toEqual([])
    await c.client.incidents.setAlertRule({ kind: 'disconnect', on: false, threshold: 1, forS: 3, opens: true })
    expect((await c.incidents()).alerts[0]?.endMs).not.toBeNull()
    await c.run(50)
    expect((await c.incidents()).alerts).toHaveLength(1)
    const kept = JSON.parse(readFileSync(join(c.dataDir, 'alerts.json'), 'utf8')) as { rules: object[] }
    expect(kept.rules).toContainEqual({ kind: 'disconnect', on: false, threshold: 1, forS: 3, opens: true })
    for (const h of hosts.splice(0)) await h.close()
    const again = await opened([], c.dataDir)
    expect((await again.client.incidents.alertRules()).rules.find((r) => r.kind === 'disconnect')).toMatchObject({
      on: false,
    })
  })

  it('says in the status that settings could not be read', async () => {
    const dataDir = tempFolder()
    writeFileSync(join(dataDir, 'alerts.json'), '{"format":7}')
    const c = await opened([], dataDir)
    await c.run(2)
    expect((await c.status()).notices.map((n) => n.code)).toContain('ALERTS_UNREAD')
    expect(existsSync(join(dataDir, 'alerts.json.aside'))).toBe(true)
  })
})

describe('several sources', () => {
  it('are each watched for themselves, and keep their alerts while they are disconnected', async () => {
    let wallMs = 0
    const [a, b] = ['a', 'b'].map((name) => emulatedConsole(scenarioOf(scenario(name, [silence('oss01', 40, 900)]))))
    if (!a || !b) throw new Error('no consoles')
    const notebooks = realNotebooks(a.console)
    notebooks.know(b.console)
    const service = new AlertService({
      dataDir: undefined,
      notebooks,
      changed: () => undefined,
      wallMs: () => wallMs,
    })
    const [stopA] = [a, b].map(({ console }) => service.watch(console))
    const run = (c: typeof a, toS: number): Promise<void> =>
      c.source.runTo(toS * NS_PER_S, (atNs) => c.console.monitor.tick(atNs))
    await run(a, 60)
    await run(b, 90)
    expect(service.list().map((x) => [x.where, x.endMs])).toEqual([
      ['oss01', null],
      ['oss01', null],
    ])
    expect(
      notebooks
        .list()
        .map((m) => m.cluster)
        .sort(),
    ).toEqual(['a', 'b'])
    const id = service.of('a')[0]?.incident
    // The operator disconnects one: it ends without an alert.
    stopA?.()
    expect(a.console.alerts).toBeUndefined()
    expect(service.of('a')).toMatchObject([{ endMs: 60_000 }])
    await run(a, 70)
    expect(service.of('a')).toHaveLength(1)
    // Connected again while the server is still silent: the same alert, the same incident.
    service.watch(a.console)
    wallMs = 60_000
    await run(a, 125)
    expect(service.of('a')).toMatchObject([{ endMs: null, incident: id }])
    expect(notebooks.list()).toHaveLength(2)
    service.close()
    await run(b, 100)
    expect(service.list()).toHaveLength(2)
  })
})
