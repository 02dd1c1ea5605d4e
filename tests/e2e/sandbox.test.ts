/**
 * The what-if sandbox in a real browser: a fork of the demo under other policies, its scenario, and staging of a variant's rule.
 */
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { launch, noBrowser, openConsole, type RunningConsole } from './browser.ts'
import { lookAt, openPage } from './page.ts'

/** Samples of 0.1 s: with fewer a fork knows little of the demand. */
const SOME_DEMAND = 60
const LONG = { timeout: 60_000 }

const by = (page: Page, id: string) => page.getByTestId(id)
async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.keyboard.type(words)
  await page.keyboard.press('Enter')
}
const typeIn = (page: Page, id: string, text: string): Promise<void> =>
  page.locator(`input[data-testid=${id}], [data-testid=${id}] input`).fill(text)
/** Few and short runs: the workflow is tested, not the results. */
async function askFor(page: Page, seeds: number, seconds: number): Promise<void> {
  await by(page, 'parameters').click()
  await typeIn(page, 'param-seeds', String(seeds))
  await typeIn(page, 'param-seconds', String(seconds))
  await page.keyboard.press('Escape')
}

/** The baseline against the cap only. */
async function onlyTheCap(page: Page): Promise<void> {
  await expect.poll(() => by(page, 'variant').count()).toBeGreaterThan(1)
  const names = await by(page, 'variant').locator('h2').allTextContents()
  const cap = names.findIndex((name) => /static cap/i.test(name))
  expect(cap).toBeGreaterThan(0)
  for (let i = names.length - 1; i > 0; i--) {
    if (i === cap) continue
    await by(page, 'edit-variant').nth(i).click()
    await by(page, 'remove').click()
    await expect.poll(() => by(page, 'variant-panel').count()).toBe(0)
  }
}

/** One client keeps four times as many RPCs in flight as four others together. */
const HOG = `title: A hog and a solver
cluster: small
clients: { count: 5, max_rpcs_in_flight: 64 }
oss:
  - name: oss01
    threads: 32
    osts:
      - { name: small-OST0000, disk: { bandwidth_mb_s: 1600, per_op_us: 8000, channels: 4 } }
control: { controller: none, max_rate: 400, mode: enforce }
jobs:
  - { id: 4690.hog.u1, clients: [5], processes: 64, op: write, size_kib: 256, pattern: { kind: continuous } }
  - { id: 7.solve.u2, clients: [1, 2, 3, 4], processes: 16, op: write, size_kib: 256, pattern: { kind: continuous } }
`

