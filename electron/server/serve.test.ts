import { mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnyRouter } from '@orpc/server'
import type { ContractRouterClient } from '@orpc/contract'
import { WebSocket } from 'ws'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  clientOf,
  handshakeOf,
  openAddress,
  pageSocket,
  type BrowserSession,
} from '../../tests/kits/electron/server/browser-session.ts'
import { smallRouter, type smallContract } from '../../tests/node/small-router.ts'
import { keyInFragment, offeredProtocols, RPC_PROTOCOL } from '#core/api/browser-session.ts'
import { cookieName } from './access.ts'
import { MAX_WINDOWS } from './rpc.ts'
import { serveConsole, type Served } from './serve.ts'

type Client = ContractRouterClient<typeof smallContract>

const folder = mkdtempSync(join(tmpdir(), 'sluice serve '))
const webRoot = join(folder, 'renderer')
mkdirSync(join(webRoot, 'assets'), { recursive: true })
writeFileSync(join(webRoot, 'index.html'), '<!doctype html><title>Sluice</title>')
writeFileSync(join(webRoot, 'assets/app.js'), 'export {}')
writeFileSync(join(webRoot, 'notes.exe'), 'x')
writeFileSync(join(folder, 'secret.html'), 'secret')
symlinkSync(join(folder, 'secret.html'), join(webRoot, 'link.html'))

let served: Served
let router: ReturnType<typeof smallRouter>
let origin: string

