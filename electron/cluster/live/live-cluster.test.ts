import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { clusterInput, GUESSED_RATE } from '#core/api/clusters.ts'
import { LiveCluster } from './live-cluster.ts'
import { SshAccess } from './ssh-access.ts'

/** A server with explicit roles that refuses every connection: nothing listens there. */
const input = clusterInput.parse({
  name: 'a',
  env: 'DEV',
  safeMode: 'review',
  intervalMs: 1000,
  servers: [{ host: '127.0.0.1', port: 1, user: 'x', roles: ['oss'] }],
})

let access: SshAccess | undefined
afterEach(() => access?.stop())

/** @param tick  run by a sample, which the end of a cluster waits for */
function world(tick: () => Promise<void> = () => Promise.resolve()) {
  const home = mkdtempSync(join(tmpdir(), 'sluice-live-'))
  access = new SshAccess({ home, configFile: null, knownHosts: [], agentSocket: '', user: 'x', reconnects: false })
  const log: string[] = []
  const cluster = new LiveCluster(input, {
    access,
    begin: (source) => {
      log.push('begin')
      source.start(tick)
      return { close: () => Promise.resolve(void log.push('end')) }
    },
  })
  return { cluster, log }
}

/** Lets all other tasks run, many times over. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await new Promise((done) => setImmediate(done))
}

describe('a live cluster', () => {
  it('that is connected twice at once is sampled once', async () => {
    const { cluster, log } = world()
    await Promise.all([cluster.connect(), cluster.connect(), cluster.connect()])
    expect(log).toEqual(['begin'])
    await cluster.disconnect()
    expect(log).toEqual(['begin', 'end'])
  })

  it('that is connected again while it still ends begins when that is over', async () => {
    const ends: (() => void)[] = []
    const { cluster, log } = world(() => new Promise<void>((resolve) => void ends.push(resolve)))
    await cluster.connect()
    await expect.poll(() => ends.length).toBe(1)
    const ended = cluster.disconnect()
    const again = cluster.connect()
    await settle()
    ends.shift()?.()
    await Promise.all([ended, again])
    expect(log).toEqual(['begin', 'end', 'begin'])
    expect([cluster.isWanted, cluster.source !== undefined]).toEqual([true, true])
    await expect.poll(() => ends.length).toBe(1)
    const last = cluster.disconnect()
    ends.shift()?.()
    await last
    expect([cluster.isWanted, cluster.source, log.length]).toEqual([false, undefined, 4])
  })

  it('that is connected while its servers are being changed has the new ones', async () => {
    const ends: (() => void)[] = []
    const { cluster, log } = world(() => new Promise<void>((resolve) => void ends.push(resolve)))
    await cluster.connect()
    await expect.poll(() => ends.length).toBe(1)
    expect([cluster.source?.maxRate, cluster.source?.isRateGuessed]).toEqual([GUESSED_RATE, true])
    const changed = cluster.change({ ...input, maxRate: 77 })
    const again = cluster.connect()
    await settle()
    ends.shift()?.()
    await Promise.all([changed, again])
    expect([log, cluster.source?.maxRate]).toEqual([['begin', 'end', 'begin'], 77])
    expect(cluster.source?.isRateGuessed).toBe(false)
    await expect.poll(() => ends.length).toBe(1)
    const last = cluster.disconnect()
    ends.shift()?.()
    await last
  })
})
