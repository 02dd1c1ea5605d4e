import { readFileSync } from 'node:fs'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { discover } from '../cluster/discovery/discover.ts'
import type { SudoKind } from './emulation.ts'
import { endpointOf, knowing, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { startEmulation, type TestEmulation } from '#tests/kits/electron/emulate/emulation.ts'

const open: TestEmulation[] = []
afterAll(() => open.forEach((e) => e.stop()))
afterEach(stopSessions)

/** Runs the console's discovery of a node, in a separate session. */
async function find(sudo: SudoKind, user: string, node: string): ReturnType<typeof discover> {
  const e = await startEmulation(sudo)
  open.push(e)
  const known = readFileSync(e.cluster.knownHosts, 'utf8')
  const session = sessionOf(knowing(known), endpointOf(e.port(node), [e.key.identity], { user }))
  const connected = await session.connect()
  if (!connected.ok) throw new Error(connected.error.what)
  return discover(
    (line) => session.run(line),
    node,
    () => undefined,
    Date.now,
  )
}

describe('what the console finds out about an emulated server', () => {
  it('as root: everything, with timers of systemd', async () => {
    expect(await find('none', 'root', 'oss01')).toMatchObject({
      ok: true,
      value: {
        hostname: 'oss01',
        user: 'root',
        isRoot: true,
        roles: ['oss'],
        targets: ['b-OST0000'],
        versionText: '2.17.57',
        cpts: 1,
        timers: 'systemd',
      },
    })
  })

  it('as an ordinary user: what sudo grants', async () => {
    const of = { hostname: 'mds01', user: 'ops', isRoot: false, targets: ['b-MDT0000'] }
    const kinds = { read: 'none', write: 'helper', broad: 'systemd' } as const
    for (const [kind, timers] of Object.entries(kinds)) {
      const found = await find(kind as SudoKind, 'ops', 'mds01')
      expect(found, kind).toMatchObject({ ok: true, value: { ...of, timers, sudo: { kind } } })
    }
  })

  it('as a user without rights: why it is not read', async () => {
    expect(await find('none', 'ops', 'oss01')).toMatchObject({ ok: false, error: { code: 'SUDO_NEEDED' } })
  })
})
