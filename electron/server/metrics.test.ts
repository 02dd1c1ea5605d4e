import { request } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { smallRouter } from '../../tests/node/small-router.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { metricsOf } from './metrics.ts'
import { serveConsole, type Served } from './serve.ts'

const TOKEN = 'a-token-of-the-test'
let served: Served
afterEach(() => served.close())

async function serve(isOn: boolean): Promise<void> {
  const metrics = isOn ? metricsOf(() => '# EOF\n', TOKEN) : undefined
  const { router } = smallRouter()
  const result = await serveConsole({ router, webRoot: tempFolder(), port: 0, host: '127.0.0.1', metrics })
  if (!result.ok) throw new Error(result.error.what)
  served = result.value
}

function ask(headers: Record<string, string>, path = '/metrics', method = 'GET') {
  return new Promise<{ status: number; text: string; type: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: served.port, path, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      const type = String(response.headers['content-type'])
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, type }))
    })
    sent.on('error', reject).end()
  })
}

const bearer = { authorization: `Bearer ${TOKEN}` }

it('answers only requests with the token', async () => {
  await serve(true)
  const answer = await ask(bearer)
  expect(answer).toMatchObject({ status: 200, text: '# EOF\n' })
  expect(answer.type).toContain('application/openmetrics-text')
  const others: Record<string, string>[] = [
    {},
    { authorization: '' },
    { authorization: 'Bearer ' },
    { authorization: TOKEN },
    { authorization: `Basic ${TOKEN}` },
    { authorization: `Bearer ${TOKEN}x` },
    { authorization: `Bearer ${TOKEN} ` + 'x' },
    { cookie: `sluice_${served.port}=${TOKEN}` },
  ]
  for (const headers of others) {
    const refused = await ask(headers)
    expect(refused.status, JSON.stringify(headers)).toBe(401)
    expect(refused.text).not.toContain('EOF')
  }
  expect((await ask({}, `/metrics?token=${TOKEN}`)).status).toBe(401)
})

it('answers no page of another site, whatever it shows, and no other name', async () => {
  await serve(true)
  expect((await ask({ ...bearer, origin: 'http://evil.test' })).status).toBe(401)
  expect((await ask({ ...bearer, 'sec-fetch-site': 'cross-site' })).status).toBe(401)
  expect((await ask({ ...bearer, host: 'evil.test' })).status).toBe(403)
  expect((await ask(bearer, '/metrics', 'POST')).status).toBe(405)
})

it('its token opens nothing else, and the console session is not one', async () => {
  await serve(true)
  expect((await ask(bearer, '/')).status).toBe(401)
  expect((await ask(bearer, '/rpc')).status).toBe(401)
  expect((await ask({}, `/?token=${TOKEN}`)).status).toBe(401)
})

it('is not there unless it was asked for', async () => {
  await serve(false)
  const answer = await ask(bearer)
  expect(answer.status).toBe(401)
  expect(answer.text).not.toContain('EOF')
})
