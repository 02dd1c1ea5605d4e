/** A window that opens streams without end: it gets its share, and other windows are as fast as before. */
import { createRouterClient } from '@orpc/server'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FramePump } from '#electron/host/frame-pump.ts'
import { openHost, type Host } from '#electron/host/host.ts'
import { MAX_STREAMS } from '#electron/host/stream-limit.ts'

const FLOOD = 2_000

let host: Host
beforeEach(async () => {
  const opened = await openHost({ shell: 'browser', historyFile: ':memory:', paced: false })
  if (!opened.ok) throw new Error(opened.error.what)
  host = opened.value
})
afterEach(() => host.close())

const windowOf = (peer: string) => createRouterClient(host.router, { context: { peer } })

it('opens two thousand streams: those above its share are refused by name, and another window opens its own', async () => {
  const flooder = windowOf('browser-1')
  const requests = Array.from({ length: FLOOD }, (_, i) => flooder.views.overview({ stream: `s${i}`, hz: 10 }))
  const ends = await Promise.allSettled(requests)
  const open = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
  expect(open).toHaveLength(MAX_STREAMS)
  expect(refused).toHaveLength(FLOOD - MAX_STREAMS)
  expect(refused[0]).toMatchObject({
    code: 'REFUSED',
    data: { code: 'TOO_MANY_STREAMS', why: `this window has ${MAX_STREAMS} open` },
  })

  const other = await windowOf('browser-2').source.status({ stream: 's', hz: 10 })
  expect(await other.next()).toMatchObject({ done: false })
  await other.return()

  // Closing a stream, read or not, frees one place; closing it twice frees one.
  await open[0]?.next()
  await open[0]?.return()
  await open[0]?.return()
  await open[1]?.return()
  const again = await Promise.allSettled([1, 2, 3].map((i) => flooder.views.overview({ stream: `again${i}`, hz: 10 })))
  expect(again.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  for (const end of again) if (end.status === 'fulfilled') await end.value.return()
  for (const stream of open) await stream.return()
})

it('has as many streams as it may: another window waits for one of their frames, not for all', async () => {
  const listeners = new Set<() => void>()
  const source = {
    onChange: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const pump = new FramePump()
  const ended = new AbortController()
  const built: string[] = []
  const open = async (peer: string, stream: string): Promise<void> => {
    const query = { peer, stream, hz: 1_000, at: null, isFixed: false, beats: false }
    const frames = pump.frames(source, query, ended.signal, (seq) => {
      built.push(peer)
      return { seq }
    })
    for await (const { seq } of frames) pump.acknowledge(peer, stream, seq)
  }
  const running = Array.from({ length: MAX_STREAMS }, (_, i) => open('flooder', `s${i}`))
  running.push(open('other', 's'))
  await expect.poll(() => built.length).toBe(MAX_STREAMS + 1)
  await new Promise((resolve) => setTimeout(resolve, 20))

  built.length = 0
  for (const change of listeners) change()
  await expect.poll(() => built.length).toBe(MAX_STREAMS + 1)
  expect(built).toContain('other')
  expect(built.indexOf('other')).toBeLessThanOrEqual(2)
  ended.abort()
  await Promise.all(running)
})
