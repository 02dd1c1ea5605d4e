/**
 * Incidents in a real browser: a notebook from the first line to a bundle, the bundle opened in another console and in this one,
 * and alerts.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { README } from '#core/snapshot/manifest.ts'
import { verifyHere } from '#tests/kits/electron/foreign/in-process.ts'
import { openZip } from '#electron/incidents/zip/zip-in.ts'
import { tempFolder } from '../node/temp-folder.ts'
import { launch, noBrowser, openConsole, type RunningConsole } from './browser.ts'
import { lookAt, openPage } from './page.ts'

const LONG = { timeout: 60_000 }
const PASTED = 'lctl get_param ost.OSS.ost_io.nrs_policies\nregular_requests: tbf jobid'
/** Fast enough that the demo soon misses a reservation. */
const FAST = 8

const by = (page: Page, id: string) => page.getByTestId(id)
const wordOf = (page: Page) => by(page, 'source-word').first()
/** Kinds of the notebook's cells, from top to bottom. */
const kinds = (page: Page): Promise<(string | null)[]> =>
  by(page, 'cell').evaluateAll((all) => all.map((cell) => cell.getAttribute('data-kind')))
async function focusCell(page: Page, kind: string): Promise<void> {
  await page.locator(`[data-testid=cell][data-kind=${kind}]`).last().focus()
}
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((lines) => {
    const data = new DataTransfer()
    data.setData('text/plain', lines)
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  }, text)
}

