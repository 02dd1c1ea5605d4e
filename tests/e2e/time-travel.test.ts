/**
 * Time travel in a real browser: pause, steps, events, A and B, notes, the History page, opening a recording and returning from
 * it.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { launch, manyJobs, noBrowser, openConsole, type RunningConsole } from './browser.ts'
import { lookAt, openPage } from './page.ts'

/** Samples a tenth of a second apart, covering more than a minute. */
const OVER_A_MINUTE = 680

const numberOf = (text: string | null): number => Number((text ?? '').replace(/[^\d.]/g, ''))
const sampleOf = async (page: Page): Promise<number> => numberOf(await page.getByTestId('sample').first().textContent())
const wordOf = (page: Page): Promise<string | null> => page.getByTestId('source-word').first().textContent()

/** Time of day on the strip's clock, in seconds. */
const clockOf = async (page: Page): Promise<number> => {
  const [h = 0, m = 0, s = 0] = ((await page.getByTestId('clock').first().textContent()) ?? '').split(':').map(Number)
  return 3600 * h + 60 * m + s
}

/** Presses Space and waits until two readings of the clock agree: one frame may be in transit. */
async function pause(page: Page): Promise<number> {
  await page.keyboard.press('Space')
  await expect.poll(() => wordOf(page)).toContain('PAUSED')
  await page.waitForTimeout(500)
  return sampleOf(page)
}
async function drag(page: Page, from: number, to: number): Promise<void> {
  const box = await page.getByTestId('spans').boundingBox()
  if (box === null) throw new Error('the day has no box')
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + box.width * from, y)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * to, y, { steps: 4 })
  await page.mouse.up()
}

