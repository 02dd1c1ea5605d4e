/** The console in a real browser, on the built-in emulator: the first steps after `npm start`. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, noBrowser, openConsole, type RunningConsole } from './browser.ts'

if (noBrowser !== undefined) console.log(`browser suite skipped: ${noBrowser}`)

const HOSTILE = '<img src=x onerror=alert(1)>'
const WITH_HOSTILE_JOB = `title: Hostile job id
clients: { count: 2 }
oss:
  - name: oss01
    osts:
      - { name: demo-OST0000, disk: { bandwidth_mb_s: 500 } }
control: { max_rate: 500 }
jobs:
  - { id: "${HOSTILE}", clients: [1], op: write, size_kib: 256, pattern: { kind: continuous } }
  - { id: 7.ok.u1, clients: [2], op: write, size_kib: 256, pattern: { kind: continuous } }
`

async function open(browser: Browser, url: string, query = ''): Promise<{ page: Page; errors: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
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

const sampleOf = async (page: Page): Promise<number> =>
  Number(((await page.getByTestId('sample').first().textContent()) ?? '').replace(/\D/g, ''))

describe.skipIf(noBrowser !== undefined)('the console in a browser', () => {
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

  it('opens on the emulator, says so, and the jobs move', async () => {
    const { page, errors } = await open(browser, sluice.served.freshUrl())
    expect(page.url()).not.toContain('token')
    await expect.poll(() => page.getByTestId('source-word').first().textContent()).toContain('EMULATED')
    await page.keyboard.press('2')
    await page.getByTestId('job-row').first().waitFor()
    const rates = (): Promise<string[]> => page.locator('[data-testid=job-row] [data-col=rpcs]').allTextContents()
    const before = await rates()
    expect(before.length).toBeGreaterThanOrEqual(6)
    await expect.poll(rates).not.toEqual(before)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('pause freezes what is shown while sampling continues, and resume catches up', async () => {
    const { page } = await open(browser, sluice.served.freshUrl())
    await page.keyboard.press('2')
    await expect.poll(() => sampleOf(page)).toBeGreaterThan(0)
    await page.keyboard.press('Space')
    await expect.poll(() => page.getByTestId('source-word').first().textContent()).toContain('PAUSED')
    // One frame may have been in transit when the key was pressed.
    await page.waitForTimeout(500)
    const frozen = await sampleOf(page)
    const rows = await page.getByTestId('job-row').allTextContents()
    const ingested = sluice.host.monitor.sample
    await expect.poll(() => sluice.host.monitor.sample).toBeGreaterThan(ingested + 10)
    expect(await sampleOf(page)).toBe(frozen)
    expect(await page.getByTestId('job-row').allTextContents()).toEqual(rows)
    expect(await page.getByTestId('held').first().textContent()).toMatch(/\d/)
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => sampleOf(page)).toBe(frozen - 1)
    await page.keyboard.press('l')
    await expect.poll(() => sampleOf(page)).toBeGreaterThan(frozen + 10)
    await page.context().close()
  })

  it('shows the rules that lctl prints on the emulated node', async () => {
    const { page } = await open(browser, sluice.served.freshUrl())
    await page.keyboard.press('3')
    await page.getByTestId('rule-row').first().waitFor()
    await page.getByTestId('node-oss01').click()
    sluice.host.source.setSpeed(0)
    try {
      const node = sluice.host.source.emulator.node('oss01')
      const answer = (): string => node?.exec('lctl get_param ost.OSS.ost_io.nrs_tbf_rule').stdout ?? ''
      // Reference counts change between the read-back and now, so rules are compared without them.
      const rulesOf = (text: string): string[] =>
        [...text.matchAll(/^(\S+ .* \d+), ref -?\d+$/gm)].map((m) => m[1] as string)
      const regOf = (text: string): string[] =>
        rulesOf(text.split('high_priority_requests:')[0] ?? '').map((r) => r.split(' ')[0] as string)
      await expect
        .poll(async () => rulesOf((await page.getByTestId('server-text').textContent()) ?? ''))
        .toEqual(rulesOf(answer()))
      expect(rulesOf(answer()).some((r) => r.startsWith('ab_'))).toBe(true)
      const names = (): Promise<(string | null)[]> =>
        page.getByTestId('rule-row').evaluateAll((rows) => rows.map((r) => r.getAttribute('data-rule')))
      await expect.poll(names).toEqual(regOf(answer()))
    } finally {
      sluice.host.source.setSpeed(1)
    }
    await page.context().close()
  })

  it('a mode chosen in the window reaches the servers: observe removes our rules', async () => {
    const { page } = await open(browser, sluice.served.freshUrl())
    const rules = (): string =>
      sluice.host.source.emulator.node('oss01')?.exec('lctl get_param ost.OSS.ost_io.nrs_tbf_rule').stdout ?? ''
    await expect.poll(rules).toContain('ab_')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('observe')
    await page.keyboard.press('Enter')
    await page.getByTestId('mode-confirm').click()
    await expect.poll(rules).not.toContain('ab_')
    // A dialog that is still open would take the keys.
    await page.getByTestId('mode-confirm').waitFor({ state: 'hidden' })
    await page.keyboard.press('Control+k')
    await page.keyboard.type('enforce')
    await page.keyboard.press('Enter')
    await page.getByTestId('mode-confirm').click()
    await expect.poll(rules).toContain('ab_')
    await page.context().close()
  })

  it('opens metadata QoS with 5; its hierarchy is walked by keys and a faulty policy is shown in its place', async () => {
    const { page, errors } = await open(browser, sluice.served.freshUrl())
    await page.keyboard.press('5')
    const rows = page.getByTestId('tree-row')
    await rows.nth(1).waitFor()
    const tree = page.getByTestId('tree')
    const standsOn = (): Promise<string | null> =>
      tree.evaluate(
        (t) => document.getElementById(t.getAttribute('aria-activedescendant') ?? '')?.dataset['key'] ?? null,
      )
    await tree.focus()
    await page.keyboard.press('Home')
    expect(await standsOn()).toBe('global')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => rows.count()).toBe(1)
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => rows.count()).toBeGreaterThan(1)
    await page.keyboard.press('ArrowDown')
    const second = await standsOn()
    expect(second).not.toBe('global')
    await page.keyboard.press('Enter')
    await expect
      .poll(() => page.locator('[data-testid=tree-row][aria-selected=true]').getAttribute('data-key'))
      .toBe(second)
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('[data-testid=tree-row][aria-selected=true]').count()).toBe(0)
    await page.keyboard.press('e')
    const text = page.getByTestId('policy-text')
    await text.waitFor()
    const lines = text.locator('.cm-line')
    const line = (await lines.count()) + 1
    await page.keyboard.press('Control+End')
    await page.keyboard.press('Enter')
    await page.keyboard.insertText('9 0 job 4690.python.u1021 meta_opp 100')
    const faults = page.getByTestId('policy-faults')
    await expect.poll(() => faults.textContent()).toContain(`line ${line}, column 27`)
    // The caret is at the exact character that the column names.
    const faulty = lines.nth(line - 1)
    const caret = await faulty.locator('.cm-fault > span').boundingBox()
    const marked = await faulty.locator('.cm-lintRange-error').boundingBox()
    expect(await faulty.locator('.cm-lintRange-error').textContent()).toBe('meta_opp')
    expect(Math.abs((caret?.x ?? 0) - (marked?.x ?? NaN))).toBeLessThan(1)
    expect(await page.getByTestId('policy-apply').isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByTestId('draft-badge').count()).toBe(1)
    await page.keyboard.press('e')
    expect(await text.textContent()).toContain('meta_opp')
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('opens locks with 4: a convoy is named and shown, replayed message by message, and LDLM has its counters', async () => {
    const { page, errors } = await open(browser, sluice.served.freshUrl())
    await page.keyboard.press('4')
    const resource = page.locator('[data-testid=resource-row][aria-selected=true]')
    await resource.waitFor()
    // Checkpoints occur every eight seconds: one is visible at any time the window is opened.
    const conditions = page.locator('[data-testid=conditions]')
    await expect.poll(() => conditions.textContent()).toMatch(/Convoy on ckpt\.h5 \/ \d, \d+ behind 1/)
    await expect.poll(() => resource.textContent()).toMatch(/ckpt\.h5 \/ \d/)
    await expect.poll(() => page.getByTestId('facts').textContent()).toMatch(/Longest waitcn\d+ (PR|NBW|BW|PW)/)
    await page.keyboard.press('Space')
    await page.getByTestId('lanes').focus()
    const at = (): Promise<string | null> => page.getByTestId('lanes').getAttribute('aria-valuenow')
    await page.keyboard.press('Home')
    await expect.poll(at).toBe('0')
    await page.keyboard.press('ArrowRight')
    await expect.poll(at).not.toBe('0')
    const first = Number(await at())
    await page.keyboard.press('ArrowRight')
    await expect.poll(async () => Number(await at())).toBeGreaterThan(first)
    await page.keyboard.press('m')
    await page.getByTestId('messages').waitFor()
    const told = (): Promise<string | null> => page.getByTestId('cursor-at').textContent()
    const before = await told()
    for (let i = 0; i < 5; i++) await page.keyboard.press('.')
    await expect.poll(told).not.toBe(before)
    await page.keyboard.press('m')
    await page.getByTestId('plane-ldlm').click()
    const names = page.getByTestId('namespace-row')
    await names.first().waitFor()
    expect((await names.allTextContents()).join()).toContain('demo-MDT0000')
    expect(errors).toEqual([])
    await page.context().close()
  })
})

describe.skipIf(noBrowser !== undefined)('a job id that is markup', () => {
  it('is shown as text in every view and runs nothing', async () => {
    const browser = await launch()
    const sluice = await openConsole(WITH_HOSTILE_JOB)
    try {
      const { page, errors } = await open(browser, sluice.served.freshUrl())
      await page.waitForTimeout(1500)
      await page.keyboard.press('2')
      const row = page.locator(`[data-testid=job-row][data-job="${HOSTILE}"]`)
      await row.waitFor()
      await row.click()
      await page.waitForTimeout(700)
      await page.keyboard.press('1')
      await page.waitForTimeout(700)
      await page.keyboard.press('3')
      await page.waitForTimeout(700)
      await page.keyboard.press('4')
      await page.waitForTimeout(700)
      await page.keyboard.press('5')
      await page.waitForTimeout(700)
      expect(await page.locator('img').count()).toBe(0)
      expect(errors).toEqual([])
      // No rule can name it, so none was written.
      const rules =
        sluice.host.source.emulator.node('oss01')?.exec('lctl get_param ost.OSS.ost_io.nrs_tbf_rule').stdout ?? ''
      expect(rules).toContain('jobid={7.ok.u1}')
      expect(rules).not.toContain('img')
    } finally {
      await browser.close()
      await sluice.close()
    }
  })
})
