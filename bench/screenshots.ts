/**
 * Takes screenshots of every view and lists layout faults:
 * `node bench/screenshots.ts [--out FOLDER] [--view V] [--size 1024x700] [--rows 0|10|10000]
 * [--theme dark|light] [--look L] [--quick]`.
 * 0 rows is a scenario whose only job has not started, 10 is the demo, 10,000 a recording. A look is a display preference
 * besides the theme: `plain` (none), `contrast`, `text` (125 %), `palettes` (the other ones), `forced` (system colors),
 * `print`. Each option takes comma-separated values; `--quick` skips axe.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { openHost, type Host } from '#electron/host/host.ts'
import { serveConsole } from '#electron/server/serve.ts'
import { builtWindow, launch, noBrowser } from '../tests/e2e/browser.ts'
import { axeFaults, lookForFaults } from '../tests/e2e/look-faults.ts'
import { RECORDING, recordMany } from './record-jobs.ts'

const { values: flags } = parseArgs({
  options: {
    out: { type: 'string', default: join(import.meta.dirname, '../out/looks') },
    quick: { type: 'boolean', default: false },
    view: { type: 'string' },
    size: { type: 'string' },
    rows: { type: 'string' },
    theme: { type: 'string' },
    look: { type: 'string', default: 'plain' },
  },
})
const chosen = (all: readonly string[], flag: string | undefined): readonly string[] =>
  flag === undefined ? all : all.filter((name) => flag.split(',').includes(name))

const NO_JOBS = `title: No jobs
cluster: empty
clients: { count: 2 }
oss:
  - name: oss01
    osts:
      - { name: empty-OST0000, disk: { bandwidth_mb_s: 500 } }
control: { max_rate: 500 }
jobs:
  - { id: 1.later.u1, clients: [1], in_slurm: false, op: write, size_kib: 256, pattern: { kind: poisson, rate: 0.000001 } }
`
/** Samples of 0.1 s before the first screenshot, so that charts have lines. */
const WARM = 700
const MANY = 10_000
/** URL query and browser media of each look. */
const looks: Readonly<
  Record<string, { readonly query?: string; readonly media?: Parameters<Page['emulateMedia']>[0] }>
> = {
  plain: {},
  contrast: { query: '&contrast=high' },
  text: { query: '&textSize=125' },
  palettes: { query: '&series=tol-muted&heat=viridis' },
  forced: { media: { forcedColors: 'active' } },
  print: { media: { media: 'print' } },
}
const FIRST_RUN = 'sluice.first-run'

const press = async (page: Page, ...keys: string[]): Promise<void> => {
  for (const key of keys) {
    await page.keyboard.press(key)
    await page.waitForTimeout(500)
  }
}
const click = (page: Page, id: string): Promise<void> => page.getByTestId(id).first().click({ timeout: 4000 })
const at = (hash: string, more?: (page: Page) => Promise<void>) => async (page: Page) => {
  await page.evaluate((h) => {
    location.hash = h
  }, `#/${hash}`)
  await page.waitForTimeout(900)
  await more?.(page)
}
const onRule = async (page: Page): Promise<void> => {
  await press(page, 'n')
  await page.getByTestId('editor').waitFor({ timeout: 4000 })
}

/** Steps to reach each state. States that do not exist with the given rows are reported and skipped. */
const states: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  overview: at('overview'),
  jobs: at('jobs'),
  inspector: at('jobs', (page) => click(page, 'job-row')),
  rules: at('rules'),
  'rule-editor': at('rules', onRule),
  locks: at('locks'),
  'locks-ldlm': at('locks', (page) => click(page, 'plane-ldlm')),
  'locks-messages': at('locks', (page) => press(page, 'm')),
  metadata: at('metadata'),
  'policy-editor': at('metadata', (page) => press(page, 'e')),
  tokens: at('tokens'),
  'tokens-edit': at('tokens', (page) => click(page, 'client-edit')),
  sandbox: at('sandbox'),
  'sandbox-scenario': at('sandbox', async (page) => {
    await click(page, 'gallery-entry')
    await page.waitForTimeout(1500)
  }),
  history: at('history'),
  incidents: at('incidents'),
  connections: at('connections'),
  'connections-add': at('connections', (page) => press(page, 'n')),
  papers: at('papers'),
  settings: at('settings'),
  'settings-keys': at('settings', (page) => page.getByTestId('keys-section').evaluate((e) => e.scrollIntoView())),
  help: at('help'),
  'help-page': at('help/rules'),
  'help-numbers': at('help/numbers'),
  tour: at('help', (page) => click(page, 'tour-start')),
  palette: at('overview', (page) => press(page, 'Control+k')),
  'palette-search': at('overview', async (page) => {
    await press(page, 'Control+k')
    await page.keyboard.type('46')
  }),
  keys: at('overview', (page) => press(page, '?')),
  propose: at('jobs', async (page) => {
    await click(page, 'job-row')
    await press(page, 'p')
  }),
  values: at('overview', (page) => press(page, 'v')),
  full: at('overview', (page) => press(page, 'f')),
  'which-key': at('jobs', (page) => press(page, 's')),
  chosen: at('jobs', async (page) => {
    await click(page, 'job-row')
    await press(page, '1')
  }),
  note: at('overview', (page) => press(page, 'Shift+n')),
  alerts: at('overview', (page) => click(page, 'alerts')),
  'first-run': at('overview', async (page) => {
    await page.evaluate((key) => (sessionStorage.setItem(key, 'shown'), localStorage.removeItem(key)), FIRST_RUN)
    await page.reload()
    await page.getByTestId('first-run').waitFor({ timeout: 8000 })
    await page.evaluate((key) => sessionStorage.removeItem(key), FIRST_RUN)
  }),
}

