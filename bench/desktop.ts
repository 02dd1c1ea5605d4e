/**
 * Waiting times and memory of the console, in a real browser on the built window.
 * Start: from the start of a process to the first sample on screen; compared with a process that serves an empty page to the
 * same browser. View switch: from the key to the first painted frame of the view, and until all parts of it exist. Memory: of
 * host and page with a day of 12 servers in the history.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { History } from '#electron/history/history.ts'
import hostProcess from '../scripts/host-process.json' with { type: 'json' }
import { launch } from '../tests/e2e/browser.ts'
import { inBrowser } from './in-browser.ts'
import { median } from '#core/base/statistics.ts'
import { told, type Measured, type Suite } from './measure.ts'

const root = join(import.meta.dirname, '..')
const RUNS = 7
/** Program that `npm start` runs without a desktop. */
const SERVER = [...hostProcess.flags, 'out/main/server.js']
const DAY_MS = 86_400_000

/** Resolves with the first address that a process prints. */
function served(program: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [...program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...hostProcess.env, ...process.env },
  })
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (part: Buffer) => {
      text += part.toString('utf8')
      const url = /http:\/\/127\.0\.0\.1:\S+/.exec(text)?.[0]
      if (url !== undefined) resolve({ child, url })
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it served`)))
  })
}
const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })

const EMPTY =
  "require('node:http').createServer((q,s)=>{s.setHeader('content-type','text/html');s.end('<main data-testid=sample>0</main>')})" +
  ".listen(0,'127.0.0.1',function(){console.log('http://127.0.0.1:'+this.address().port+'/')})"

async function startOnce(browser: Browser, program: readonly string[]): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const began = performance.now()
  const { child, url } = await served(program)
  await page.goto(url, { waitUntil: 'commit' })
  await page.waitForFunction(() => /\d/.test(document.querySelector('[data-testid="sample"]')?.textContent ?? ''))
  const ms = performance.now() - began
  await context.close()
  await ended(child)
  return ms
}

async function starts(browser: Browser, folder: string): Promise<Measured[]> {
  const ours: number[] = []
  const empty: number[] = []
  for (let i = 0; i <= RUNS; i++) {
    const file = join(folder, `start-${i}.sqlite`)
    const ms = await startOnce(browser, [...SERVER, '--port', '0', '--history', file])
    const plain = await startOnce(browser, ['-e', EMPTY])
    if (i === 0) continue
    ours.push(ms)
    empty.push(plain)
  }
  return [
    told(
      {
        id: 'desktop.start',
        unit: 'ms',
        must: { most: 2000 },
        note: 'from the start of the process to the first sample on screen',
        beside: 'a process that serves an empty page to the same browser',
        limit: 'modules of the host and the window are read and compiled, then the first picture is laid out and drawn',
      },
      ours,
      empty,
    ),
  ]
}

/**
 * Runs in the page: presses a key and waits until its view is painted, then until the view has not grown for a quarter of a
 * second.
 */
async function switchInPage({ key, view }: { key: string; view: string }): Promise<{
  ms: number
  whole: number
  floor: number
}> {
  const afterPaint = (): Promise<void> =>
    new Promise((resolve) => {
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => resolve()
        port2.postMessage(0)
      })
    })
  await afterPaint()
  const empty = performance.now()
  await afterPaint()
  const floor = performance.now() - empty
  const old = document.querySelector('main')
  const began = performance.now()
  dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  const isThere = (): boolean =>
    location.hash.startsWith(`#/${view}`) &&
    document.querySelector('main') !== null &&
    document.querySelector('main') !== old
  while (!isThere()) {
    await new Promise((resolve) => setTimeout(resolve))
    if (performance.now() - began > 5000) throw new Error(`${view} did not come`)
  }
  await afterPaint()
  const ms = performance.now() - began
  const size = (): number => document.querySelectorAll('main *').length
  let whole = ms
  let known = size()
  while (performance.now() - began < whole + 250) {
    await afterPaint()
    const now = size()
    // A few elements more or less come from a new sample; a part of a view is larger.
    if (now > known + 10) whole = performance.now() - began
    known = now
  }
  return { ms, whole, floor }
}

const VIEWS = [
  ['1', 'overview'],
  ['2', 'jobs'],
  ['3', 'rules'],
  ['4', 'locks'],
  ['5', 'metadata'],
  ['6', 'tokens'],
  ['7', 'sandbox'],
  ['8', 'history'],
  ['9', 'incidents'],
  ['0', 'connections'],
  [',', 'settings'],
] as const

async function switches(page: Page): Promise<Measured[]> {
  const took = new Map<string, number[]>(VIEWS.map(([, view]) => [view, []]))
  const wholes = new Map<string, number[]>(VIEWS.map(([, view]) => [view, []]))
  const floors: number[] = []
  for (let round = 0; round <= RUNS; round++) {
    // Starts from a view outside the list.
    if (round === 0) await page.evaluate(() => (location.hash = '#/papers'))
    for (const [key, view] of VIEWS) {
      await page.waitForTimeout(400)
      const { ms, whole, floor } = await page.evaluate(switchInPage, { key, view })
      if (round === 0) continue
      took.get(view)?.push(ms)
      wholes.get(view)?.push(whole)
      floors.push(floor)
    }
  }
  return [...took].map(([view, values]) =>
    told(
      {
        id: `desktop.switch.${view}`,
        unit: 'ms',
        must: { most: 50 },
        note: `from the key to the first picture of the view; all parts of it after ${median(wholes.get(view) ?? []).toFixed(0)} ms`,
        beside: 'the same browser from a key to an empty frame',
        limit: 'the old view leaves, the new one is laid out and drawn, in software here',
      },
      values,
      floors,
    ),
  )
}