beforeEach(async () => {
  router = smallRouter()
  const result = await serveConsole({ router: router.router, webRoot, port: 0, host: '127.0.0.1' })
  if (!result.ok) throw new Error(result.error.what)
  served = result.value
  origin = new URL(served.url).origin
})
afterEach(async () => {
  await served.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Answer {
  status: number
  text: string
  headers: Record<string, string | string[] | undefined>
}

/** A raw request: fetch would normalize paths and forbids some headers. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: served.port, path, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
    })
    sent.on('error', reject).end()
  })
}

const logIn = (url = served.url): Promise<BrowserSession> => openAddress(url)

describe('who may read the page', () => {
  it('refuses without a token or with a wrong one', async () => {
    for (const path of ['/', '/index.html', '/assets/app.js', '/?token=wrong', '/?token=']) {
      const answer = await ask(path)
      expect(answer.status, path).toBe(401)
      expect(answer.headers['content-type']).toContain('text/plain')
      expect(answer.headers['set-cookie']).toBeUndefined()
    }
  })

  it('trades the token once for a cookie that is another secret, and reloads by it', async () => {
    const token = new URL(served.url).searchParams.get('token') ?? ''
    const answer = await ask(`/?token=${token}`)
    expect(answer.status).toBe(303)
    const setCookie = String(answer.headers['set-cookie'])
    expect(setCookie).toMatch(new RegExp(`^${cookieName(served.port)}=[\\w-]{32}; HttpOnly; SameSite=Strict; Path=/$`))
    expect(setCookie).not.toContain(token)
    const cookie = setCookie.split(';')[0] ?? ''
    // The key of the page is a third secret, in the fragment, which browsers send to no server.
    const key = keyInFragment(String(answer.headers.location).slice(1)) ?? ''
    expect(key).toHaveLength(32)
    expect(setCookie).not.toContain(key)
    expect(key).not.toBe(token)
    for (let i = 0; i < 2; i++) expect((await ask('/', { cookie })).text).toContain('<title>Sluice</title>')

    const again = await ask(`/?token=${token}`)
    expect(again.status).toBe(401)
    expect(again.text).toContain('used already')
    expect(again.text).toContain('press u and Enter')
    // the browser that exchanged the token may open the address again
    expect((await ask(`/?token=${token}`, { cookie })).headers.location).toBe('/')
    expect((await ask('/', { cookie: `${cookieName(served.port)}=${token}` })).status).toBe(401)
  })

  it('issues a fresh address that works once and outdates the unused one', async () => {
    const first = served.url
    const second = served.freshUrl()
    expect((await ask(first.slice(origin.length))).status).toBe(401)
    const one = await logIn(second)
    const other = await logIn(served.freshUrl())
    expect(other.cookie).not.toBe(one.cookie)
    expect(other.key).not.toBe(one.key)
    for (const { cookie } of [one, other]) expect((await ask('/', { cookie })).status).toBe(200)
  })

  it('tells a page whether its key is valid, so that it knows what to ask for', async () => {
    const { cookie, key } = await logIn()
    const status = async (headers: Record<string, string>): Promise<number> => (await ask('/session', headers)).status
    expect(await status({ cookie, authorization: `Bearer ${key}` })).toBe(204)
    expect(await status({ cookie, authorization: `Bearer ${key}x` })).toBe(401)
    expect(await status({ cookie })).toBe(401)
    expect(await status({ authorization: `Bearer ${key}` })).toBe(401)
  })

  it('refuses a foreign Host, and any method but GET', async () => {
    const { cookie } = await logIn()
    for (const host of ['evil.test', `evil.test:${served.port}`, `localhost:${served.port}`, '127.0.0.1']) {
      expect((await ask('/', { cookie, host })).status, host).toBe(403)
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
      expect((await ask('/', { cookie }, method)).status, method).toBe(405)
    }
  })
})

describe('what it serves', () => {
  it('sends files of known kinds under strict headers', async () => {
    const { cookie } = await logIn()
    const page = await ask('/', { cookie })
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
    expect(page.headers['content-security-policy']).not.toContain("script-src 'self' 'unsafe")
    expect(page.headers['x-content-type-options']).toBe('nosniff')
    expect(page.headers['referrer-policy']).toBe('no-referrer')
    expect((await ask('/assets/app.js?v=1', { cookie })).headers['content-type']).toContain('text/javascript')
    expect((await ask('/notes.exe', { cookie })).status).toBe(404)
    expect((await ask('/assets', { cookie })).status).toBe(404)
    expect((await ask('/none.js', { cookie })).status).toBe(404)
  })

  it('serves nothing outside its folder', async () => {
    const { cookie } = await logIn()
    const paths = [
      '/../secret.html',
      '/%2e%2e/secret.html',
      '/..%2fsecret.html',
      '/..%5csecret.html',
      '/assets/..%2f..%2fsecret.html',
      '/link.html',
      '/%00.html',
      '/%zz',
      '//etc/passwd',
    ]
    for (const path of paths) {
      const answer = await ask(path, { cookie })
      expect([400, 403, 404], path).toContain(answer.status)
      expect(answer.text).not.toContain('secret')
    }
  })

  it('says so when the port is taken', async () => {
    const second = await serveConsole({ router: router.router, webRoot, port: served.port, host: '127.0.0.1' })
    expect(second).toMatchObject({ ok: false, error: { code: 'PORT_TAKEN', why: 'another program uses it' } })
  })
})

describe('windows that come before the contract', () => {
  const late = Promise.withResolvers<AnyRouter>()
  beforeEach(async () => {
    await served.close()
    const result = await serveConsole({ router: late.promise, webRoot, port: 0, host: '127.0.0.1' })
    if (!result.ok) throw new Error(result.error.what)
    served = result.value
    origin = new URL(served.url).origin
  })

  /** Opens as many windows as may wait, and one more, which is refused. */
  async function crowd(session: BrowserSession): Promise<{ all: WebSocket[]; ends: Promise<string>[] }> {
    const all = Array.from({ length: MAX_WINDOWS + 1 }, () => pageSocket(session))
    const ends = all.map(handshakeOf)
    expect(await Promise.race(ends)).toBe('503')
    return { all, ends }
  }

  it('have the page, count while they wait, and go with the port when it is closed', async () => {
    const session = await logIn()
    expect((await ask('/', { cookie: session.cookie })).status).toBe(200)
    const { ends } = await crowd(session)
    await served.close()
    const reported = await Promise.all(ends)
    expect(reported.filter((end) => end === 'socket hang up')).toHaveLength(MAX_WINDOWS)
  })

  it('free their places when they disconnect, and are accepted when there is one', async () => {
    const session = await logIn()
    const { cookie } = session
    for (const gone of (await crowd(session)).all) gone.terminate()
    let ws = pageSocket(session)
    let end = handshakeOf(ws)
    // A request that was sent later is answered later: by then it was refused, or it waits.
    const answers = async (): Promise<string> => {
      for (let i = 0; i < 5; i++) await ask('/', { cookie })
      return 'waits'
    }
    const waits = (): Promise<string> => Promise.race([end, answers()])
    const again = async (): Promise<string> => {
      if ((await waits()) === 'waits') return 'waits'
      ws = pageSocket(session)
      end = handshakeOf(ws)
      return 'refused'
    }
    await expect.poll(again).toBe('waits')
    late.resolve(router.router)
    expect(await end).toBe('open')
    const call = clientOf<Client>(ws)
    expect(await call.host.info()).toMatchObject({ name: 'sluice' })
    ws.terminate()
  })
})

