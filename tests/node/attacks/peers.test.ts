/** Peers that a controller on another machine must reject: no key, another key, another CA, replayed messages, no TLS at all. */
import { chmodSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectAuthenticated } from '#electron/wire/connect.ts'
import { listenAuthenticated, type Listening } from '#electron/wire/listen.ts'
import { readSecret, writeKey, type PeerSecret, type Peering, type SecretFiles } from '#electron/wire/peer-auth.ts'
import { Authority, noOpenssl } from '#tests/kits/electron/wire/certificates.ts'
import { tempFolder } from '../temp-folder.ts'

const HELLO = 'hello, I am a controller'

let folder: string
/** Messages of admitted peers. */
let heard: string[]
let refused: string[]
let closing: (() => unknown)[]
beforeEach(() => {
  folder = tempFolder()
  heard = []
  refused = []
  closing = []
})
afterEach(async () => {
  for (const close of closing) await close()
})

function secretOf(files: SecretFiles): PeerSecret {
  const read = readSecret(files)
  if (!read.ok || !read.value) throw new Error(read.ok ? 'none' : read.error.why)
  return read.value
}
function newKey(name: string): PeerSecret {
  const keyFile = join(folder, name)
  expect(writeKey(keyFile)).toMatchObject({ ok: true })
  return secretOf({ keyFile })
}
const peering = (secret: PeerSecret | undefined, purpose = 'test/1'): Peering => ({ purpose, secret })

/** Port of a listener that records its messages. */
async function listening(secret: PeerSecret | undefined): Promise<number> {
  const one = await listenAuthenticated(
    { host: '127.0.0.1', port: 0 },
    {
      what: 'a test',
      most: 10,
      peering: peering(secret),
      onSocket: (socket) => {
        heard.push('')
        socket.on('data', (chunk: Buffer) => (heard[heard.length - 1] += chunk.toString()))
        socket.write('welcome')
      },
      onRefused: (why) => refused.push(why),
      onLost: () => undefined,
    },
  )
  if (!one.ok) throw new Error(one.error.why)
  closing.push(() => one.value.close())
  return portOf(one.value)
}
function portOf({ address }: Listening): number {
  if ('path' in address) throw new Error('a path')
  return address.port
}

/** Connects, says hello if admitted, and returns the outcome: `welcome`, or the failure. */
function knock(port: number, by: Peering, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve) => {
    let trouble = 'closed'
    const made = connectAuthenticated({ host, port }, by, {
      onOpen: (socket) => {
        socket.write(HELLO)
        socket.on('data', (chunk: Buffer) => {
          resolve(chunk.toString())
          socket.end()
        })
      },
      onTrouble: (why) => (trouble = why),
      onClose: () => resolve(trouble),
    })
    if (!made.ok) resolve(made.error.code)
  })
}

describe('with one key', () => {
  it('a peer that has it is accepted, any other is not', async () => {
    const key = newKey('key')
    const port = await listening(key)
    expect(await knock(port, peering(key))).toBe('welcome')
    await expect.poll(() => heard).toEqual([HELLO])
    expect(await knock(port, peering(newKey('another')))).toBe('it has another key')
    expect(await knock(port, peering(undefined))).not.toBe('welcome')
    expect(await knock(port, peering(key, 'other-protocol/1'))).toBe('it speaks another protocol')
    expect(heard).toEqual([HELLO])
    expect(refused[0]).toBe('it has another key')
  })

  it('a server that does not have it learns nothing', async () => {
    const port = await listening(newKey('of the impostor'))
    expect(await knock(port, peering(newKey('key')))).toBe('it has another key')
    expect(heard).toEqual([])
  })

  it('what was recorded of one who was let in does not open the port again', async () => {
    const key = newKey('key')
    const port = await listening(key)
    const recorded: Buffer[] = []
    const tap = createServer((from) => {
      const to = connect(port, '127.0.0.1')
      from.on('data', (chunk: Buffer) => {
        recorded.push(chunk)
        to.write(chunk)
      })
      to.pipe(from)
      for (const one of [from, to]) one.on('error', () => undefined)
      from.on('close', () => to.destroy())
    })
    expect(await knock(await portOfServer(tap), peering(key))).toBe('welcome')
    await expect.poll(() => heard).toEqual([HELLO])

    expect(recorded.length).toBeGreaterThan(1)
    expect(Buffer.concat(recorded).includes(HELLO)).toBe(false)
    const replayed = connect(port, '127.0.0.1')
    let answer = Buffer.alloc(0)
    replayed.on('error', () => undefined).on('data', (chunk: Buffer) => (answer = Buffer.concat([answer, chunk])))
    for (const chunk of recorded) replayed.write(chunk)
    await new Promise((resolve) => replayed.on('close', resolve))
    expect(answer.includes('welcome')).toBe(false)
    expect(heard).toEqual([HELLO])
  })

  it.each(['GET / HTTP/1.1\r\n\r\n', '\x1a\x00\x00\x00\x01\x20\x00\x00'])(
    'a peer without TLS that says %j is ended, and the port stays open',
    async (text) => {
      const key = newKey('key')
      const port = await listening(key)
      const plain = connect(port, '127.0.0.1', () => plain.write(text))
      plain.on('error', () => undefined).resume()
      // An incomplete handshake times out after seconds.
      const closed = new Promise((resolve) => plain.on('close', resolve))
      expect(await knock(port, peering(key))).toBe('welcome')
      plain.write('x'.repeat(64))
      await closed
      await expect.poll(() => heard).toEqual([HELLO])
    },
  )

  it('a server without TLS is sent nothing but a handshake', async () => {
    const plain = createServer((socket: Socket) => {
      socket
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => {
          heard.push(chunk.toString('latin1'))
          socket.end('welcome, plainly')
        })
    })
    expect(await knock(await portOfServer(plain), peering(newKey('key')))).toBe('it does not speak TLS')
    expect(heard.join('')).not.toContain(HELLO)
  })

  async function portOfServer(server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    return (server.address() as AddressInfo).port
  }
})