describe.skipIf(noBrowser !== undefined)('incidents in a browser', () => {
  let browser: Browser
  let sluice: RunningConsole
  const folder = tempFolder()
  /** File that the browser downloaded. */
  const file = join(folder, 'INC.zip')
  beforeAll(async () => {
    browser = await launch()
    sluice = await openConsole()
    sluice.host.source.setSpeed(FAST)
    const sees = async (): Promise<boolean> => sluice.host.monitor.sample > 120
    await vi.waitUntil(sees, { timeout: 60_000, interval: 100 })
    sluice.host.source.setSpeed(1)
  })
  afterAll(async () => {
    await browser?.close()
    await sluice?.close()
  })

  it('opens one by N, fills it, and changes it, all by keys; what is removed comes back', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await page.keyboard.press('n')
    await by(page, 'note-title').waitFor()
    await page.keyboard.type('Hog on four targets')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Told the owner of 4690.')
    await page.keyboard.press('Control+Enter')
    await expect.poll(() => by(page, 'filed').textContent()).toContain('INC-0001 created')
    await by(page, 'filed-open').focus()
    await page.keyboard.press('Enter')
    await by(page, 'cell').first().waitFor(LONG)
    expect(await by(page, 'cells').textContent()).toContain('Told the owner of 4690.')
    expect(await kinds(page)).toContain('chart')
    expect(Number(await by(page, 'frozen-chart').first().getAttribute('data-lines'))).toBeGreaterThan(0)
    expect(await by(page, 'frozen-chart').first().locator('canvas').count()).toBeGreaterThan(0)

    await by(page, 'title').focus()
    await page.keyboard.press('Enter')
    await by(page, 'title-input').waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Hog of u1021')
    await page.keyboard.press('Enter')
    await expect.poll(() => by(page, 'incident-row').first().textContent()).toContain('Hog of u1021')
    await by(page, 'status').focus()
    await page.keyboard.press('Enter')
    await by(page, 'status-watching').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => by(page, 'status').textContent()).toContain('watching')

    const before = await kinds(page)
    await by(page, 'add-chart').focus()
    await page.keyboard.press('Enter')
    await by(page, 'add-chart-queued').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => kinds(page)).toEqual([...before, 'chart'])
    await by(page, 'add-table').focus()
    await page.keyboard.press('Enter')
    await by(page, 'add-table-top').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => kinds(page)).toEqual([...before, 'chart', 'table'])
    await paste(page, PASTED)
    await expect.poll(() => kinds(page)).toEqual([...before, 'chart', 'table', 'transcript'])
    expect(await by(page, 'transcript-line').last().textContent()).toContain('regular_requests: tbf jobid')

    await focusCell(page, 'table')
    await page.keyboard.press('Delete')
    await expect.poll(() => kinds(page)).toEqual([...before, 'chart', 'transcript'])
    await by(page, 'undo').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => kinds(page)).toEqual([...before, 'chart', 'table', 'transcript'])
    await focusCell(page, 'transcript')
    await page.keyboard.press('Alt+ArrowUp')
    await expect.poll(() => kinds(page)).toEqual([...before, 'chart', 'transcript', 'table'])
    expect(await lookAt(page, 'incidents', 'dark')).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('says what leaves, writes it by Ctrl E, verifies it, and gives a file that is unchanged and read without Sluice', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await page.keyboard.press('9')
    await by(page, 'pairs').waitFor(LONG)
    await by(page, 'what-leaves').focus()
    await page.keyboard.press('Enter')
    await by(page, 'preview-pair').first().waitFor()
    expect(await lookAt(page, 'what-leaves', 'dark')).toEqual([])
    await by(page, 'preview-fields').focus()
    await page.keyboard.press('Enter')
    const fields = await by(page, 'preview-field').allTextContents()
    expect(fields.length).toBeGreaterThan(50)
    expect(fields.some((field) => field.includes('incident.title'))).toBe(true)
    await page.keyboard.press('Escape')
    await expect.poll(() => by(page, 'preview-dialog').count()).toBe(0)

    await page.keyboard.press('Control+e')
    await by(page, 'bundle-done').waitFor(LONG)
    expect(await by(page, 'bundle-done').textContent()).toMatch(/INC-0001.*\.zip/)
    const hash = (await by(page, 'bundle-hash').getAttribute('title')) ?? ''
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    await by(page, 'done-verify').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => by(page, 'verify-word').textContent(), LONG).toContain('Integrity verified')
    expect(await by(page, 'verify-dialog').textContent()).toContain(hash)
    await page.keyboard.press('Escape')
    const started = page.waitForEvent('download')
    await by(page, 'done-download').focus()
    await page.keyboard.press('Enter')
    await (await started).saveAs(file)
    const verdict = await verifyHere(file)
    expect(
      verdict.ok && { ok: verdict.value.ok, changed: verdict.value.changed, sha256: verdict.value.sha256 },
    ).toEqual({ ok: true, changed: [], sha256: hash })
    expect(errors).toEqual([])
    await page.context().close()

    const zip = await openZip(file)
    if (!zip.ok) throw new Error(zip.error.what)
    const pieces: Buffer[] = []
    for await (const piece of zip.value.stream(README)) pieces.push(Buffer.from(piece))
    zip.value.close()
    const path = join(folder, README)
    writeFileSync(path, Buffer.concat(pieces))
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const readme = await context.newPage()
    const said: string[] = []
    await context.route('**/*', async (route) => {
      said.push(route.request().url())
      await route.continue()
    })
    readme.on('console', (m) => said.push(m.text()))
    readme.on('pageerror', (e) => said.push(e.message))
    await readme.goto(pathToFileURL(path).href)
    const clock = (): Promise<string | null> => readme.locator('.clock').textContent()
    await readme.keyboard.press('Home')
    const first = await clock()
    await readme.keyboard.press('ArrowRight')
    expect(await clock()).not.toBe(first)
    expect(await readme.locator('.tile b').first().textContent()).toMatch(/\d/)
    expect(await readme.locator('body').textContent()).toContain('Told the owner of')
    expect(await readme.content()).not.toContain('u1021')
    expect(said).toEqual([pathToFileURL(path).href])
    await context.close()
  })

  it('refuses a copy of which one byte is another one, and names the member', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl())
    await page.keyboard.press('9')
    await by(page, 'bundle-row').first().waitFor(LONG)
    const changed = readFileSync(file)
    // Members are stored in order: one byte after the name of the first one that contains text.
    const at = changed.indexOf('notebook.json') + 'notebook.json'.length + 40
    changed[at] = (changed[at] ?? 0) ^ 1
    await by(page, 'bundle-file').setInputFiles({ name: 'copy.zip', mimeType: 'application/zip', buffer: changed })
    await expect.poll(() => by(page, 'upload-fault').textContent(), LONG).toContain('notebook.json')
    expect(await by(page, 'upload-fault').textContent()).toMatch(/copy\.zip.*not uploaded/)
    expect(await by(page, 'bundle-row').count()).toBe(1)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('plays a bundle in every view, read only and named as what it is, and leaves it', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl(), '?theme=light')
    await page.keyboard.press('9')
    await by(page, 'bundle-row').first().getByRole('button').first().focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => wordOf(page).textContent(), LONG).toContain('RECORDED')
    expect(await page.locator('.statusbar').textContent()).toMatch(
      /RECORDED.*INC-0001.*\.zip.*read-only.*integrity verified/,
    )
    expect(await by(page, 'time-sub').textContent()).toContain('.zip')
    expect(await page.locator('.win.hatched').count()).toBe(1)
    await expect.poll(() => page.title()).toMatch(/^RECORDED .*INC-0001/)
    await by(page, 'read-only').waitFor(LONG)
    expect(await by(page, 'add-note').isDisabled()).toBe(true)
    expect(await by(page, 'title').isDisabled()).toBe(true)
    expect(await by(page, 'cell-remove').count()).toBe(0)
    expect(await by(page, 'cells').textContent()).not.toContain('u1021')
    await focusCell(page, 'chart')
    const cells = await kinds(page)
    await page.keyboard.press('Delete')
    expect(await lookAt(page, 'incidents-recorded', 'light')).toEqual([])
    expect(await kinds(page)).toEqual(cells)

    await page.keyboard.press('1')
    await expect.poll(() => by(page, 'tile-rpc').textContent(), LONG).toMatch(/\d/)
    await page.keyboard.press('2')
    await expect.poll(() => by(page, 'job-row').first().textContent(), LONG).toMatch(/job-|app-/)
    expect(await by(page, 'job-row').allTextContents()).not.toContain('4690.python.u1021')
    for (const key of ['3', '4', '5', '6']) {
      await page.keyboard.press(key)
      await expect.poll(() => page.locator('main.main').first().textContent(), LONG).toMatch(/\d/)
      expect(await wordOf(page).textContent()).toContain('RECORDED')
    }
    const ingested = sluice.host.monitor.sample
    await by(page, 'back-to-live').first().focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => wordOf(page).textContent(), LONG).toContain('EMULATED')
    await expect.poll(() => sluice.host.monitor.sample).toBeGreaterThan(ingested)
    await page.keyboard.press('9')
    await by(page, 'cell').first().waitFor(LONG)
    expect(await by(page, 'read-only').count()).toBe(0)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('tells of the missed reservation of the demo, leads to its incident, and takes another threshold', async () => {
    sluice.host.source.setSpeed(FAST)
    const { page, errors } = await openPage(browser, sluice.served.freshUrl(), '?theme=light')
    const bell = by(page, 'alerts')
    await expect
      .poll(() => sluice.host.incidents.alerts.list().some(({ incident }) => incident !== null), { timeout: 60_000 })
      .toBe(true)
    sluice.host.source.setSpeed(1)
    await bell.focus()
    await page.keyboard.press('Enter')
    await by(page, 'alert').first().waitFor()
    expect(await by(page, 'alert').first().textContent()).toMatch(/reservation/)
    expect(await lookAt(page, 'alerts', 'light')).toEqual([])
    await by(page, 'alert-rules-open').focus()
    await page.keyboard.press('Enter')
    const threshold = by(page, 'alert-threshold-queue')
    await threshold.focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('6')
    await page.keyboard.press('Enter')
    await by(page, 'alert-usual-queue').waitFor()
    expect(await lookAt(page, 'alert-rules', 'light')).toEqual([])
    await by(page, 'alert-usual-queue').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => threshold.inputValue()).toBe('4')
    await page.keyboard.press('Escape')
    await expect.poll(() => by(page, 'alert-rules').count()).toBe(0)
    await bell.focus()
    await page.keyboard.press('Enter')
    await by(page, 'alert-incident').first().focus()
    await page.keyboard.press('Enter')
    await by(page, 'cell').first().waitFor(LONG)
    expect(await by(page, 'incident-id').textContent()).toMatch(/^INC-\d{4} . alert$/)
    expect(await by(page, 'about').textContent()).toContain('opened by an alert')
    expect(await lookAt(page, 'incidents-alert', 'light')).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  })
})
