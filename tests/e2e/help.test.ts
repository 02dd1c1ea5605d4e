/** Help in a real browser: the whole tour on an emulated cluster, the help pages, and explanations of numbers. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { launch, noBrowser, openConsole, type RunningConsole } from './browser.ts'
import { lookAt, openPage } from './page.ts'

/** Samples of 0.1 s: with fewer a fork knows little of the demand. */
const SOME_DEMAND = 60
const LONG = { timeout: 60_000 }
/** Limit of a hang only: ten steps, two runs of the model. */
const WHOLE = { timeout: 240_000 }
const HOG = `title: A hog and a solver
cluster: small
clients: { count: 5, max_rpcs_in_flight: 64 }
oss:
  - name: oss01
    threads: 32
    osts:
      - { name: small-OST0000, disk: { bandwidth_mb_s: 1600, per_op_us: 8000, channels: 4 } }
control: { controller: adaptbf, max_rate: 400, mode: enforce }
jobs:
  - { id: 4690.hog.u1, clients: [5], processes: 64, op: write, size_kib: 256, pattern: { kind: continuous } }
  - { id: 7.solve.u2, clients: [1, 2, 3, 4], processes: 16, op: write, size_kib: 256, pattern: { kind: continuous } }
`

const by = (page: Page, id: string) => page.getByTestId(id)
const typeIn = (page: Page, id: string, text: string): Promise<void> =>
  page.locator(`input[data-testid=${id}], [data-testid=${id}] input`).fill(text)
const stepOf = (page: Page): Promise<string | null> => by(page, 'tour').getAttribute('data-step')
const reaches = (page: Page, step: string): Promise<void> => expect.poll(() => stepOf(page), LONG).toBe(step)

