/** README.html of a bundle in a real browser, from disk: its requests, its scripts, and its usability. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import AxeBuilder from '@axe-core/playwright'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Incident } from '#core/snapshot/notebook.ts'
import { readmePage } from '#electron/incidents/page/readme-page.ts'
import { replayData } from '#electron/incidents/page/replay-data.ts'
import { factsOf, fill, FROM, incidentOf, SMALL, type Size } from '../kits/electron/incidents/page-facts.ts'
import { PLANE_NAMES, recordPlanes, type PlaneNames } from '../kits/electron/incidents/plane-rows.ts'
import { tempFolder } from '../node/temp-folder.ts'
import { chromiumPath, launch } from './browser.ts'

function pageOf(size: Size, jobId?: (k: number) => string, incident: Incident = incidentOf(size)): string {
  const history = fill(size, jobId)
  const facts = factsOf(size, incident)
  const text = readmePage(replayData(history.reader(), facts), facts)
  history.close()
  return text
}

/** Page of a source with locks, metadata and tokens. */
function planesPage(size: Size, names: PlaneNames = PLANE_NAMES): string {
  const history = fill(size)
  recordPlanes(history, FROM, size.seconds, names)
  history.flush()
  const facts = factsOf(size)
  const text = readmePage(replayData(history.reader(), facts), facts)
  history.close()
  return text
}

/** A few of every kind of element: all checks apply to each of them, including axe. */
const FEW: Size = { seconds: 60, jobs: 4, targets: 8 }

/** The default page, created once. */
let made: string | undefined
const usual = (): string => (made ??= pageOf(SMALL))

const HOSTILE = [
  '</script><img src=x onerror=alert(1)>',
  '<!--<script>alert(2)</script>',
  ']]><svg onload=alert(3)>',
  '"><a href="javascript:alert(4)">x</a>',
  "';alert(5);//${alert(6)}`",
  '\u202Egnp.exe\u2066\u200B\u0000\n\u001B[2J',
  '&lt;img src=http://evil.example/a.png&gt;',
  '__proto__',
  '<style>*{display:none}</style>',
  '<meta http-equiv=refresh content="0;url=http://evil.example/">',
  '<base href=http://evil.example/>',
  'constructor',
]

