/** Another local server in the same browser: cookies are shared between ports, so it receives the console's. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { offeredProtocols, SESSION_PATH } from '#core/api/browser-session.ts'
import { metricsOf } from '#electron/server/metrics.ts'
import { serveConsole, type Served } from '#electron/server/serve.ts'
import {
  handshakeOf,
  openAddress,
  pageSocket,
  type BrowserSession,
} from '../../kits/electron/server/browser-session.ts'
import { smallRouter } from '../small-router.ts'
import { tempFolder } from '../temp-folder.ts'

const METRIC = 'sluice_secret 1'

let served: Served
let notebook: Server
let session: BrowserSession
/** The notebook's copy of the browser's cookie. */
let stolen: string

beforeEach(async () => {
  const webRoot = join(tempFolder(), 'renderer')
  mkdirSync(webRoot)
  writeFileSync(join(webRoot, 'index.html'), '<!doctype html><title>Sluice</title>')
  const result = await serveConsole({
    router: smallRouter().router,
    webRoot,
    port: 0,
    host: '127.0.0.1',
    metrics: metricsOf(() => METRIC),
  })
  if (!result.ok) throw new Error(result.error.what)
  served = result.value
  session = await openAddress(served.url)

  stolen = ''
  notebook = createServer((request, response) => {
    stolen = request.headers.cookie ?? ''
    response.end('cells')
  })
  await new Promise<void>((resolve) => notebook.listen(0, '127.0.0.1', resolve))
  // The browser's visit: its jar has one list of cookies for 127.0.0.1.
  await fetch(`http://127.0.0.1:${(notebook.address() as AddressInfo).port}/`, { headers: { cookie: session.cookie } })
  expect(stolen).toBe(session.cookie)
})
afterEach(async () => {
  await served.close()
  await new Promise((resolve) => notebook.close(resolve))
})

it('a notebook with the cookie and a forged Origin does not get the socket', async () => {
  const { origin } = session
  const forged = { headers: { cookie: stolen, origin } }
  const url = `${origin.replace('http', 'ws')}/rpc`
  const cookieValue = stolen.split('=')[1] ?? ''
  const attempts = [
    new WebSocket(url, forged),
    new WebSocket(url, offeredProtocols(''), forged),
    new WebSocket(url, offeredProtocols(cookieValue), forged),
    new WebSocket(url, offeredProtocols('A'.repeat(32)), forged),
    new WebSocket(`${url}?key=${cookieValue}`, forged),
  ]
  for (const attempt of attempts) expect(await handshakeOf(attempt)).toBe('401')
  // The page itself is admitted, with the same cookie.
  const page = pageSocket(session)
  expect(await handshakeOf(page)).toBe('open')
  page.terminate()
})

it('a notebook with the cookie gets the files of the page, no key and no data', async () => {
  const { origin } = session
  const get = (path: string): Promise<Response> =>
    fetch(origin + path, { redirect: 'manual', headers: { cookie: stolen } })
  const used = new URL(served.url).search
  for (const path of ['/', `/${used}`, '/index.html', SESSION_PATH, '/metrics', '/rpc']) {
    const answer = await get(path)
    const output = `${answer.headers.get('location')} ${answer.headers.get('set-cookie')} ${await answer.text()}`
    expect(output, path).not.toContain(session.key)
    expect(output, path).not.toContain(METRIC)
  }
  expect((await get(SESSION_PATH)).status).toBe(401)
  expect((await get('/metrics')).status).toBe(401)
})

it('the key alone, without the cookie, does not get the socket either', async () => {
  expect(await handshakeOf(pageSocket({ ...session, cookie: '' }))).toBe('401')
})

it('a cookie of the same name for a longer path, set on another port, does not lock the page out', async () => {
  const name = session.cookie.split('=')[0] ?? ''
  // Browsers send the cookie with the longer path first.
  const cookie = `${name}=from-the-notebook; ${session.cookie}`
  const page = pageSocket({ ...session, cookie })
  expect(await handshakeOf(page)).toBe('open')
  page.terminate()
  expect((await fetch(session.origin, { headers: { cookie } })).status).toBe(200)
  const other = `${name}=one; ${name}=two`
  expect((await fetch(session.origin, { headers: { cookie: other } })).status).toBe(401)
})