describe.skipIf(noBrowser !== undefined)('help in a browser', () => {
  let browser: Browser
  let sluice: RunningConsole
  beforeAll(async () => {
    browser = await launch()
    sluice = await openConsole(HOG)
    await vi.waitUntil(() => sluice.host.monitor.sample > SOME_DEMAND, { timeout: 60_000, interval: 100 })
  })
  afterAll(async () => {
    await browser?.close()
    await sluice?.close()
  })

  it('leads through the first ten minutes: each step is done by what was done, to the bundle', WHOLE, async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl(), '#/help/first-ten-minutes')
    await by(page, 'tour-start').click()
    await reaches(page, 'controller')
    await by(page, 'cluster').click()
    await by(page, 'controller-none').click()
    await by(page, 'mode-confirm').click()
    await reaches(page, 'pause')
    expect(await lookAt(page, 'tour', 'dark')).toEqual([])
    // After the controller's rules are removed, the hog takes what it can.
    await page.waitForTimeout(2500)
    await page.keyboard.press('Space')
    await reaches(page, 'job')
    await page.keyboard.press('2')
    await by(page, 'job-row').first().click()
    await reaches(page, 'dry-run')

    await page.keyboard.press('d')
    await by(page, 'cancel').click()
    await by(page, 'cancelled').waitFor()
    expect(await stepOf(page)).toBe('dry-run')
    const names = await by(page, 'variant').locator('h2').allTextContents()
    const cap = names.findIndex((name) => /static cap/i.test(name))
    for (let i = names.length - 1; i > 0; i--) {
      if (i === cap) continue
      await by(page, 'edit-variant').nth(i).click()
      await by(page, 'remove').click()
      await expect.poll(() => by(page, 'variant-panel').count()).toBe(0)
    }
    await by(page, 'parameters').click()
    await typeIn(page, 'param-seeds', '2')
    await typeIn(page, 'param-seconds', '5')
    await page.keyboard.press('Escape')
    await page.keyboard.press('r')
    await reaches(page, 'stage')
    await by(page, 'tour-ring').waitFor()

    const other = by(page, 'stage-other')
    if ((await other.count()) > 0) {
      await other.click()
      await by(page, 'stage-1').click()
    } else await by(page, 'stage').click()
    await reaches(page, 'review')
    await by(page, 'review').click()
    await reaches(page, 'commit')
    await by(page, 'typed').fill(await by(page, 'target').innerText())
    await by(page, 'commit').click()
    await reaches(page, 'countdown')
    await by(page, 'commit-result').waitFor()
    await page.keyboard.press('Escape')
    await by(page, 'next-expiry').waitFor()
    await page.keyboard.press('z')
    await reaches(page, 'incident')

    await page.keyboard.press('Escape')
    await page.keyboard.press('1')
    await page.keyboard.press('n')
    await by(page, 'note-title').waitFor()
    await page.keyboard.type('Hog on one target')
    await page.keyboard.press('Control+Enter')
    await reaches(page, 'export')
    await by(page, 'filed-open').click()
    await by(page, 'cell').first().waitFor(LONG)
    // The bundle panel replaces the inspector: the first press shows the preview, the second writes the bundle.
    await page.keyboard.press('Control+e')
    await by(page, 'pairs').waitFor(LONG)
    await page.keyboard.press('Control+e')
    await reaches(page, 'over')
    await by(page, 'tour-close').click()
    expect(await by(page, 'tour').count()).toBe(0)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('is left by Esc and continues where it was left', async () => {
    const { page } = await openPage(browser, sluice.served.freshUrl(), '#/help/first-ten-minutes')
    await by(page, 'tour-start').click()
    const first = await stepOf(page)
    await by(page, 'tour-skip').click()
    await expect.poll(() => stepOf(page)).not.toBe(first)
    const second = await stepOf(page)
    await by(page, 'tour').press('Escape')
    await expect.poll(() => by(page, 'tour').count()).toBe(0)
    await page.reload()
    await by(page, 'tour-start').click()
    await expect.poll(() => stepOf(page)).toBe(second)
    await page.context().close()
  })

  it('has a page for each view, finds words in all of them, and links between them', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl(), '?theme=light')
    await page.keyboard.press('3')
    await by(page, 'rule-row').first().waitFor()
    await page.keyboard.press('h')
    await expect.poll(() => by(page, 'help-page').getAttribute('data-page')).toBe('rules')
    expect(await by(page, 'help-page').textContent()).toContain('effective ceiling')
    expect(await by(page, 'help-page').textContent()).toContain('ref of nrs_tbf_rule')
    expect(await lookAt(page, 'help', 'light')).toEqual([])
    await by(page, 'help-page').getByRole('link', { name: 'Enforce safely' }).click()
    await expect.poll(() => by(page, 'help-page').getAttribute('data-page')).toBe('enforce-safely')
    expect(await lookAt(page, 'help-enforce', 'light')).toEqual([])
    await by(page, 'help-search').fill('LU-7982')
    await expect.poll(() => by(page, 'help-found').first().textContent()).toContain('Known limitations')
    await by(page, 'help-found').first().click()
    await expect.poll(() => by(page, 'help-page').getAttribute('data-page')).toBe('not-known')
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('explains a number in place: on hover, and by F1', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await page.keyboard.press('2')
    await by(page, 'job-row').first().waitFor()
    await by(page, 'sort-record').hover()
    await expect.poll(() => by(page, 'explained').textContent()).toContain('equations (8), (16), (20)')
    expect(await lookAt(page, 'explained', 'dark')).toEqual([])
    await page.mouse.move(700, 500)
    await expect.poll(() => by(page, 'explained').count()).toBe(0)
    await page.keyboard.press('F1')
    await by(page, 'explained').waitFor()
    const said = await by(page, 'explained-words').textContent()
    expect(await lookAt(page, 'explained-walk', 'dark')).toEqual([])
    await page.keyboard.press('F1')
    await expect.poll(() => by(page, 'explained-words').textContent()).not.toBe(said)
    await page.keyboard.press('Escape')
    await expect.poll(() => by(page, 'explained').count()).toBe(0)
    expect(errors).toEqual([])
    await page.context().close()
  })
})
