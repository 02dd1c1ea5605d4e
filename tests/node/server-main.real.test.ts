/** The browser shell's real entry point, with the real host. Requires the build, which `npm run test:all` makes first. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContractRouterClient } from '@orpc/contract'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import type { Contract } from '#core/api/contract.ts'
import { clientOf, openAddress, pageSocket } from '../kits/electron/server/browser-session.ts'

const root = join(import.meta.dirname, '../..')
const built = existsSync(join(root, 'out/renderer/index.html'))
if (!built) console.log('The tests of the real server are skipped: the console is not built.')

const folder = mkdtempSync(join(tmpdir(), 'sluice-server-'))
const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Server {
  readonly child: ChildProcess
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>
  /** Resolves when a line of its output matches. */
  said(pattern: RegExp): Promise<RegExpExecArray>
  url(): Promise<URL>
}

function start(...args: string[]): Server {
  const program = [join(root, 'electron/server/main.ts'), ...args]
  const env = { ...process.env, SLUICE_DATA: join(folder, 'data') }
  const child = spawn(process.execPath, program, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  const text = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (part: string) => (text[stream] += part))
  }
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, ...text }))
  })
  const printed = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(text.stdout)
        if (found) resolve(found)
      }
      child.stdout.on('data', look)
      void ended.then(({ stderr }) => reject(new Error(stderr)))
      look()
    })
  const url = async (): Promise<URL> => new URL((await printed(/^Sluice: (\S+)$/m))[1] ?? '')
  return { child, ended, said: printed, url }
}

/** Opens the printed address like a browser; calls are answered once the host is ready. */
async function windowOf(url: URL): Promise<{ client: ContractRouterClient<Contract>; ws: WebSocket }> {
  const session = await openAddress(url)
  expect((await fetch(new URL('/', url), { headers: { cookie: session.cookie } })).status).toBe(200)
  const ws = pageSocket(session)
  return { client: clientOf(ws), ws }
}

describe.skipIf(!built)('the browser shell', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('serves the console and closes on %s within two seconds', async (signal) => {
    const server = start('--port', '0', '--history', ':memory:')
    const url = await server.url()
    expect(url.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}$/)
    const { client, ws } = await windowOf(url)
    expect(await client.host.info()).toMatchObject({ name: 'sluice', shell: 'browser' })
    const frames = await client.source.status({ stream: 's' })
    expect((await frames.next()).value).toMatchObject({ source: { kind: 'EMULATED' } })

    const from = performance.now()
    server.child.kill(signal)
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
    expect(performance.now() - from).toBeLessThan(2000)
    ws.terminate()
  })

  it('ends on a signal that comes while it opens, with a window that waits for it', async () => {
    const server = start('--port', '0', '--history', ':memory:')
    const { ws } = await windowOf(await server.url())
    ws.on('error', () => undefined)
    const closed = new Promise((resolve) => ws.on('close', resolve))
    server.child.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
    await closed
  })

  it('answers /metrics with what it measures, for who shows the token that it printed', async () => {
    const server = start('--port', '0', '--history', ':memory:', '--metrics')
    const { origin } = await server.url()
    const [, at = '', token = ''] = await server.said(/^Metrics: (\S+), Authorization: Bearer (\S+)$/m)
    expect(at).toBe(`${origin}/metrics`)
    const ask = (authorization?: string): Promise<Response> =>
      fetch(at, { headers: authorization === undefined ? {} : { authorization } })
    expect((await ask()).status).toBe(401)
    expect((await ask(`Bearer ${token}x`)).status).toBe(401)
    const value = /^sluice_cluster_rpcs_per_second\{[^}]*\} (\S+) [\d.]+$/m
    const text = async (): Promise<string> => (await ask(`Bearer ${token}`)).text()
    await expect.poll(async () => Number(value.exec(await text())?.[1] ?? 0)).toBeGreaterThan(0)
    const answer = await ask(`Bearer ${token}`)
    expect(answer.headers.get('content-type')).toContain('application/openmetrics-text')
    const lines = (await answer.text()).split('\n')
    expect(lines.slice(-2)).toEqual(['# EOF', ''])
    expect(lines.filter((l) => l.startsWith('sluice_target_rpcs_per_second{'))).toHaveLength(4)
    expect(lines.some((l) => l.startsWith('sluice_job_rpcs_per_second{'))).toBe(true)
  })

  it('says in one line that a port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const { code, stderr } = await start('--port', String(port), '--history', ':memory:').ended
    other.close()
    expect(code).toBe(1)
    expect(stderr).toBe(
      `sluice: The console could not listen on port ${port}: another program uses it. ` +
        'Choose another with --port, or 0 for any free one.\n',
    )
  })

  it('says in one line that a scenario is not there, and refuses options it does not know', async () => {
    const scenario = await start('--history', ':memory:', '--scenario', '/nowhere.yaml').ended
    expect(scenario.code).toBe(1)
    expect(scenario.stderr).toMatch(/^sluice: .*nowhere\.yaml.*\n$/)
    expect((await start('--colour').ended).code).toBe(2)
    expect((await start('--port', 'x').ended).code).toBe(2)
    expect((await start('--help').ended).code).toBe(0)
  })

  it('does not open a history that a running console holds', async () => {
    const first = start('--port', '0')
    const { client, ws } = await windowOf(await first.url())
    await client.host.info()
    ws.terminate()
    expect(existsSync(join(folder, 'data/history.sqlite'))).toBe(true)
    const second = await start('--port', '0').ended
    expect(second.code).toBe(1)
    expect(second.stderr.trim().split('\n')).toHaveLength(1)
  })
})
