/** Opens a page of a console, collects its errors, and checks its accessibility. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { shots } from './browser.ts'

export interface OpenPage {
  readonly page: Page
  /** Errors and dialogs reported by the browser's console. */
  readonly errors: string[]
}

/** @param isCalm  disables animations: colours are final at once. */
export async function openPage(browser: Browser, url: string, query = '', isCalm = false): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: isCalm ? 'reduce' : 'no-preference',
  })
  // The first-run screen has a separate suite: states.test.ts.
  await context.addInitScript(() => localStorage.setItem('sluice.first-run', 'past'))
  const page = await context.newPage()
  const errors: string[] = []
  page.on('console', (m) => {
    if (m.type() === 'error') errors.push(m.text())
  })
  page.on('pageerror', (e) => errors.push(String(e)))
  page.on('dialog', (d) => {
    errors.push(`dialog: ${d.message()}`)
    void d.dismiss()
  })
  await page.goto(url)
  if (query !== '') await page.goto(`${new URL(url).origin}/${query}`)
  await page.getByTestId('sample').waitFor()
  return { page, errors }
}

/** axe in the page itself, which has no frames, reporting violations only. */
export const axeOf = (page: Page): AxeBuilder =>
  new AxeBuilder({ page }).options({ resultTypes: ['violations'], preload: false }).setLegacyMode()

/** Takes the screenshot of a view, and returns its serious accessibility violations. */
export async function lookAt(page: Page, view: string, theme: string): Promise<string[]> {
  await page.screenshot({ path: `${shots}/${view}-${theme}.png` })
  const { violations } = await axeOf(page).disableRules(['region']).analyze()
  const serious = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
  return serious.map((v) => `${view}: ${v.id}: ${v.nodes[0]?.html}`)
}
