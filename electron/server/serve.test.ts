import { mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createORPCClient } from '@orpc/client'
import type { AnyRouter } from '@orpc/server'
import { RPCLink } from '@orpc/client/websocket'
import type { ContractRouterClient } from '@orpc/contract'
import { WebSocket } from 'ws'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { smallRouter, type smallContract } from '../../tests/node/small-router.ts'
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

/** A raw request: fetch would tidy up paths and forbid some headers. */
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

async function logIn(url = served.url): Promise<string> {
  const { pathname, search } = new URL(url)
  const answer = await ask(pathname + search)
  expect(answer.status).toBe(303)
  expect(answer.headers.location).toBe('/')
  return String(answer.headers['set-cookie']).split(';')[0] ?? ''
}

function socket(headers: Record<string, string>, path = '/rpc'): WebSocket {
  return new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers })
}

const outcome = (ws: WebSocket): Promise<string> =>
  new Promise((resolve) => {
    ws.on('open', () => resolve('open'))
    ws.on('unexpected-response', (_request, response) => resolve(String(response.statusCode)))
    ws.on('error', (error) => resolve(error.message))
  })

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
    for (let i = 0; i < 2; i++) expect((await ask('/', { cookie })).text).toContain('<title>Sluice</title>')

    const again = await ask(`/?token=${token}`)
    expect(again.status).toBe(401)
    expect(again.text).toContain('used already')
    expect(again.text).toContain('press u and Enter')
    // the browser that traded it may open the address again
    expect((await ask(`/?token=${token}`, { cookie })).headers.location).toBe('/')
    expect((await ask('/', { cookie: `${cookieName(served.port)}=${token}` })).status).toBe(401)
  })

  it('issues a fresh address that works once and outdates the unused one', async () => {
    const first = served.url
    const second = served.freshUrl()
    expect((await ask(first.slice(origin.length))).status).toBe(401)
    const cookie = await logIn(second)
    const other = await logIn(served.freshUrl())
    expect(other).not.toBe(cookie)
    for (const session of [cookie, other]) expect((await ask('/', { cookie: session })).status).toBe(200)
  })

  it('refuses a foreign Host, and any method but GET', async () => {
    const cookie = await logIn()
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
    const cookie = await logIn()
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
    const cookie = await logIn()
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

  /** As many windows as may wait, and one more, which is refused. */
  async function crowd(cookie: string): Promise<{ all: WebSocket[]; ends: Promise<string>[] }> {
    const all = Array.from({ length: MAX_WINDOWS + 1 }, () => socket({ cookie, origin }))
    const ends = all.map(outcome)
    expect(await Promise.race(ends)).toBe('503')
    return { all, ends }
  }

  it('have the page, count while they wait, and go with the port when it is closed', async () => {
    const cookie = await logIn()
    expect((await ask('/', { cookie })).status).toBe(200)
    const { ends } = await crowd(cookie)
    await served.close()
    const told = await Promise.all(ends)
    expect(told.filter((end) => end === 'socket hang up')).toHaveLength(MAX_WINDOWS)
  })

  it('make room when they hang up, and are let through when it is there', async () => {
    const cookie = await logIn()
    for (const gone of (await crowd(cookie)).all) gone.terminate()
    let ws = socket({ cookie, origin })
    let end = outcome(ws)
    // Whoever asks after it is answered after it: then it was refused, or it waits.
    const answers = async (): Promise<string> => {
      for (let i = 0; i < 5; i++) await ask('/', { cookie })
      return 'waits'
    }
    const waits = (): Promise<string> => Promise.race([end, answers()])
    const again = async (): Promise<string> => {
      if ((await waits()) === 'waits') return 'waits'
      ws = socket({ cookie, origin })
      end = outcome(ws)
      return 'refused'
    }
    await expect.poll(again).toBe('waits')
    late.resolve(router.router)
    expect(await end).toBe('open')
    const call: Client = createORPCClient(new RPCLink({ websocket: ws as unknown as globalThis.WebSocket }))
    expect(await call.host.info()).toMatchObject({ name: 'sluice' })
    ws.terminate()
  })
})

describe('the contract over the WebSocket', () => {
  it('upgrades our own page only', async () => {
    const cookie = await logIn()
    expect(await outcome(socket({ cookie, origin: 'http://evil.test' }))).toBe('403')
    expect(await outcome(socket({ cookie }))).toBe('403')
    expect(await outcome(socket({ cookie, origin, host: 'evil.test' }))).toBe('403')
    expect(await outcome(socket({ origin }))).toBe('401')
    expect(await outcome(socket({ origin, cookie: `${cookieName(served.port)}=guess` }))).toBe('401')
    expect(await outcome(socket({ cookie, origin }, '/other'))).toBe('404')
    const open = socket({ cookie, origin })
    expect(await outcome(open)).toBe('open')
    open.terminate()
  })

  const client = async (cookie: string): Promise<{ ws: WebSocket; call: Client }> => {
    const ws = socket({ cookie, origin })
    expect(await outcome(ws)).toBe('open')
    // ws has the browser's interface but for the types of its events
    return { ws, call: createORPCClient(new RPCLink({ websocket: ws as unknown as globalThis.WebSocket })) }
  }

  it('answers calls, each connection under a name of its own', async () => {
    const cookie = await logIn()
    const a = await client(cookie)
    const b = await client(cookie)
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
    const cookie = await logIn()
    const { ws, call } = await client(cookie)
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
    const cookie = await logIn()
    const { ws } = await client(cookie)
    const closed = new Promise<number>((resolve) => ws.on('close', resolve))
    ws.send('x'.repeat((1 << 20) + 1))
    expect(await closed).toBe(1009)

    const raw = connect(served.port, '127.0.0.1')
    raw.on('error', () => undefined).resume()
    raw.end(`GET /rpc HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`)
    await new Promise((resolve) => raw.on('close', resolve))

    const { ws: next, call } = await client(cookie)
    expect(await call.host.info()).toMatchObject({ name: 'sluice' })
    next.terminate()
    for (const junk of ['{"not": "a request"', '{"i":"1","p":{}}', 'null', '[]', Buffer.from('{}')]) {
      const { ws: one } = await client(cookie)
      const end = new Promise<number>((resolve) => one.on('close', resolve))
      one.send(junk)
      expect(await end).toBe(1008)
    }
  })
})