describe.skipIf(noBrowser !== undefined)('the sandbox in a browser', () => {
  let browser: Browser
  let sluice: RunningConsole
  beforeAll(async () => {
    browser = await launch()
    sluice = await openConsole()
    await vi.waitUntil(() => sluice.host.monitor.sample > SOME_DEMAND, { timeout: 60_000, interval: 100 })
  })
  afterAll(async () => {
    await browser?.close()
    await sluice?.close()
  })

  it('forks the live state by D, runs it, can be cancelled, and tells what came out, also as a file', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await command(page, 'controller: none')
    await by(page, 'mode-confirm').click()
    await expect.poll(() => by(page, 'controller').textContent()).toContain('None')
    // After the controller's rules are removed, the hog takes what it can.
    await page.waitForTimeout(2500)
    await page.keyboard.press('d')
    await by(page, 'progress').waitFor()
    expect(await by(page, 'origin').textContent()).toContain('fork of demo')
    await expect.poll(() => by(page, 'model-name').textContent()).toMatch(/EMULATED.*fork of demo/)
    expect(await by(page, 'knowledge').isVisible()).toBe(true)
    expect((await by(page, 'knowledge').textContent())?.length).toBeGreaterThan(100)
    await by(page, 'cancel').click()
    await expect.poll(() => by(page, 'cancelled').textContent(), LONG).toMatch(/Canceled/)

    await onlyTheCap(page)
    await askFor(page, 3, 5)
    await page.keyboard.press('r')
    await by(page, 'verdict').waitFor(LONG)
    expect(await by(page, 'variant').count()).toBe(2)
    expect(await by(page, 'verdict').textContent()).toContain('3 seeds')
    expect(await page.locator('[data-metric]').count()).toBeGreaterThan(8)
    expect(await by(page, 'variant').nth(1).locator('[data-metric] dd').first().textContent()).toMatch(/\d/)
    expect(await by(page, 'by-job').count()).toBeGreaterThan(0)
    expect(await by(page, 'knowledge').isVisible()).toBe(true)
    expect(await lookAt(page, 'sandbox', 'dark')).toEqual([])

    const started = page.waitForEvent('download')
    await by(page, 'export').click()
    await by(page, 'export-csv').click()
    const file = readFileSync(await (await started).path(), 'utf8')
    expect(file.split('\n').length).toBeGreaterThan(5)
    expect(file).toContain('Static cap')

    expect(errors).toEqual([])
    await page.context().close()
  })

  it('stages the rule of a variant for review, and sends nothing of it', async () => {
    const small = await openConsole(HOG)
    try {
      await vi.waitUntil(() => small.host.monitor.sample > SOME_DEMAND, { timeout: 60_000, interval: 100 })
      const { page, errors } = await openPage(browser, small.served.freshUrl())
      await page.keyboard.press('d')
      await by(page, 'cancel').click()
      await by(page, 'cancelled').waitFor()
      await onlyTheCap(page)
      await askFor(page, 3, 10)
      await page.keyboard.press('r')
      // It costs a third of the throughput, so no variant is called best: the operator can still stage it.
      await expect.poll(() => by(page, 'verdict').textContent(), { timeout: 60_000 }).toContain('of total throughput')
      await by(page, 'stage-other').click(LONG)
      await by(page, 'stage-1').click()
      await by(page, 'drawer').waitFor()
      const staged = by(page, 'staged-item')
      await expect.poll(() => staged.count()).toBe(1)
      const rule = (await staged.first().getAttribute('data-rule')) ?? ''
      expect(rule).not.toBe('')
      const lctl = (): string =>
        small.host.source.emulator.node('oss01')?.exec('lctl get_param ost.OSS.ost_io.nrs_tbf_rule').stdout ?? ''
      expect(lctl()).toContain('default')
      expect(lctl()).not.toContain(rule)
      expect(errors).toEqual([])
      await page.context().close()
    } finally {
      await small.close()
    }
  })

  it('runs a scenario of the gallery; a fault in its text is marked and keeps it from running until it is mended', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl(), '?theme=light')
    await page.keyboard.press('7')
    const entry = by(page, 'gallery-entry')
    await entry.first().waitFor()
    expect(await entry.count()).toBeGreaterThan(6)
    expect(await lookAt(page, 'sandbox-start', 'light')).toEqual([])
    await entry.filter({ hasText: 'Failing disk' }).click()
    await by(page, 'before-run').waitFor()
    await by(page, 'tab-scenario').click()
    const text = page.locator('[data-testid=yaml] .cm-content')
    await text.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.insertText('\nclientz: 3\n')
    await expect.poll(() => by(page, 'fault').count()).toBeGreaterThan(0)
    expect(await by(page, 'faults').textContent()).toContain('cannot run')
    expect(await by(page, 'unsaved').isVisible()).toBe(true)
    expect(await lookAt(page, 'sandbox-scenario', 'light')).toEqual([])
    await expect.poll(() => by(page, 'run').isDisabled()).toBe(true)
    await text.click()
    await page.keyboard.press('Control+z')
    await expect.poll(() => by(page, 'faults').textContent()).toContain('can run')
    await expect.poll(() => by(page, 'fault').count()).toBe(0)
    await expect.poll(() => by(page, 'run').isDisabled()).toBe(false)
    await askFor(page, 1, 5)
    await by(page, 'tab-runs').click()
    await by(page, 'run').click()
    await by(page, 'verdict').waitFor(LONG)
    expect(await by(page, 'stage').count()).toBeLessThan(2)
    expect(await lookAt(page, 'sandbox', 'light')).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  })
})
