/** A safe mode that is changed while a controller enforces: its rules are removed, and nothing is written afterwards. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noSshd } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { liveConsole, type LiveConsole } from './live-console.ts'

const waits = { timeout: 60_000, interval: 100 }

describe.skipIf(noSshd !== '')('a cluster whose controller enforces', () => {
  let lab: Lab
  let live: LiveConsole
  beforeAll(async () => {
    lab = await startLab({ servers: ['oss01'], settings: { safe_mode: 'review' } })
  })
  afterEach(async () => live?.close())
  afterAll(async () => lab?.stop())

  const enforcing = async (): Promise<void> => {
    live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts })
    await live.show()
    await live.client.source.setController({ controller: 'static' })
    await live.client.source.setMode({ mode: 'enforce' })
    await expect.poll(() => lab.rules('oss01'), waits).toMatch(/^st_/m)
  }
  const timers = async (): Promise<string> =>
    (await lab.exec('oss01', 'systemctl list-units sluice-*.timer --all --no-legend --plain')).stdout.trim()

  it('and that becomes read-only has no Sluice rule and timer when that is reported', async () => {
    await enforcing()
    await live.client.clusters.setSafeMode({ name: live.name, safeMode: 'read-only' })
    expect(await lab.rules('oss01')).not.toMatch(/^st_/m)
    expect(await timers()).toBe('')
    expect(live.host.monitor.loop.mode).toBe('advise')
    await expect(live.client.source.setMode({ mode: 'enforce' })).rejects.toThrow()
  })

  it('and that asks for an unlock from now on leaves enforce', async () => {
    await enforcing()
    await live.client.clusters.setSafeMode({ name: live.name, safeMode: 'review+unlock' })
    await expect.poll(() => live.host.monitor.loop.mode, waits).toBe('advise')
    await expect.poll(() => lab.rules('oss01'), waits).not.toMatch(/^st_/m)
    await expect(live.client.source.setMode({ mode: 'enforce' })).rejects.toThrow()
  })
})
