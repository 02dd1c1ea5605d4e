/** Accessibility of every view: no axe violations in any theme, and every control reachable with the Tab key. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { launch, noBrowser, openConsole, type RunningConsole } from './browser.ts'
import { axeOf, lookAt, openPage } from './page.ts'

const by = (page: Page, id: string) => page.getByTestId(id)
/** Elements that indicate that a view is loaded. */
const views = {
  // Its panels are drawn one after the other; this one is the last.
  overview: 'mover',
  jobs: 'job-row',
  rules: 'rule-row',
  locks: 'resource-row',
  metadata: 'tree-row',
  tokens: 'client',
  sandbox: 'gallery-entry',
  history: 'history',
  incidents: undefined,
  connections: undefined,
  papers: 'claims',
  settings: undefined,
  help: undefined,
} as const
type View = keyof typeof views
const all = Object.keys(views) as View[]

async function show(page: Page, view: View): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash
  }, `#/${view}`)
  const there = views[view]
  await (there === undefined ? page.locator('main').first() : by(page, there).first()).waitFor()
}

/** Themes with colours different from those of the first one; everything else is the same in all. */
const others = [
  ['light', 'normal'],
  ['dark', 'high'],
  ['light', 'high'],
] as const

async function setLook(page: Page, theme: string, contrast: string): Promise<void> {
  await page.evaluate(
    (look) => {
      const { dataset } = document.documentElement
      dataset['theme'] = look.theme
      if (look.contrast === 'high') dataset['contrast'] = 'high'
      else delete dataset['contrast']
    },
    { theme, contrast },
  )
  // Button backgrounds change within 120 ms.
  await page.waitForTimeout(200)
}

async function faintText(page: Page, view: View, theme: string, contrast: string): Promise<string[]> {
  await setLook(page, theme, contrast)
  const axe = axeOf(page).withRules(['color-contrast'])
  // The frame is the same around every view: it is checked with the first one.
  const beside = await page.locator('.inspector').count()
  const part = view === all[0] ? axe : beside > 0 ? axe.include('.view').include('.inspector') : axe.include('.view')
  const { violations } = await part.analyze()
  return violations.flatMap((v) => v.nodes.map((n) => `${view}, ${theme} ${contrast}: ${n.html}`))
}

interface Stop {
  readonly name: string
  /** True if the focus is visible: a ring by shadow or outline, on the element, its container, or a row of a table. */
  readonly isDrawn: boolean
  readonly isInSight: boolean
  /** True if the element or its container has an accessible name. */
  readonly isNamed: boolean
  /** True outside of the view: the element belongs to the frame. */
  readonly isOutside: boolean
}

/** Runs in the page: records each element that gets the focus. */
function noteStops(): void {
  const noted: Stop[] = []
  Object.assign(window, { noted })
  const probe = document.body.appendChild(document.createElement('i'))
  probe.style.color = 'var(--accent)'
  const accent = getComputedStyle(probe).color
  probe.remove()
  const isRing = (of: Element | null): boolean => {
    if (of === null) return false
    const { boxShadow, outlineStyle, borderTopColor } = getComputedStyle(of)
    return boxShadow.includes(accent) || outlineStyle !== 'none' || borderTopColor === accent
  }
  document.addEventListener('focusin', ({ target }) => {
    const e = target as HTMLElement
    // The title of a help page takes the focus when the page is loaded: it is not a Tab stop.
    if (e.tagName === 'H1' && e.tabIndex < 0) return
    const box = e.getBoundingClientRect()
    const label = e.getAttribute('aria-label') ?? e.getAttribute('title') ?? ''
    const own = e.getAttribute('aria-labelledby') !== null || ((e as HTMLInputElement).labels?.length ?? 0) > 0
    const text = (e.textContent ?? '').trim().slice(0, 30)
    noted.push({
      name: `${e.tagName.toLowerCase()} ${e.dataset['testid'] ?? e.className} ${label || text}`,
      isDrawn:
        isRing(e) ||
        isRing(e.parentElement) ||
        isRing(e.closest('label, .input')) ||
        isRing(e.querySelector(':scope > .rows :is(.grid-row.current, .empty)')),
      isInSight: box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight,
      isNamed: label !== '' || own || text !== '',
      isOutside: e.closest('main') === null,
    })
  })
}

/** Most stops; more are a focus trap, or a list without roving tabindex. */
const MOST_STOPS = 200
const AT_ONCE = 10

