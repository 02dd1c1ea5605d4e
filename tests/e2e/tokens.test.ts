/** Tokens in a real browser, on the demo's data node. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, noBrowser, openConsole, type RunningConsole } from './browser.ts'
import { openPage } from './page.ts'

describe.skipIf(noBrowser !== undefined)('tokens in a browser', () => {
  let browser: Browser
  let sluice: RunningConsole
  beforeAll(async () => {
    browser = await launch()
    sluice = await openConsole()
  })
  afterAll(async () => {
    await browser?.close()
    await sluice?.close()
  })

  it('opens with 6 on the data node: ten clients, and no data I/O that woke its CPU', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await page.keyboard.press('6')
    await page.getByTestId('client').first().waitFor()
    await expect.poll(() => page.getByTestId('client').count()).toBe(10)
    const footer = page.getByTestId('foot-cpu')
    expect(await footer.textContent()).toMatch(/^\s*(ok)?\s*0/)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('says while a reservation is typed what admission would say, and applies what is admitted', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await page.keyboard.press('6')
    const edit = page.locator('[data-testid=client]').filter({ hasText: 'c09' }).getByTestId('client-edit')
    await edit.first().focus()
    await edit.first().click()
    const r = page.getByTestId('reserve-r')
    await r.waitFor()
    await r.fill('20001')
    await expect.poll(() => page.getByTestId('verdict').textContent()).toContain('capacity of one client')
    expect(await page.getByTestId('reserve-apply').isDisabled()).toBe(true)
    await r.fill('-5')
    await expect.poll(() => page.getByTestId('fault-r').count()).toBe(1)
    await r.fill('4100')
    await expect.poll(() => page.getByTestId('reserve-apply').isDisabled()).toBe(false)
    await page.getByTestId('reserve-apply').click()
    const reserved = (): number | undefined => {
      const { source } = sluice.host
      const run = source.dataNodes[0]?.run(source.nowNs())
      return run?.node.engine(run.clients.findIndex((c) => c.name === 'c09'))?.reservation
    }
    await expect.poll(reserved).toBe(4100)
    expect(errors).toEqual([])
    await page.context().close()
  })
})