describe.skipIf(chromiumPath === undefined)('in a browser, from disk', () => {
  let browser: Browser
  const folder = tempFolder()
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser.close())

  async function open(text: string, options: BrowserContextOptions = {}) {
    const file = join(folder, 'README.html')
    writeFileSync(file, text)
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
    const page = await context.newPage()
    const requests: string[] = []
    const said: string[] = []
    await context.route('**/*', async (route) => {
      requests.push(route.request().url())
      await route.continue()
    })
    page.on('console', (m) => said.push(m.text()))
    page.on('pageerror', (e) => said.push(e.message))
    page.on('dialog', (d) => {
      said.push(`dialog ${d.message()}`)
      void d.dismiss()
    })
    await page.goto(pathToFileURL(file).href)
    return { page, requests, said, file: pathToFileURL(file).href, close: () => context.close() }
  }
  const clock = (page: Page) => page.locator('.clock').textContent()

  it('asks for nothing but itself, and says nothing', async () => {
    const { page, requests, said, file, close } = await open(usual())
    expect(await page.locator('.src').first().textContent()).toBe('RECORDED')
    expect(await page.locator('#replay .tile').count()).toBe(8)
    expect(await page.locator('#still').count()).toBe(0)
    await page.keyboard.press('Space')
    await page.locator('.btn').click()
    await page.waitForTimeout(200)
    expect(requests).toEqual([file])
    expect(said).toEqual([])
    await close()
  })

  it('a job id, a note, a rule, a title or a command that is a script runs nothing and is read as it is', async () => {
    for (const word of ['</script><img src=x onerror=alert(1)>', '\u202E<svg onload=alert(1)>${alert(2)}\u2028']) {
      const text = pageOf(SMALL, (k) => HOSTILE[k % HOSTILE.length] ?? '', incidentOf(SMALL, word))
      expect(text).not.toMatch(/[\u0000\u200B\u202A-\u202E\u2066-\u2069\u001B]/)
      const { page, requests, said, file, close } = await open(text)
      await page.keyboard.press('End')
      await page.locator('summary').first().click()
      await page.locator('#replay .heat i').first().hover()
      const names = await page.locator('.jobs tbody th bdi').allTextContents()
      expect(names).toHaveLength(HOSTILE.length)
      expect(names).toContain('</script><img src=x onerror=alert(1)>')
      expect(names).toContain('\u2039202E\u203Agnp.exe\u20392066\u203A\u2039200B\u203A\u2400\u240A\u241B[2J')
      expect(await page.locator('img, iframe, base, meta[http-equiv=refresh], a[href^=javascript]').count()).toBe(0)
      expect(await page.locator('style').count()).toBe(1)
      expect([requests, said]).toEqual([[file], []])
      await close()
    }
  })

  it('keys, the strip, an event and play move one cursor through everything', async () => {
    const { page, said, close } = await open(usual(), { timezoneId: 'Asia/Kolkata' })
    expect(await clock(page)).toBe('14:27:00')
    expect(await page.locator('.now').textContent()).toContain('19:57:00 UTC+5:30')
    const rpcs = page.locator('.tile b').first()
    const before = await rpcs.textContent()
    for (const key of ['ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight'])
      await page.keyboard.press(key)
    expect(await clock(page)).toBe('14:27:31')
    expect(await rpcs.textContent()).not.toBe(before)
    expect(await page.locator('[role=slider]').getAttribute('aria-valuetext')).toMatch(/^14:27:31 UTC, .* RPC\/s$/)
    await page.keyboard.press('ArrowLeft')
    expect(await clock(page)).toBe('14:27:30')
    await page.keyboard.press(']')
    expect(await page.locator('.event[aria-current]').textContent()).toContain('14:27:33')
    await page.keyboard.press('Home')
    await page.keyboard.press('[')
    expect(await clock(page)).toBe('14:27:00')
    expect(await page.locator('#replay .diff li').allTextContents()).toHaveLength(4)
    await page.keyboard.press('End')
    expect(await clock(page)).toBe('14:28:59')
    const rules = await page
      .locator('#replay .diff li')
      .evaluateAll((all) => all.map((l) => `${l.className} ${l.querySelector('bdi')?.textContent ?? ''}`))
    expect(rules.toSorted()).toEqual(['add hog4690', 'del old_cap', 'mod ckpt_4655', 'same default', 'same hog4471'])
    await page.locator('.event').first().click()
    expect(await clock(page)).toBe('14:27:22')
    const strip = await page.locator('[role=slider]').boundingBox()
    if (!strip) throw new Error('no strip')
    await page.mouse.click(strip.x + strip.width / 2, strip.y + 20)
    expect(await clock(page)).toMatch(/^14:2(7:59|8:0[01])$/)
    await page.keyboard.press('Home')
    await page.locator('.play select').selectOption('16')
    await page.locator('body').click({ position: { x: 700, y: 120 } })
    await page.keyboard.press('Space')
    await expect.poll(() => clock(page)).not.toBe('14:27:00')
    await page.keyboard.press('Space')
    const stopped = await clock(page)
    await page.waitForTimeout(300)
    expect(await clock(page)).toBe(stopped)
    expect(said).toEqual([])
    await close()
  })

  it('a gap is said where the cursor stands in it, and no figure is made up', async () => {
    const { page, close } = await open(usual())
    for (let i = 0; i < 8; i++) await page.keyboard.press('Shift+ArrowRight')
    for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowRight')
    expect(await clock(page)).toBe('14:28:26')
    expect(await page.locator('.place').textContent()).toMatch(/^gap: /)
    expect(new Set(await page.locator('.tile b').allTextContents())).toEqual(new Set(['\u2013']))
    expect(await page.locator('.heat i').evaluateAll((all) => all.every((c) => c.className === 'gap'))).toBe(true)
    await close()
  })

  it('jobs are sorted by any column and filtered as one types', async () => {
    const { page, close } = await open(usual())
    const names = () => page.locator('.jobs tbody th bdi').allTextContents()
    expect(await page.locator('th[aria-sort=descending]').textContent()).toContain('Mean')
    await page.keyboard.press('End')
    await page.getByRole('button', { name: 'Write' }).click()
    const down = await names()
    await page.getByRole('button', { name: 'Write' }).click()
    expect(await page.locator('th[aria-sort=ascending]').textContent()).toContain('Write')
    expect((await names()).toReversed()).toEqual(down)
    await page.keyboard.press('/')
    await page.keyboard.type('python ')
    expect((await names()).every((n) => n.includes('python'))).toBe(true)
    expect(await clock(page)).toBe('14:28:59')
    await page.locator('#filter').fill('nobody')
    expect(await page.getByText('No job matches the filter').isVisible()).toBe(true)
    await close()
  })

  it('locks, metadata and tokens have charts and tables at the cursor; a convoy is replayed lock by lock', async () => {
    const { page, said, close } = await open(planesPage(SMALL))
    const titles = ['Locks', 'Metadata QoS', 'Tokens']
    expect(await page.locator('.planes > h2').allTextContents()).toEqual(titles)
    expect(await page.locator('#locks .charts h2').allTextContents()).toEqual(['Lock wait, p95', 'Lock conflicts'])
    const resources = page.locator('section[aria-label="Lock resources"]')
    const wait = async () => {
      const heads = await resources.locator('thead th').allTextContents()
      const cells = await resources.locator('tbody tr').first().locator('th, td').allTextContents()
      return cells[heads.indexOf('Wait, p95ms')]
    }
    expect(await wait()).toBe('2')
    await page.keyboard.press('Shift+ArrowRight')
    expect(await wait()).toBe('12')
    const first = () => resources.locator('tbody th bdi').first().textContent()
    expect(await first()).toBe('ckpt.h5 / 3')
    await resources.getByRole('button', { name: 'Grants' }).click()
    await resources.getByRole('button', { name: 'Grants' }).click()
    expect(await first()).toBe('ckpt.h5 / 4')
    const convoys = page.locator('section[aria-label=Convoys]')
    await convoys.locator('.convoy').click()
    expect(await clock(page)).toBe('14:28:00')
    expect(await convoys.locator('.convoy').getAttribute('aria-current')).toBe('true')
    expect(await convoys.locator('rect.waits').count()).toBe(5)
    expect(await convoys.locator('rect.holds').count()).toBe(4)
    await convoys.locator('summary').nth(1).click()
    expect(await convoys.locator('details[open] tbody tr').allTextContents()).toContain(
      'cn1701-0to the serverrequests PW 0 .. 65 535\u22124.000\u22123.750',
    )
    expect(said).toEqual([])
    await close()
  })

  it('a resource, a client or a stage that is a script runs nothing and is read as it is', async () => {
    const [file = '', lockServer = '', stage = '', client = '', dataNode = '', job = ''] = HOSTILE
    const {
      page,
      requests,
      said,
      file: address,
      close,
    } = await open(planesPage(SMALL, { file, lockServer, stage, client, dataNode, job }))
    await page.keyboard.press('End')
    expect(await page.locator('section[aria-label="Lock resources"] tbody th bdi').first().textContent()).toBe(
      `${file} / 3`,
    )
    expect(await page.locator('.convoy bdi').first().textContent()).toBe(`${file} / 3`)
    expect(await page.locator('img, iframe, base, meta[http-equiv=refresh], a[href^=javascript]').count()).toBe(0)
    expect([requests, said]).toEqual([[address], []])
    await close()
  })

  it('without scripts locks, metadata, tokens and convoys are tables', async () => {
    const { page, said, close } = await open(planesPage(SMALL), { javaScriptEnabled: false })
    expect(await page.locator('#still .figure svg').count()).toBe(10)
    const titles = await page.locator('#still h2').allTextContents()
    for (const title of ['Lock resources', 'Metadata channels', 'Token clients', 'Convoys'])
      expect(titles.some((text) => text.startsWith(title))).toBe(true)
    const text = (await page.locator('#still').textContent()) ?? ''
    for (const word of ['ckpt.h5 / 3', 'ccpfs01', 'mds01 cn1701', 'haechi1']) expect(text).toContain(word)
    expect(said).toEqual([])
    await close()
  })

  it('without scripts the notebook, pictures, jobs, rules and events are read', async () => {
    const { page, said, close } = await open(usual(), { javaScriptEnabled: false })
    expect(await page.locator('#still .figure svg').count()).toBe(4)
    const text = (await page.locator('main').textContent()) ?? ''
    for (const word of ['4690.cfd_solve.u500', 'sluice snapshot verify', 'old_cap stopped', 'exit 0', 'Capped at 400'])
      expect(text).toContain(word)
    expect(said).toEqual([])
    await close()
  })

  it('axe finds nothing, dark and light; nothing scrolls sideways at 900 px', async () => {
    const { page, close } = await open(planesPage(FEW), { colorScheme: 'dark', viewport: { width: 900, height: 700 } })
    await page.keyboard.press('End')
    for (const other of ['Light', 'Dark']) {
      expect(await page.locator('.btn').textContent()).toBe(other)
      // The page has no frames: the extra page that axe needs for their results is not used.
      const axe = new AxeBuilder({ page }).setLegacyMode()
      const found = await (other === 'Light' ? axe : axe.withRules(['color-contrast'])).analyze()
      expect(found.violations.map((v) => [v.id, v.nodes[0]?.target, v.nodes[0]?.failureSummary])).toEqual([])
      await page.locator('.btn').click()
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    await close()
  })
})
