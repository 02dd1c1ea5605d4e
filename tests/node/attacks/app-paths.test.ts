/**
 * A page that requests files of the machine through its own scheme: by dots, encodings, drives, data streams, links, another host.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import { answer } from '#electron/main/protocol.ts'
import { tempFolder } from '../temp-folder.ts'

vi.mock('electron', async () => {
  const { fakeElectron } = await import('../fake-electron.ts')
  const fake = fakeElectron()
  return { ...fake, default: fake }
})

let root: string
beforeAll(() => {
  const folder = tempFolder()
  root = join(folder, 'web')
  mkdirSync(join(root, 'assets'), { recursive: true })
  mkdirSync(`${root}-else`)
  for (const file of ['secret.json', 'web-else/secret.json', 'web/index.html', 'web/assets/a.js', 'web/readme.md']) {
    writeFileSync(join(folder, file), 'x')
  }
  if (process.platform === 'win32') return
  // Named for the interpretation that an attacker wants.
  symlinkSync(join(folder, 'secret.json'), join(root, 'link.json'))
  for (const file of ['index.html:a.js', 'C:a.js', '%2e%2e']) writeFileSync(join(root, file), 'x')
})
const status = async (url: string, method = 'GET'): Promise<number> => (await answer(root, { url, method })).status

it.each([
  '/../secret.json',
  '/%2e%2e/secret.json',
  '/.%2e%2fsecret.json',
  '/..%2fsecret.json',
  '/%252e%252e/secret.json',
  '/..%5csecret.json',
  '/assets/..%2f..%2fsecret.json',
  '/..%2fweb-else/secret.json',
  '/link.json',
  '//secret.json',
  '/C:/Windows/win.json',
  '/C:a.js',
  '/index.html:a.js',
  '/index.html::$DATA',
  '/index.html%00.js',
  '/%c0%ae/a.js',
  '/readme.md',
  '/INDEX.HTML',
  '/index.html.',
  '/index.html%20',
  '/index.html/',
  '/assets',
  '/assets/',
  '/%',
])('app://sluice%s is not served', async (path) => {
  expect([403, 404]).toContain(await status(`app://sluice${path}`))
})

it.each(['app://SLUICE/index.html', 'app://sluice:80/index.html', 'app://sluice@x/index.html', 'app:index.html'])(
  '%s is another host',
  async (url) => {
    expect(await status(url)).toBe(403)
  },
)

it('what is ours is served as what it is, whatever stands behind it, and read only', async () => {
  for (const url of [
    'app://sluice/',
    'app://sluice/index.html?a=../../secret.json#/../x',
    'app://sluice/assets/a.js',
  ]) {
    expect(await status(url), url).toBe(200)
  }
  const { headers } = await answer(root, { url: 'app://sluice/assets/a.js', method: 'GET' })
  expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-security-policy')).toContain("worker-src 'none'")
  for (const method of ['POST', 'PUT', 'DELETE', 'HEAD']) expect(await status('app://sluice/', method)).toBe(405)
})