/** Presses Tab from the start of the view until the focus has left it; returns the stops. */
async function walk(page: Page): Promise<Stop[]> {
  await page.evaluate(() => {
    const main = document.querySelector('main') as HTMLElement
    main.tabIndex = -1
    main.focus()
    main.removeAttribute('tabindex')
    ;(window as unknown as { noted: Stop[] }).noted.length = 0
  })
  for (let i = 0; i < MOST_STOPS; i += AT_ONCE) {
    for (let k = 0; k < AT_ONCE; k++) await page.keyboard.press('Tab')
    const stops = await page.evaluate(() => (window as unknown as { noted: Stop[] }).noted)
    const end = stops.findIndex((stop) => stop.isOutside)
    if (end >= 0) return stops.slice(0, end)
  }
  return []
}

describe.skipIf(noBrowser !== undefined)('accessibility', () => {
  let browser: Browser
  let sluice: RunningConsole
  beforeAll(async () => {
    browser = await launch()
    sluice = await openConsole()
    // Runs until every view has data, then pauses, so that the checked content does not change.
    const { monitor, source } = sluice.host
    source.setSpeed(16)
    await vi.waitUntil(() => monitor.sample > 300, { timeout: 200_000, interval: 100 })
    source.setSpeed(0)
  })
  afterAll(async () => {
    await browser?.close()
    await sluice?.close()
  })

  it('axe finds nothing serious in any view', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl(), '?hz=1', true)
    const faults: string[] = []
    for (const view of all) {
      await show(page, view)
      if (view === 'jobs') await by(page, 'job-row').first().click()
      faults.push(...(await lookAt(page, view, 'dark')))
      if (view === 'jobs') await page.keyboard.press('Escape')
    }
    expect(faults).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('no text is faint in any other theme', async () => {
    const { page } = await openPage(browser, sluice.served.freshUrl(), '?hz=1', true)
    const faults: string[] = []
    for (const view of all) {
      await show(page, view)
      if (view === 'jobs') await by(page, 'job-row').first().click()
      for (const [theme, contrast] of others) faults.push(...(await faintText(page, view, theme, contrast)))
      if (view === 'jobs') await page.keyboard.press('Escape')
    }
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('the editor of policies and its faults, the palette, and the dialogs of notes and keys have none either', async () => {
    const { page, errors } = await openPage(browser, sluice.served.freshUrl(), '?theme=light', true)
    await show(page, 'metadata')
    await page.keyboard.press('e')
    await by(page, 'policy-text').waitFor()
    await page.keyboard.press('Control+End')
    await page.keyboard.insertText('\n9 0 job 4690.python.u1021 meta_opp 100')
    await by(page, 'policy-faults').waitFor()
    expect(await lookAt(page, 'metadata-editor', 'light')).toEqual([])
    await page.keyboard.press('Escape')
    await show(page, 'rules')
    await page.keyboard.press('n')
    await by(page, 'editor').waitFor()
    expect(await lookAt(page, 'rule-editor', 'light')).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await by(page, 'palette').waitFor()
    expect(await lookAt(page, 'palette', 'light')).toEqual([])
    await page.keyboard.press('Escape')
    await by(page, 'palette').waitFor({ state: 'detached' })
    await page.keyboard.press('Shift+N')
    await by(page, 'note-dialog').waitFor()
    expect(await lookAt(page, 'note', 'light')).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('Tab goes into every view and out of it again: each stop is named, in sight and marked', async () => {
    const { page } = await openPage(browser, sluice.served.freshUrl(), '?hz=1', true)
    await page.evaluate(noteStops)
    const lost: string[] = []
    for (const view of all) {
      await show(page, view)
      const stops = await walk(page)
      if (stops.length === 0) lost.push(`${view}: Tab finds nothing in it, or does not leave it`)
      for (const stop of stops) {
        if (!stop.isDrawn) lost.push(`${view}: no ring on ${stop.name}`)
        if (!stop.isInSight) lost.push(`${view}: out of sight: ${stop.name}`)
        if (!stop.isNamed) lost.push(`${view}: without a name: ${stop.name}`)
      }
    }
    expect(lost).toEqual([])
    await page.context().close()
  })

  it('menus and dialogs give the focus back to what opened them', async () => {
    const { page } = await openPage(browser, sluice.served.freshUrl())
    for (const opener of ['cluster', 'alerts']) {
      await by(page, opener).focus()
      await page.keyboard.press('Enter')
      await expect.poll(() => by(page, opener).getAttribute('aria-expanded')).toBe('true')
      await page.keyboard.press('Escape')
      await expect
        .poll(() => page.evaluate(() => (document.activeElement as HTMLElement).dataset['testid']))
        .toBe(opener)
    }
    await page.keyboard.press('Control+k')
    await by(page, 'palette').waitFor()
    await page.keyboard.press('Escape')
    await expect
      .poll(() => page.evaluate(() => (document.activeElement as HTMLElement).dataset['testid']))
      .toBe('alerts')
    await page.context().close()
  })
})
