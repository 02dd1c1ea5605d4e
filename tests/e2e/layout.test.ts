/** Every view in a small window, at normal and largest text size: nothing is truncated without indication, nothing overlaps. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, noBrowser, openConsole, type RunningConsole } from './browser.ts'
import { lookForFaults } from './look-faults.ts'
import { openPage } from './page.ts'

/** Elements that indicate that a view is loaded. */
const views = {
  overview: 'tile-rpc',
  jobs: 'job-row',
  rules: 'rule-row',
  locks: 'resource-row',
  metadata: 'tree-row',
  tokens: 'client',
  sandbox: 'gallery-entry',
  history: 'history',
  incidents: 'incidents',
  connections: 'server-group',
  papers: 'claims',
  settings: 'set-theme-dark',
  help: 'tour-start',
} as const
/** Filters out faults about the size of controls. */
const isOfLayout = (fault: string): boolean => !/^\d+x\d+ target: /.test(fault)

async function setTextSize(page: Page, percent: number): Promise<void> {
  await page.evaluate((size) => {
    document.documentElement.dataset['text'] = String(size)
  }, percent)
}

describe.skipIf(noBrowser !== undefined)('in 1024 by 700', () => {
  let browser: Browser
  let console_: RunningConsole
  let page: Page
  beforeAll(async () => {
    browser = await launch()
    console_ = await openConsole()
    ;({ page } = await openPage(browser, console_.served.freshUrl(), '', true))
    await page.setViewportSize({ width: 1024, height: 700 })
  })
  afterAll(async () => {
    await browser.close()
    await console_.close()
  })

  it.each(Object.entries(views))('%s keeps its words', async (view, there) => {
    await page.evaluate((hash) => {
      location.hash = hash
    }, `#/${view}`)
    await page.getByTestId(there).first().waitFor({ state: 'attached' })
    for (const percent of [100, 125]) {
      await setTextSize(page, percent)
      // Panels are mounted one after another, and follow a new width one frame later: faults that remain are reported.
      const faults = async () => (await lookForFaults(page)).filter(isOfLayout).map((fault) => `${percent} %: ${fault}`)
      await expect.poll(faults, { timeout: 60_000, interval: 250 }).toEqual([])
    }
  })
})

describe.skipIf(noBrowser !== undefined)('in 1280 by 720', () => {
  let browser: Browser
  let console_: RunningConsole
  let page: Page
  const open = (view: string) =>
    page.evaluate((hash) => {
      location.hash = hash
    }, `#/${view}`)
  /** Selectors of elements whose content is wider than they are. */
  const cut = (selector: string): Promise<string[]> =>
    page
      .locator(selector)
      .evaluateAll((all) =>
        all
          .filter((e) => e.scrollWidth > e.clientWidth + 1)
          .map((e) => `${e.className}: ${(e as HTMLElement).innerText}`),
      )
  beforeAll(async () => {
    browser = await launch()
    console_ = await openConsole()
    ;({ page } = await openPage(browser, console_.served.freshUrl(), '', true))
  })
  afterAll(async () => {
    await browser.close()
    await console_.close()
  })

  it('shows the whole status bar, and names of a legend, at a zoom of 150 %', async () => {
    await page.setViewportSize({ width: 853, height: 480 })
    await open('metadata')
    await page.getByTestId('tree-row').first().waitFor({ state: 'attached' })
    await expect.poll(() => cut('.statusbar'), { timeout: 30_000 }).toEqual([])
    await expect.poll(() => page.getByTestId('jobs-sub').count(), { timeout: 30_000 }).toBe(1)
    const names = () => page.locator('.panel-h .legend:not(.fixed)').first().innerText()
    await expect.poll(names, { timeout: 30_000 }).toMatch(/[a-z]{3}/)
  })

  it('names lock modes in full', async () => {
    await page.setViewportSize({ width: 1280, height: 720 })
    await open('locks')
    await page.getByTestId('modes').waitFor()
    await expect.poll(() => cut('[data-testid=modes] th'), { timeout: 30_000 }).toEqual([])
  })
})