describe.skipIf(noBrowser !== undefined)('time in a browser', () => {
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

  it('is paused while samples arrive, and steps by sample, by ten, by minute and by event', async () => {
    // With little load a minute passes faster.
    const quiet = await openConsole(manyJobs(6))
    quiet.host.source.setSpeed(16)
    await vi.waitUntil(() => quiet.host.monitor.sample > OVER_A_MINUTE, { timeout: 200_000, interval: 100 })
    quiet.host.source.setSpeed(1)
    const { page, errors } = await openPage(browser, quiet.served.freshUrl())
    const stood = await pause(page)
    const held = async (): Promise<number> => numberOf(await page.getByTestId('held').textContent())
    const heldBefore = await held()
    await expect.poll(held).toBeGreaterThan(heldBefore)
    expect(await sampleOf(page)).toBe(stood)
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => sampleOf(page)).toBe(stood - 1)
    await page.keyboard.press('Shift+ArrowLeft')
    await expect.poll(() => sampleOf(page)).toBe(stood - 11)
    await page.keyboard.press('Shift+ArrowRight')
    await expect.poll(() => sampleOf(page)).toBe(stood - 1)
    const seconds = await clockOf(page)
    await page.keyboard.press('Alt+ArrowLeft')
    await expect.poll(async () => Math.abs(seconds - 60 - (await clockOf(page)))).toBeLessThan(2)
    await page.keyboard.press('Alt+ArrowRight')
    await expect.poll(async () => Math.abs(seconds - (await clockOf(page)))).toBeLessThan(2)
    const beforeEvents = await sampleOf(page)
    await page.keyboard.press('[')
    await expect.poll(() => sampleOf(page)).toBeLessThan(beforeEvents)
    const atEvent = await sampleOf(page)
    await page.keyboard.press('[')
    await expect.poll(() => sampleOf(page)).toBeLessThan(atEvent)
    await page.keyboard.press(']')
    await expect.poll(() => sampleOf(page)).toBe(atEvent)
    await page.keyboard.press('l')
    await expect.poll(() => sampleOf(page)).toBeGreaterThan(stood)
    expect(await wordOf(page)).toContain('EMULATED')
    expect(errors).toEqual([])
    await page.context().close()
    await quiet.close()
  })

  it('compares A with B: differences on the tiles and in the jobs table, until it is ended', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await expect.poll(() => sampleOf(page), { timeout: 60_000 }).toBeGreaterThan(40)
    const stood = await pause(page)
    await page.keyboard.press('Shift+ArrowLeft')
    await page.keyboard.press('Shift+ArrowLeft')
    await expect.poll(() => sampleOf(page)).toBe(stood - 20)
    await page.keyboard.press('c')
    await page.getByTestId('compare-bar').waitFor()
    const a = await page.getByTestId('compare-a').textContent()
    await page.keyboard.press('l')
    await expect.poll(() => page.getByTestId('compare-b').textContent()).not.toBe(a)
    expect(await page.getByTestId('compare-a').textContent()).toBe(a)
    await expect.poll(() => page.getByTestId('tile-rpc').textContent()).toMatch(/A\s*\d/)
    expect(await lookAt(page, 'compare-overview', 'dark')).toEqual([])
    await page.keyboard.press('2')
    const cells = page.locator('[data-testid=job-row] [data-col=rpcs]')
    await expect.poll(() => cells.first().textContent()).toMatch(/A .*B .*change/)
    const deltas = await cells.evaluateAll((all) =>
      all.map((c) => (c as HTMLElement).innerText.trim().split(/\s+/).at(-1)),
    )
    expect(deltas.some((d) => /^[+\u2212]\d/.test(d ?? ''))).toBe(true)
    expect(await lookAt(page, 'compare-jobs', 'dark')).toEqual([])
    await page.keyboard.press('Shift+C')
    await expect.poll(() => page.getByTestId('compare-bar').count()).toBe(0)
    await expect.poll(() => cells.first().textContent()).not.toMatch(/change/)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('keeps a note at the cursor, and the note is an event from then on', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await page.keyboard.press('3')
    await pause(page)
    await page.keyboard.press('Shift+N')
    await page.getByTestId('note-dialog').waitFor()
    await page.getByTestId('note-text').fill('hog was asked to stop')
    await page.keyboard.press('Control+Enter')
    await expect.poll(() => page.getByTestId('note-dialog').count()).toBe(0)
    // At the cursor; the strip keeps moving, so that later marks may follow it. An alert close by is drawn instead, and its
    // tooltip shows both.
    const marks = page.getByTestId('strip-mark')
    const told = async (): Promise<string> => {
      const tips: string[] = []
      const last = (await marks.count()) - 1
      for (let at = last; at >= Math.max(0, last - 5); at--) {
        await marks.nth(at).focus()
        tips.push(...(await page.getByRole('tooltip').allTextContents()))
      }
      return tips.join('\n')
    }
    await expect.poll(told).toContain('hog was asked to stop')
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    await page.keyboard.press('l')
    await page.keyboard.press('1')
    await expect.poll(() => page.getByTestId('events').textContent()).toContain('hog was asked to stop')
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('compares two spans of the day, records one, plays it back with nothing to change, and comes back', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await page.keyboard.press('8')
    await page.getByTestId('history').waitFor()
    await page.getByTestId('no-spans').first().waitFor()
    const chip = (name: string): Promise<string | null> => page.getByTestId(`chip-${name}`).textContent()
    expect(await chip('a')).toContain('not set')
    // Two spans of 15 s.
    await page.getByTestId('preset-0.25').first().click({ timeout: 60_000 })
    await expect.poll(() => page.getByTestId('mover').count()).toBeGreaterThan(3)
    expect(await chip('b')).toMatch(/\d\d:\d\d:\d\d/)
    // Set manually: A again by dragging, B by keys.
    const before = [await chip('a'), await chip('b')]
    await page.getByTestId('chip-a').click()
    await drag(page, 0.1, 0.25)
    await expect.poll(() => chip('a')).not.toBe(before[0])
    await page.getByTestId('chip-b').click()
    await page.getByTestId('spans').focus()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => chip('b')).not.toBe(before[1])
    expect(await lookAt(page, 'history', 'dark')).toEqual([])

    await page.keyboard.press('Escape')
    await page.getByTestId('record-open').click()
    const name = page.locator('[data-testid=record-name] input, input[data-testid=record-name]')
    await name.fill('shift-handover')
    await page.getByTestId('record').click()
    const recording = page.getByTestId('recording').filter({ hasText: 'shift-handover' })
    await recording.waitFor()
    const ingested = sluice.host.monitor.sample
    await recording
      .getByRole('button', { name: /shift-handover/ })
      .first()
      .click()
    await expect.poll(() => wordOf(page)).toContain('RECORDED')
    await expect.poll(() => page.getByTestId('time-sub').textContent()).toContain('shift-handover')
    expect(await page.locator('.statusbar').textContent()).toMatch(/RECORDED.*shift-handover/)
    expect(await page.locator('.win.hatched').count()).toBe(1)
    await expect.poll(() => page.title()).toContain('RECORDED')
    await page.keyboard.press('1')
    await page.getByTestId('tile-rpc').waitFor()
    await page.waitForTimeout(800)
    expect(await lookAt(page, 'recorded', 'dark')).toEqual([])
    await page.getByTestId('cluster').click()
    expect(await page.getByTestId('mode-observe').getAttribute('aria-disabled')).toBe('true')
    expect(await page.getByTestId('controller-none').getAttribute('aria-disabled')).toBe('true')
    await page.keyboard.press('Escape')
    await page.keyboard.press('2')
    await page.getByTestId('job-row').first().waitFor()
    const at = await sampleOf(page)
    const shown = page.getByTestId('clock')
    const clock = await shown.first().textContent()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => sampleOf(page)).not.toBe(at)
    expect(await shown.first().textContent()).not.toBe(clock)
    expect(sluice.host.monitor.sample).toBeGreaterThan(ingested)
    await page.getByTestId('back-to-live').click()
    await expect.poll(() => wordOf(page)).toContain('EMULATED')
    await expect.poll(() => page.getByTestId('back-to-live').count()).toBe(0)
    expect(errors).toEqual([])
    await page.context().close()
  })
})