async function hostOf(rows: string, folder: string): Promise<Host> {
  const scenario = join(folder, 'scenario.yaml')
  if (rows === '0') writeFileSync(scenario, NO_JOBS)
  if (rows === String(MANY)) await recordMany(folder, MANY, Date.UTC(2026, 0, 2, 9))
  const host = await openHost({
    shell: 'browser',
    historyFile: join(folder, 'history.sqlite'),
    scenarioFile: rows === '0' ? scenario : undefined,
  })
  if (!host.ok) throw new Error(`${host.error.what}: ${host.error.why}`)
  host.value.source.setSpeed(16)
  const until = Date.now() + 60_000
  while (host.value.monitor.sample < WARM && Date.now() < until) await new Promise((r) => setTimeout(r, 200))
  host.value.source.setSpeed(1)
  return host.value
}

if (noBrowser !== undefined) throw new Error(noBrowser)
mkdirSync(flags.out, { recursive: true })
const browser = await launch()
let faults = 0
const tell = (line: string): void => void process.stdout.write(`${line}\n`)
for (const rows of chosen(['0', '10', String(MANY)], flags.rows)) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-looks-'))
  const host = await hostOf(rows, folder)
  const served = await serveConsole({ router: host.router, webRoot: builtWindow, port: 0, host: '127.0.0.1' })
  if (!served.ok) throw new Error(served.error.what)
  const context = await browser.newContext()
  // The first-run card is captured as a separate view below.
  await context.addInitScript((key) => {
    if (sessionStorage.getItem(key) === null) localStorage.setItem(key, 'past')
  }, FIRST_RUN)
  const page = await context.newPage()
  page.on('pageerror', (e) => tell(`page error: ${e.message}`))
  const themes = chosen(['dark', 'light'], flags.theme)
  for (const [theme, look] of themes.flatMap((t) =>
    chosen(Object.keys(looks), flags.look).map((l) => [t, l] as const),
  )) {
    for (const size of chosen(['1440x900', '1024x700', '2560x1440'], flags.size)) {
      const [width = 0, height = 0] = size.split('x').map(Number)
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ media: null, forcedColors: null, ...looks[look]?.media })
      await page.goto(served.value.freshUrl())
      await page.goto(`${new URL(served.value.url).origin}/?theme=${theme}${looks[look]?.query ?? ''}`)
      await page.getByTestId('sample').first().waitFor()
      if (rows === String(MANY) && host.onScreen.playback === undefined) {
        await at('history')(page)
        const recording = page.getByTestId('recording').filter({ hasText: RECORDING })
        await recording.getByRole('button', { name: RECORDING }).first().click()
        await page.waitForTimeout(2000)
      }
      for (const view of chosen(Object.keys(states), flags.view)) {
        const name = `${view}-${size}-${look === 'plain' ? '' : `${look}-`}${theme}-${rows}`
        await press(page, 'Escape', 'Escape')
        try {
          await states[view]?.(page)
        } catch (e) {
          tell(`${name}: not reached (${e instanceof Error ? e.message.split('\n')[0] : String(e)})`)
          continue
        }
        // Waits for a pending key sequence to time out.
        if (view !== 'which-key') await page.waitForTimeout(900)
        await page.screenshot({ path: join(flags.out, `${name}.png`) })
        const lines = [...(await lookForFaults(page)), ...(flags.quick ? [] : await axeFaults(page))]
        faults += lines.length
        for (const line of lines) tell(`${name}: ${line}`)
      }
    }
  }
  await context.close()
  await served.value.close()
  await host.close()
  rmSync(folder, { recursive: true, force: true })
}
await browser.close()
tell(`${faults} faults; pictures in ${flags.out}`)
process.exit(0)