describe.skipIf(noOpenssl !== '')('with certificates of one CA', () => {
  it('both sides need one of it, and a key is none', async () => {
    const site = new Authority(folder, 'site')
    const other = new Authority(folder, 'other')
    const port = await listening(secretOf(site.issue('global')))
    expect(await knock(port, peering(secretOf(site.issue('local'))))).toBe('welcome')
    await expect.poll(() => heard).toEqual([HELLO])

    // Trusts the site's CA, and shows a certificate of another.
    const foreign = { ...other.issue('local'), tlsCa: site.issue('more').tlsCa }
    expect(await knock(port, peering(secretOf(foreign)))).not.toBe('welcome')
    // Trusts another CA: the server's certificate is refused, and nothing is sent.
    expect(await knock(port, peering(secretOf(other.issue('local2'))))).not.toBe('welcome')
    expect(await knock(port, peering(newKey('key')))).not.toBe('welcome')
    const bare = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
    const end = new Promise<string>((resolve) => {
      bare.on('error', (e: NodeJS.ErrnoException) => resolve(e.code ?? e.message))
      bare.on('data', (chunk: Buffer) => resolve(chunk.toString()))
    })
    expect(await end).toContain('CERTIFICATE_REQUIRED')
    expect(heard).toEqual([HELLO])
  })

  it('a certificate of another host is refused by the connecting side', async () => {
    const site = new Authority(folder, 'site')
    const port = await listening(secretOf(site.issue('global', 'DNS:controller.example,IP:192.0.2.1')))
    expect(await knock(port, peering(secretOf(site.issue('local'))))).toContain('is not in the cert')
    expect(heard.join('')).toBe('')
  })
})

describe('without a secret', () => {
  it.each(['0.0.0.0', '192.0.2.1', '::', '::ffff:127.0.0.1', 'controller.example', '127.evil.example'])(
    '%s is neither listened at nor connected to',
    async (host) => {
      const options = { what: 'a test', most: 1, peering: peering(undefined), onSocket: () => undefined }
      const address = { host, port: 0 }
      expect(await listenAuthenticated(address, { ...options, onLost: () => undefined })).toMatchObject({
        ok: false,
        error: { code: 'PEER_UNAUTHENTICATED' },
      })
      expect(await knock(7424, peering(undefined), host)).toBe('PEER_UNAUTHENTICATED')
    },
  )
})

describe('files of secrets', () => {
  const code = (files: SecretFiles): string | undefined => {
    const read = readSecret(files)
    return read.ok ? undefined : `${read.error.code}: ${read.error.why ?? ''}`
  }

  it('that others can read are refused, and so is what is no key', () => {
    const keyFile = join(folder, 'key')
    newKey('key')
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
    for (const mode of [0o644, 0o640, 0o604, 0o660, 0o611]) {
      chmodSync(keyFile, mode)
      expect(code({ keyFile })).toBe('SECRET_FILE: other users can read it')
    }
    chmodSync(keyFile, 0o400)
    expect(code({ keyFile })).toBe(undefined)
    const link = join(folder, 'link')
    symlinkSync(keyFile, link)
    expect(code({ keyFile: link })).toBe(undefined)
    for (const text of ['', 'short', 'x'.repeat(42), `${'x'.repeat(43)} two words`, 'ü'.repeat(50)]) {
      const bad = join(folder, 'bad')
      writeFileSync(bad, text, { mode: 0o600 })
      expect(code({ keyFile: bad }), text).toContain('SECRET_FILE: a key is one word')
    }
    expect(code({ keyFile: folder })).toBe('SECRET_FILE: it is not a file')
    expect(code({ keyFile: '/dev/zero' })).toBe('SECRET_FILE: it is not a file')
    expect(code({ keyFile: join(folder, 'none') })).toContain('ENOENT')
    // An existing file is not replaced.
    expect(writeKey(keyFile)).toMatchObject({ ok: false, error: { code: 'SECRET_FILE' } })
  })

  it.skipIf(noOpenssl !== '')('of certificates are all there, fit each other, and their key is private', () => {
    const site = new Authority(folder, 'site')
    const files = site.issue('one')
    const other = site.issue('two')
    expect(code(files)).toBe(undefined)
    expect(code({ ...files, tlsKey: other.tlsKey })).toContain('SECRET_FILE')
    expect(code({ tlsCa: files.tlsCa, tlsCert: files.tlsCert })).toContain('SECRET_CHOICE')
    expect(code({ ...files, keyFile: join(folder, 'key') })).toContain('SECRET_CHOICE')
    chmodSync(files.tlsKey, 0o644)
    expect(code(files)).toBe('SECRET_FILE: other users can read it')
  })
})
