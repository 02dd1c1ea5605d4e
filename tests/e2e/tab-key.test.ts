/** The key of a tab in a real browser: reload, a second tab, a tab alone, a server on another port. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FRESH_ADDRESS } from '#core/api/browser-session.ts'
import { launch, noBrowser, openConsole, type RunningConsole } from './browser.ts'

describe.skipIf(noBrowser !== undefined)('the key of a tab', () => {
  let browser: Browser
  let sluice: RunningConsole
  let context: BrowserContext
  let notebook: Server
  const visits: string[] = []

  beforeAll(async () => {
    browser = await launch()
    sluice = await openConsole()
    notebook = createServer((request, response) => {
      visits.push(request.headers.cookie ?? '')
      response.setHeader('content-type', 'text/html')
      response.end('<title>notebook</title>')
    })
    await new Promise<void>((resolve) => notebook.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    await browser?.close()
    await sluice?.close()
    await new Promise((resolve) => notebook?.close(resolve))
  })
  beforeEach(async () => {
    context = await browser.newContext()
    await context.addInitScript(() => localStorage.setItem('sluice.first-run', 'past'))
  })
  afterEach(() => context.close())

  const home = (): string => `${new URL(sluice.served.url).origin}/`
  const isConnected = (page: Page): Promise<void> => page.getByTestId('sample').first().waitFor()
  async function open(address: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(address)
    return page
  }

  it('is taken out of the address, and a reload keeps it', async () => {
    const page = await open(sluice.served.freshUrl())
    await isConnected(page)
    expect(page.url()).not.toContain('key=')
    expect(page.url()).not.toContain('token=')
    await page.reload()
    await isConnected(page)
  })

  it('is given to a second tab by the first', async () => {
    await isConnected(await open(sluice.served.freshUrl()))
    await isConnected(await open(home()))
  })

  it('is asked for in so many words by a tab alone, which connects as soon as another has one', async () => {
    const first = await open(sluice.served.freshUrl())
    await isConnected(first)
    await first.close()
    const alone = await open(home())
    const bar = alone.getByTestId('offline-bar')
    await bar.waitFor()
    expect(await bar.innerText()).toContain('This tab has no key to the console.')
    expect(await bar.innerText()).toContain(FRESH_ADDRESS)
    await isConnected(await open(sluice.served.freshUrl()))
    await isConnected(alone)
    await bar.waitFor({ state: 'detached' })
  })

  it('that the console does not know is forgotten, and the tab says so', async () => {
    const page = await open(sluice.served.freshUrl())
    await isConnected(page)
    await page.evaluate(() => sessionStorage.setItem('sluice.key', 'A'.repeat(32)))
    await page.reload()
    await page.getByTestId('offline-bar').getByText('This tab has no key').waitFor()
    expect(await page.evaluate(() => sessionStorage.getItem('sluice.key'))).toBe(null)
  })

  it('stays away from a server on another port, which is sent the cookie', async () => {
    const page = await open(sluice.served.freshUrl())
    await isConnected(page)
    visits.length = 0
    const other = await open(`http://127.0.0.1:${(notebook.address() as AddressInfo).port}/`)
    expect(visits[0]).toMatch(/^sluice_\d+=/)
    expect(await other.evaluate(() => sessionStorage.getItem('sluice.key'))).toBe(null)
    const heard = await other.evaluate(
      () =>
        new Promise<boolean>((resolve) => {
          const channel = new BroadcastChannel('sluice.key')
          channel.onmessage = () => resolve(true)
          channel.postMessage({ type: 'ask' })
          setTimeout(() => resolve(false), 1000)
        }),
    )
    expect(heard).toBe(false)
  })
})
