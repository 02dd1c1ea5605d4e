/**
 * A compromised page that repeats requests without end: the user is not flooded with dialogs, nor the host with ports, streams and
 * records.
 */
import { MessageChannel } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import type { ContractRouterClient } from '@orpc/contract'
import { createRouterClient } from '@orpc/server'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { MenuModel } from '#core/api/shell.ts'
import { openHost, type Host } from '#electron/host/host.ts'
import { portServer } from '#electron/main/host-ports.ts'
import { native } from '#electron/main/native.ts'
import { verbWatch } from '#electron/server/messages.ts'
import { asElectronPort, type FakeElectron } from '../fake-electron.ts'
import { fakeShell } from '../fake-shell.ts'
import { smallRouter, type smallContract } from '../small-router.ts'

vi.mock('electron', async () => {
  const { fakeElectron } = await import('../fake-electron.ts')
  const fake = fakeElectron()
  return { ...fake, default: fake }
})
const fake = (await import('electron')) as unknown as FakeElectron

describe('through the host', () => {
  let host: Host
  let around: ReturnType<typeof fakeShell>
  const client = () => createRouterClient(host.router, { context: { peer: 'window-1' } })
  beforeEach(async () => {
    around = fakeShell()
    const opened = await openHost({
      shell: 'desktop',
      historyFile: ':memory:',
      paced: false,
      around: around.shell,
    })
    if (!opened.ok) throw new Error(opened.error.what)
    host = opened.value
  })
  afterEach(async () => {
    vi.useRealTimers()
    await host.close()
  })

  it('raises one dialog at a time, and a dozen in a minute', async () => {
    const ask = () => client().shell.save({ name: 'x.csv', bytes: 1 })
    const together = await Promise.allSettled([ask(), ask(), ask()])
    expect(together.map((t) => t.status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    for (let i = 0; i < 40; i++) await ask().catch(() => undefined)
    expect(around.seen.names).toHaveLength(12)
    await expect(ask()).rejects.toMatchObject({ data: { code: 'SAVE_BUSY' } })
  })

  it('has the menu drawn a few times a second, the last one as it is', async () => {
    vi.useFakeTimers()
    const menu = (title: string): MenuModel => ({ menus: [{ title, entries: [] }] })
    for (let i = 0; i < 200; i++) await client().shell.setMenu(menu(`m${i}`))
    expect(around.seen.menus).toEqual([menu('m0')])
    vi.advanceTimersByTime(10_000)
    expect(around.seen.menus).toEqual([menu('m0'), menu('m199')])
  })

  it('follows what happens in a few streams: the oldest ends', async () => {
    const streams = await Promise.all(Array.from({ length: 17 }, () => client().shell.events()))
    expect(await streams[0]?.next()).toMatchObject({ done: true })
    around.tell({ kind: 'command', id: 'frame.palette' })
    for (const stream of streams.slice(1)) expect(await stream.next()).toMatchObject({ done: false })
    await Promise.all(streams.map((stream) => stream.return()))
  })
})

it('asks for port after port, and has the last eight', async () => {
  const serve = portServer(smallRouter().router)
  const channels = Array.from({ length: 12 }, () => new MessageChannel())
  const closed: number[] = []
  channels.forEach(({ port1, port2 }, i) => {
    port2.on('close', () => closed.push(i))
    serve(asElectronPort(port1))
  })
  await vi.waitFor(() => expect(closed.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]))
  const last = channels[11]?.port2
  if (!last) throw new Error('no port')
  const client: ContractRouterClient<typeof smallContract> = createORPCClient(new RPCLink({ port: last }))
  last.start()
  expect(await client.host.info()).toMatchObject({ name: 'sluice' })
  for (const { port2 } of channels) port2.close()
})

it('connects again and again to be put on record: the record does not grow with it', () => {
  const reported = vi.fn()
  const watch = verbWatch(new Set(['/host/info']), reported)
  for (let peer = 0; peer < 1000; peer++) {
    for (let i = 0; i < 10; i++) watch(`window-${peer}`, JSON.stringify({ i: '1', p: { u: '/host/exec' } }))
  }
  expect(reported).toHaveBeenCalledTimes(100)
})

describe('with an address that carries what it read', () => {
  const url = 'https://evil.example/?jobs=4711'
  const open = () => native(vi.fn(), vi.fn()).answer({ kind: 'link', url })
  beforeEach(() => {
    fake.links.splice(0)
    fake.dialog.showMessageBox.calls.splice(0)
  })

  it('opens nothing unless the person who reads it says so', async () => {
    fake.state.response = 0
    expect(await open()).toMatchObject({ ok: false, error: { code: 'LINK_REFUSED' } })
    expect(fake.links).toEqual([])
    expect(fake.dialog.showMessageBox.calls.at(-1)?.at(-1)).toMatchObject({ detail: url, defaultId: 0, cancelId: 0 })
    fake.state.response = 1
    expect(await open()).toMatchObject({ ok: true })
    expect(fake.links).toEqual([[url]])
  })

  it('asks once at a time, and not at all for what is no page', async () => {
    fake.state.response = 0
    const desktop = native(vi.fn(), vi.fn())
    const ask = (url: string) => desktop.answer({ kind: 'link', url })
    await Promise.all([ask(url), ask(url), ask(url), ask('file:///etc/passwd')])
    expect(fake.dialog.showMessageBox.calls).toHaveLength(1)
    await ask(url)
    expect(fake.dialog.showMessageBox.calls).toHaveLength(2)
  })
})
