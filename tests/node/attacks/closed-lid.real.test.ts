/** A laptop that is closed, or left with a locked screen, while writing is unlocked: it is locked when it is opened again. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ShellEvent } from '#core/api/shell.ts'
import { noSshd } from '../../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../../lab/lab.ts'
import { fakeShell } from '../fake-shell.ts'
import { liveConsole, type LiveConsole } from '../live-console.ts'

const waits = { timeout: 60_000, interval: 100 }

describe.skipIf(noSshd !== '')('an unlocked cluster', () => {
  let lab: Lab
  let live: LiveConsole
  beforeAll(async () => {
    lab = await startLab({ servers: ['oss01'], settings: { safe_mode: 'review+unlock' } })
  })
  afterEach(async () => live?.close())
  afterAll(async () => lab?.stop())

  it('is locked by a locked screen and by sleep, and its controller has written its last', async () => {
    const { shell, tell } = fakeShell()
    live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts, around: shell })
    const { client, host, name } = live
    await live.show()
    const events: ShellEvent[] = []
    const following = new AbortController()
    const followed = (async () => {
      for await (const e of await client.shell.events(undefined, { signal: following.signal })) events.push(e)
    })().catch(() => undefined)
    const isOpen = (): boolean => host.onScreen.console.facts.unlockedUntilMs() !== null

    await client.source.setController({ controller: 'static' })
    await client.source.unlock({ typed: name })
    await client.source.setMode({ mode: 'enforce' })
    await expect.poll(() => lab.rules('oss01'), waits).toMatch(/^st_/m)
    tell({ kind: 'power', what: 'lock-screen' })
    expect([isOpen(), host.monitor.loop.mode]).toEqual([false, 'advise'])
    await expect(client.source.setMode({ mode: 'enforce' })).rejects.toMatchObject({ data: { code: 'LOCKED' } })
    await expect.poll(() => lab.rules('oss01'), waits).not.toMatch(/^st_/m)

    // Without an unlock requirement a locked screen changes nothing, but sleep still ends enforce.
    await client.clusters.setSafeMode({ name, safeMode: 'review' })
    await client.source.setMode({ mode: 'enforce' })
    tell({ kind: 'power', what: 'lock-screen' })
    expect(host.monitor.loop.mode).toBe('enforce')
    tell({ kind: 'power', what: 'suspend' })
    expect(host.monitor.loop.mode).toBe('advise')
    tell({ kind: 'power', what: 'resume' })
    expect(host.monitor.loop.mode).toBe('advise')

    await expect.poll(() => events.length, waits).toBe(4)
    expect(events).toEqual([
      { kind: 'power', what: 'lock-screen', locked: [name] },
      { kind: 'power', what: 'lock-screen', locked: [] },
      { kind: 'power', what: 'suspend', locked: [name] },
      { kind: 'power', what: 'resume', locked: [] },
    ])
    following.abort()
    await followed
  })
})