/** Proportional and resident memory of a process, MB; 0 if unreadable. */
function memoryOf(pid: number): { pss: number; rss: number } {
  const kb = (text: string, name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return { pss: kb(text, 'Pss') / 1000, rss: kb(text, 'Rss') / 1000 }
  } catch {
    return { pss: 0, rss: 0 }
  }
}

const parentOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] ?? 0)

/** True if a process is this one or a descendant of it. */
function isOurs(pid: number): boolean {
  for (let p = pid; p > 1; p = parentOf(p)) if (p === process.pid) return true
  return false
}

/** Memory of the browser's processes by type; other browsers on the machine are not counted. */
function browserMemory(): { page: number; all: number } {
  const sum = { page: 0, all: 0 }
  for (const name of readdirSync('/proc').filter((n) => /^\d+$/.test(n))) {
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      if (!command.includes('chrom') || (!command.includes('--headless') && !command.includes('--type='))) continue
      if (!isOurs(Number(name))) continue
      const { pss } = memoryOf(Number(name))
      sum.all += pss
      if (command.includes('--type=renderer')) sum.page += pss
    } catch {
      continue // it has ended
    }
  }
  return sum
}

/** Writes a day of 12 servers (48 OSTs, 400 active jobs), sampled every ten seconds. */
function writeDay(file: string): void {
  const endMs = Math.floor(Date.now() / 1000) * 1000
  const t0 = endMs - DAY_MS
  const opened = History.open(file, t0)
  if (!opened.ok) throw new Error(opened.error.what)
  const history = opened.value
  history.beginSource('EMULATED', 'demo', '', t0)
  const jobs = Array.from({ length: 10 }, (_, k) =>
    Array.from({ length: 400 }, (_, i) => ({
      jobId: `${4000 + i}.solve.u${i % 97}`,
      rpcs: 1 + ((i * 31 + k * 37) % 900),
      readBps: i * 1e5,
      writeBps: k * 1e6,
      throttled: 0,
      record: i - 200,
      mdops: i % 7,
    })),
  )
  const targets = Array.from({ length: 48 }, (_, i) => ({
    target: `t-OST${i}`,
    node: `oss${i >> 2}`,
    rpcs: 900 + i,
    serviceMs: 2 + i / 48,
    queued: i,
  }))
  for (let at = 0; at <= DAY_MS; at += 10_000) {
    history.record(
      t0 + at,
      jobs[(at / 10_000) % 10] ?? [],
      targets,
      (jobId) => ({ jobId, user: 'u', account: 'aero', nodes: 4 }),
      {
        rpcs: 44_000,
        readBps: 1e9,
        writeBps: 2e9,
        serviceMs: 2.5,
        queued: 90,
        rules: 12,
      },
    )
  }
  history.settle()
  history.close()
}

async function memory(browser: Browser, folder: string): Promise<Measured[]> {
  const file = join(folder, 'day.sqlite')
  writeDay(file)
  const { child, url } = await served([...SERVER, '--port', '0', '--history', file])
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(url)
  await page.getByTestId('sample').first().waitFor()
  for (const [key] of VIEWS) {
    await page.keyboard.press(key)
    await page.waitForTimeout(1500)
  }
  await page.keyboard.press('8')
  await page.waitForTimeout(20_000)
  const host: number[] = []
  const all: number[] = []
  let pages = 0
  let browsers = 0
  for (let i = 0; i < 5; i++) {
    await page.waitForTimeout(2000)
    const { pss } = memoryOf(child.pid ?? 0)
    const of = browserMemory()
    ;[pages, browsers] = [of.page, of.all]
    host.push(pss)
    all.push(pss + pages)
  }
  await page.close()
  await ended(child)
  const note = `a day of 12 servers (48 OSTs, 400 jobs at work) in the history, every view opened once`
  return [
    told(
      {
        id: 'desktop.memory',
        unit: 'MB',
        must: { most: 600 },
        note: `${note}; host and page (${pages.toFixed(0)} MB); with the browser's own processes ${(median(host) + browsers).toFixed(0)} MB; the bound is our own target`,
        limit: 'both hold an engine and the whole program; the host keeps the samples of the recent past as well',
      },
      all,
    ),
    told({ id: 'desktop.memory.host', unit: 'MB', note: `${note}; the host alone` }, host),
  ]
}

async function switched(browser: Browser, folder: string): Promise<Measured[]> {
  const { child, url } = await served([...SERVER, '--port', '0', '--history', join(folder, 'switch.sqlite')])
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(url)
  await page.getByTestId('sample').first().waitFor()
  await page.waitForTimeout(5000)
  const of = await switches(page)
  await page.close()
  await ended(child)
  return of
}

/** Each suite has a separate browser and folder. */
const suite = (id: string, run: (browser: Browser, folder: string) => Promise<Measured[]>): Suite => ({
  id,
  run: () =>
    inBrowser(async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-desktop-'))
      const browser = await launch()
      try {
        return await run(browser, folder)
      } finally {
        await browser.close()
        rmSync(folder, { recursive: true, force: true })
      }
    }),
})

export const suites: readonly Suite[] = [
  suite('desktop.start', starts),
  suite('desktop.switch', switched),
  suite('desktop.memory', memory),
]
