/** Filter of each view with a list, opened by its key, on the built-in emulator. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, noBrowser, openConsole, type RunningConsole } from './browser.ts'
import { axeOf, openPage } from './page.ts'

if (noBrowser !== undefined) console.log(`browser suite skipped: ${noBrowser}`)

/** Valid as a filter, without any term; matches nothing. */
const HOSTILE = '<img/src/onerror>nobody'

describe.skipIf(noBrowser !== undefined)('the filter of a view', () => {
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

  /** Expectations for a view: if its rows match, and the element that gets the focus on leaving the filter. */
  interface Listed {
    readonly key: string
    readonly rows: string
    readonly filter: string
    readonly one: RegExp
    /** Part of the page with the focus after Esc. */
    readonly list: string
  }
  const LISTS: readonly Listed[] = [
    { key: '3', rows: 'rule-row', filter: 'owner:lustre', one: /default/, list: '[data-testid=rule-list]' },
    { key: '5', rows: 'tree-row', filter: 'nobody', one: /./, list: '[data-testid=tree]' },
    { key: '6', rows: 'client', filter: 'is:best-effort', one: /./, list: '[data-client]' },
    { key: '9', rows: 'incident-row', filter: 'is:exercise', one: /emulated/, list: '[data-testid=incident-list]' },
  ]

  const focusIsIn = (page: Page, list: string): Promise<boolean> =>
    page.evaluate((selector) => document.activeElement?.closest(selector) != null, list)

  it('has the focus by /, leaves what passes, is kept while another view is on screen, and goes by Esc', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    const filter = page.getByTestId('filter')
    // One notebook to find, and one not to find.
    await page.keyboard.press('n')
    await page.getByTestId('note-text').fill('OST0003 was slow')
    await page.keyboard.press('Control+Enter')
    await page.getByTestId('note-text').waitFor({ state: 'detached' })
    for (const { key, rows, filter: line, one, list } of LISTS) {
      await page.keyboard.press(key)
      await filter.waitFor()
      await expect.poll(() => page.getByTestId(rows).count(), { message: key }).toBeGreaterThan(0)
      const all = await page.getByTestId(rows).count()
      await page.keyboard.press('/')
      await expect.poll(() => filter.evaluate((e) => e === document.activeElement)).toBe(true)
      await page.keyboard.type(line)
      await expect.poll(() => page.getByTestId('filter-count').textContent(), { message: key }).toMatch(/^\d+ of \d+$/)
      await expect
        .poll(async () => (await page.getByTestId(rows).allTextContents()).every((text) => one.test(text)), {
          message: key,
        })
        .toBe(true)
      expect(await page.getByTestId(rows).count(), key).toBeLessThanOrEqual(all)
      await page.keyboard.press('Enter')
      await page.keyboard.press('1')
      await page.getByTestId('filter').waitFor({ state: 'detached' })
      await page.keyboard.press(key)
      await expect.poll(() => filter.inputValue(), { message: key }).toBe(line)

      await filter.fill(HOSTILE)
      await expect.poll(() => page.getByTestId('filtered-out').textContent(), { message: key }).toContain(HOSTILE)
      expect(await page.getByTestId('filtered-out').locator('img').count()).toBe(0)
      const { violations } = await axeOf(page).disableRules(['region']).analyze()
      const serious = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
      expect(serious.map((v) => `${key}: ${v.id}: ${v.nodes[0]?.html}`)).toEqual([])
      await filter.fill('is:wet')
      await expect
        .poll(() => page.getByTestId('filter-error').textContent(), { message: key })
        .toContain('column 1: is: must be one of')
      await expect.poll(() => page.getByTestId(rows).count(), { message: key }).toBeGreaterThan(0)
      await filter.press('Escape')
      await expect.poll(() => filter.inputValue(), { message: key }).toBe('')
      await expect.poll(() => focusIsIn(page, list), { message: key }).toBe(true)
    }
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('of the rules hides nothing of what is staged from the drawer and the review', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await page.keyboard.press('3')
    await page.getByTestId('rule-list').waitFor()
    await page.keyboard.press('n')
    await page.getByTestId('rule-text').fill('start hidden_one jobid={4690.*} rate=400')
    await page.keyboard.press('Control+Enter')
    await page.getByTestId('staged-item').waitFor()
    await page.keyboard.press('Escape')
    await page.getByTestId('filter').fill('owner:lustre')
    await expect.poll(() => page.getByTestId('rule-row').count()).toBe(1)
    await expect.poll(() => page.getByTestId('staged-hidden').textContent()).toContain('1 staged hidden')
    expect(await page.getByTestId('staged-item').textContent()).toContain('hidden_one')
    await page.getByTestId('review').click()
    await expect.poll(() => page.getByRole('dialog').textContent()).toContain('hidden_one')
    await page.keyboard.press('Escape')
    await page.getByTestId('staged-hidden').click()
    await page.locator('[data-testid=rule-row][data-rule=hidden_one]').waitFor()
    await page.getByTestId('staged-remove').click()
    expect(errors).toEqual([])
    await page.context().close()
  })
})
