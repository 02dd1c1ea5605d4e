/**
 * Regenerates the pictures of the handbook: `node bench/pictures.ts [--out FOLDER] [--web FOLDER] [--only overview,rules]
 * [--theme light]`.
 * They show the demo at fixed times of its clock, so the same program makes the same pictures, except for durations of cycles
 * and readings measured on this machine. The bundle's page in a browser (readme-page.png) is made by its own suite,
 * `tests/e2e/readme-page.test.ts`.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { NS_PER_S } from '#core/base/units.ts'
import { openHost, type Host } from '#electron/host/host.ts'
import { serveConsole } from '#electron/server/serve.ts'
import { launch, noBrowser } from '../tests/e2e/browser.ts'

const { values: flags } = parseArgs({
  options: {
    out: { type: 'string', default: join(import.meta.dirname, '../docs') },
    web: { type: 'string', default: join(import.meta.dirname, '../out/renderer') },
    theme: { type: 'string', default: 'dark' },
    only: { type: 'string' },
  },
})

/** 2026-01-15 09:00 UTC, a Thursday. */
const EPOCH_S = Date.UTC(2026, 0, 15, 9) / 1000
const by = (page: Page, id: string) => page.getByTestId(id).first()
const LONG = { timeout: 240_000 }

interface Stage {
  readonly page: Page
  readonly host: Host
  /** Advances the emulator, with sampling. */
  readonly runTo: (seconds: number) => Promise<void>
}
const at = async ({ page }: Stage, hash: string): Promise<void> => {
  await page.evaluate((h) => {
    location.hash = h
  }, `#/${hash}`)
  // Charts are drawn once their data and size are available.
  await page.waitForTimeout(1500)
}
async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.keyboard.type(words)
  await page.keyboard.press('Enter')
  await page.waitForTimeout(300)
}
async function dryRun(stage: Stage): Promise<void> {
  const { page, host, runTo } = stage
  await at(stage, 'overview')
  await command(page, 'controller: none')
  // After the controller's rules are removed, the hog takes all it can.
  await runTo(host.source.nowNs() / NS_PER_S + 20)
  await page.keyboard.press('d')
  await by(page, 'verdict').waitFor(LONG)
  await page.mouse.move(0, 0)
  await page.waitForTimeout(1000)
}
async function incident(stage: Stage): Promise<void> {
  const { page } = stage
  await at(stage, 'overview')
  await page.keyboard.press('n')
  await by(page, 'note-title').waitFor()
  await page.keyboard.type('Hog on four targets')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Told the owner of 4690. A cap was tried on a copy first.')
  await page.keyboard.press('Control+Enter')
  await by(page, 'filed-open').click()
  await by(page, 'cell').waitFor(LONG)
  await page.waitForTimeout(1500)
}
async function draft(stage: Stage): Promise<void> {
  const { page } = stage
  await at(stage, 'rules')
  await by(page, 'new-rule').click()
  await by(page, 'rule-text').fill('reg start cap_4690 jobid={4690.*} rate=100')
  await page.waitForTimeout(1500)
}

/** Pictures in the order taken: each step builds on the state of the window before. */
const pictures: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  overview: (stage) => at(stage, 'overview'),
  jobs: (stage) => at(stage, 'jobs'),
  locks: (stage) => at(stage, 'locks'),
  rules: draft,
  settings: (stage) => at(stage, 'settings'),
  help: (stage) => at(stage, 'help/rules'),
  history: (stage) => at(stage, 'history'),
  sandbox: dryRun,
  incidents: incident,
}

if (noBrowser !== undefined && flags.web === join(import.meta.dirname, '../out/renderer')) throw new Error(noBrowser)
mkdirSync(flags.out, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'sluice-pictures-'))
const browser = await launch()
try {
  const opened = await openHost({
    shell: 'browser',
    historyFile: join(folder, 'history.sqlite'),
    paced: false,
    epochSeconds: EPOCH_S,
  })
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  const host = opened.value
  // Advanced manually: otherwise the age of the newest sample would grow.
  host.source.setSpeed(0)
  const served = await serveConsole({ router: host.router, webRoot: flags.web, port: 0, host: '127.0.0.1' })
  if (!served.ok) throw new Error(served.error.what)
  const runTo = (seconds: number): Promise<void> =>
    host.source.runTo(Math.round(seconds * NS_PER_S), (atNs) => host.monitor.tick(atNs))
  await runTo(150)
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    timezoneId: 'UTC',
    locale: 'en-GB',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await page.goto(served.value.freshUrl())
  await page.goto(`${new URL(served.value.freshUrl()).origin}/?theme=${flags.theme}`)
  await by(page, 'sample').waitFor()
  const firstStart = by(page, 'first-away')
  if ((await firstStart.count()) > 0) await firstStart.click()
  const only = flags.only?.split(',')
  for (const [name, show] of Object.entries(pictures)) {
    if (only && !only.includes(name)) continue
    await show({ page, host, runTo })
    const file = join(flags.out, `${name}.png`)
    await page.screenshot({ path: file, animations: 'disabled' })
    process.stdout.write(`${file}\n`)
  }
  await context.close()
  await served.value.close()
  await host.close()
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}
