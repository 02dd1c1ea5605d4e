/** Admitted clients and local programs that send anything: their connection may end, every other one is served. */
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Result } from '#core/base/result.ts'
import { SEQDLM } from '#core/seqdlm/policy.ts'
import { anyMessage } from '#tests/kits/electron/ccpfs/any-message.ts'
import { shortFolder } from '#tests/kits/electron/ccpfs/processes.ts'
import { startClient, type ClientDaemon } from './client-daemon.ts'
import type { CcpfsFile } from './lib.ts'
import { startMeta, type MetaServer } from './meta.ts'
import { startServer, type CcpfsServer } from './server.ts'
import type { WireMessage } from './wire/messages.ts'
import { Peer } from './wire/peer.ts'

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

const folder = shortFolder()
const path = (name: string): string => join(folder, name)
let server: CcpfsServer
let meta: MetaServer
let daemon: ClientDaemon
let file: CcpfsFile

beforeAll(async () => {
  server = value(await startServer({ address: { path: path('s') }, data: path('data'), policy: SEQDLM }))
  const layout = { servers: [path('s')], stripes: 1, stripeSize: 4096 }
  meta = value(await startMeta({ address: { path: path('m') }, data: path('meta'), ...layout }))
  daemon = value(await startClient({ meta: { path: path('m') }, socket: path('c'), flushMs: 0 }))
  file = value(await daemon.fs.open('/f', { create: true }))
  value(await file.write(0, Buffer.from('unharmed')))
})
afterAll(async () => {
  await daemon.close()
  await meta.close()
  await server.close()
})

async function connected(to: string): Promise<Socket> {
  const socket = connect(path(to))
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

/** Sends messages after a hello, and waits until they were received or the connection ended. */
async function sent(to: 's' | 'm', client: number, messages: readonly WireMessage[]): Promise<void> {
  const socket = await connected(to)
  const status = daemon.fs.status()
  await new Promise<void>((resolve) => {
    const peer = new Peer(socket, {
      onMessage: (message) => {
        if (message.kind === 'welcome') {
          for (const m of messages) peer.send(m)
          peer.send({ kind: 'query', reqId: 1, text: 'status' })
        } else if (message.kind === 'answer') resolve()
      },
      onEnd: () => resolve(),
    })
    peer.send({
      kind: 'hello',
      role: 'client',
      client,
      fileSystem: status.fileSystem,
      server: 0,
      servers: to === 's' ? 1 : 0,
      isReturning: false,
      name: 'hostile',
    })
  })
  socket.destroy()
}

/** Resources far from those of files: a client that is admitted may write what it likes. */
const FAR = 1_000_000

describe('any messages of an admitted client', () => {
  it.each(['s', 'm'] as const)('leave the other clients of %s as they are', async (to) => {
    let client = 1000
    const messages = fc.array(anyMessage(fc.nat({ max: 9 }).map((n) => n + FAR)), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(messages, async (list) => {
        await sent(to, ++client, list)
      }),
      { numRuns: 60 },
    )
    const stat = value(await daemon.fs.stat('/f'))
    expect(stat.size).toBe(8)
    value(await file.fsync())
    expect(daemon.fs.counters.evictions).toBe(0)
  })
})

describe('any frames of a local program', () => {
  const frame = fc
    .tuple(fc.nat({ max: 20 }), fc.uint8Array({ maxLength: 60 }))
    .map(([op, payload]) => [...new Uint8Array(new Uint32Array([payload.length + 5, 7]).buffer), op, ...payload])
  const hello = [17, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]

  it('leave the daemon as it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 20 }), fc.uint8Array({ maxLength: 30 }), async (frames, rest) => {
        const socket = await connected('c')
        const over = new Promise((resolve) => socket.once('close', resolve))
        socket.resume()
        socket.end(Buffer.from([...hello, ...frames.flat(), ...rest]))
        await over
      }),
      { numRuns: 60 },
    )
    const read = value(await file.read(0, 100))
    expect(Buffer.from(read).toString()).toBe('unharmed')
  })
})
