/** One page of a console: opened with its errors collected, looked at for faults of accessibility. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { shots } from './browser.ts'

export interface OpenPage {
  readonly page: Page
  /** What the console of the browser complained about, dialogs among it. */
  readonly errors: string[]
}

/** @param isCalm  nothing moves: colours are what they are at once. */
export async function openPage(browser: Browser, url: string, query = '', isCalm = false): Promise<OpenPage> {
  const context = await browser.newContext({
    ...{ viewport: { width: 1440, height: 900 }, reducedMotion: isCalm ? 'reduce' : 'no-preference' },
  })
  // What greets on the first start has a suite of its own: states.test.ts.
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

/** axe in the page itself, which has no frames, asked for nothing but faults. */
export const axeOf = (page: Page): AxeBuilder =>
  new AxeBuilder({ page }).options({ resultTypes: ['violations'], preload: false }).setLegacyMode()

/** Takes the picture of a view, and names its serious faults of accessibility. */
export async function lookAt(page: Page, view: string, theme: string): Promise<string[]> {
  await page.screenshot({ path: `${shots}/${view}-${theme}.png` })
  const { violations } = await axeOf(page).disableRules(['region']).analyze()
  const serious = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
  return serious.map((v) => `${view}: ${v.id}: ${v.nodes[0]?.html}`)
}