describe('the contract over the WebSocket', () => {
  it('upgrades our own page only', async () => {
    const session = await logIn()
    const { cookie } = session
    const end = (of: Partial<BrowserSession>, path?: string): Promise<string> =>
      handshakeOf(pageSocket({ ...session, ...of }, path))
    const under = (headers: Record<string, string>): Promise<string> =>
      handshakeOf(new WebSocket(`${origin.replace('http', 'ws')}/rpc`, offeredProtocols(session.key), { headers }))
    expect(await under({ cookie, origin: 'http://evil.test' })).toBe('403')
    expect(await under({ cookie })).toBe('403')
    expect(await under({ cookie, origin, host: 'evil.test' })).toBe('403')
    expect(await under({ origin })).toBe('401')
    expect(await end({ cookie: `${cookieName(served.port)}=guess` })).toBe('401')
    expect(await end({ key: 'guess' })).toBe('401')
    expect(await end({}, '/other')).toBe('404')
    const open = pageSocket(session)
    expect(await handshakeOf(open)).toBe('open')
    expect(open.protocol).toBe(RPC_PROTOCOL)
    open.terminate()
  })

  it('keeps a tab connected that was there before another address was opened in the same browser', async () => {
    const first = await logIn()
    const second = await logIn(served.freshUrl())
    // The jar has one cookie of the name: the second one.
    const ws = pageSocket({ ...first, cookie: second.cookie })
    expect(await handshakeOf(ws)).toBe('open')
    ws.terminate()
  })

  const client = async (session: BrowserSession): Promise<{ ws: WebSocket; call: Client }> => {
    const ws = pageSocket(session)
    expect(await handshakeOf(ws)).toBe('open')
    return { ws, call: clientOf<Client>(ws) }
  }

  it('answers calls, each connection under a different name', async () => {
    const session = await logIn()
    const a = await client(session)
    const b = await client(session)
    expect(await a.call.host.info()).toMatchObject({ name: 'sluice', shell: 'browser' })
    await a.call.host.info()
    await b.call.host.info()
    const [first, again, other] = router.seen.peers
    expect(first).toBe(again)
    expect(other).not.toBe(first)
    await expect(a.call.source.setMode({ mode: 'enforce' })).rejects.toMatchObject({ code: 'REFUSED' })
    const junk = { mode: 'rm -rf' } as unknown as { mode: 'observe' }
    await expect(a.call.source.setMode(junk)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    a.ws.close()
    b.ws.close()
  })

  it('streams frames, and ends the stream when the window stops it or goes away', async () => {
    const session = await logIn()
    const { ws, call } = await client(session)
    const seqs: number[] = []
    for await (const frame of await call.source.status({ stream: 's' })) {
      seqs.push(frame.seq)
      if (seqs.length === 3) break
    }
    expect(seqs).toEqual([1, 2, 3])
    await expect.poll(() => router.seen.ended).toBe(1)
    const second = await call.source.status({ stream: 't' })
    expect((await second.next()).done).toBe(false)
    ws.terminate()
    await expect.poll(() => router.seen.ended).toBe(2)
  })

  it('drops a connection that sends too much or what it does not understand, and stays up', async () => {
    const session = await logIn()
    const { ws } = await client(session)
    const closed = new Promise<number>((resolve) => ws.on('close', resolve))
    ws.send('x'.repeat((1 << 20) + 1))
    expect(await closed).toBe(1009)

    const raw = connect(served.port, '127.0.0.1')
    raw.on('error', () => undefined).resume()
    raw.end(`GET /rpc HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`)
    await new Promise((resolve) => raw.on('close', resolve))

    const { ws: next, call } = await client(session)
    expect(await call.host.info()).toMatchObject({ name: 'sluice' })
    next.terminate()
    for (const junk of ['{"not": "a request"', '{"i":"1","p":{}}', 'null', '[]', Buffer.from('{}')]) {
      const { ws: one } = await client(session)
      const end = new Promise<number>((resolve) => one.on('close', resolve))
      one.send(junk)
      expect(await end).toBe(1008)
    }
  })
})
