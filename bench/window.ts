/**
 * Window in a real browser. With 500 jobs at 10 frames a second: the longest task of its main thread. With 12 servers at a
 * sample a second, idle: processor time of the page's process, of the whole browser and of the host, as shares of one core. A
 * step of the time cursor, on the built-in scenario and in a recording of 10,000 jobs.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { History } from '#electron/history/history.ts'
import { launch, manyJobs, openConsole } from '../tests/e2e/browser.ts'
import { measureSteps } from './cursor-step.ts'
import { inBrowser } from './in-browser.ts'
import { told, type Measured, type Suite } from './measure.ts'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly dur?: number
  /** Processor time of its thread: duration of a task without waiting on a shared machine. */
  readonly tdur?: number
  readonly pid: number
  readonly tid: number
  readonly args?: { readonly name?: string }
}

interface Tasks {
  /** Processor time of the longest task, ms. */
  readonly longestCpu: number
  /** Tasks of more than 50 ms wall time. */
  readonly over50: number
}

/** Tasks of the page's main thread while `during` runs. */
async function traceTasks(session: CDPSession, during: () => Promise<void>): Promise<Tasks> {
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'] },
  })
  await during()
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()))
  await session.send('Tracing.end')
  await complete
  // A browser keeps an idle process for the next page, whose main thread has the same name.
  const mains = events.filter((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain')
  const tasks = events.filter(
    (e) => e.ph === 'X' && /RunTask$/.test(e.name) && mains.some((m) => e.tid === m.tid && e.pid === m.pid),
  )
  return {
    longestCpu: tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1000), 0),
    over50: tasks.filter(({ dur = 0 }) => dur > 50_000).length,
  }
}

interface Seconds {
  /** Process of the pages. */
  readonly page: number
  readonly browser: number
}

/** Processor seconds used by all child processes, that is, the browser. */
function cpuOfChildren(): Seconds {
  const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
  const children = new Map<number, number[]>()
  for (const row of rows.trim().split('\n')) {
    const [child = 0, parent = 0] = row.trim().split(/\s+/).map(Number)
    children.set(parent, [...(children.get(parent) ?? []), child])
  }
  const sum = { page: 0, browser: 0 }
  const add = (p: number): void => {
    try {
      const fields = readFileSync(`/proc/${p}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      const seconds = (Number(fields[11]) + Number(fields[12])) / ticks
      sum.browser += seconds
      if (readFileSync(`/proc/${p}/cmdline`, 'utf8').includes('--type=renderer')) sum.page += seconds
    } catch {
      // it has ended
    }
    for (const child of children.get(p) ?? []) add(child)
  }
  for (const child of children.get(process.pid) ?? []) add(child)
  return sum
}

/** Limiting factor of each, from a profile of the page (Tracing, processor time of its threads). */
const IDLE_LIMIT =
  'style, layout and paint of what changed in each frame take most of it, in software here; scripts the smaller part'
const TASK_LIMIT = 'a task is one frame of the view: its rows are patched, laid out and painted at once'
const BROWSER_LIMIT = 'pictures are put together by the processor where there is no graphics card'
const STEP_LIMIT =
  'the frame of the step is here before the key; what is left is patching, layout and paint of the whole view in software'

async function show(browser: Browser, url: string, query: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(url)
  if (query !== '') await page.goto(`${new URL(url).origin}/${query}`)
  await page.getByTestId('sample').first().waitFor()
  return page
}

const RUNS = 5
const SPAN_S = 10
/** Number of cursor steps, and of jobs in the recording. */
const STEPS = 20
const STEP_JOBS = 10_000
const VIEWS = [
  ['1', 'overview'],
  ['2', 'jobs'],
  ['3', 'rules'],
] as const

/** 500 jobs at ten samples a second: the longest tasks of the page's main thread. */
async function longTasks(browser: Browser): Promise<Measured[]> {
  const out: Measured[] = []
  for (const [key, view] of VIEWS) {
    const sluice = await openConsole(manyJobs(500))
    const page = await show(browser, sluice.served.url, '?hz=10')
    await page.keyboard.press(key)
    await page.waitForTimeout(8000)
    const runs: Tasks[] = []
    const first = sluice.host.monitor.sample
    const began = performance.now()
    for (let i = 0; i < RUNS; i++) {
      const session = await page.context().newCDPSession(page)
      runs.push(await traceTasks(session, () => page.waitForTimeout((SPAN_S * 1000) / RUNS)))
      await session.detach()
    }
    const hz = ((sluice.host.monitor.sample - first) / (performance.now() - began)) * 1000
    const over = runs.reduce((sum, { over50 }) => sum + over50, 0)
    out.push(
      told(
        {
          id: `window.long-task.${view}`,
          unit: 'ms',
          must: { most: 50 },
          note: `500 jobs, ${hz.toFixed(1)} samples/s reached: processor time of the longest task in ${SPAN_S / RUNS} s; ${over} tasks over 50 ms by wall time in all`,
          limit: TASK_LIMIT,
        },
        runs.map(({ longestCpu }) => longestCpu),
      ),
    )
    await page.close()
    await sluice.close()
  }
  return out
}

/** Medium-sized site: servers, jobs. */
const SERVERS = 12
const IDLE_JOBS = 300
const IDLE_VIEWS = [...VIEWS, ['5', 'metadata']] as const

/** `manyJobs` on 12 servers, two targets each, sampled once a second as a live cluster is. */
function manyServers(): string {
  const oss = Array.from({ length: SERVERS }, (_, i) => {
    const osts = [2 * i, 2 * i + 1].map(
      (k) => `      - { name: many-OST${String(k).padStart(4, '0')}, disk: { bandwidth_mb_s: 4000, channels: 8 } }`,
    )
    return `  - name: oss${String(i + 1).padStart(2, '0')}\n    threads: 64\n    osts:\n${osts.join('\n')}`
  })
  return manyJobs(IDLE_JOBS)
    .replaceAll('rate: 3 }', 'rate: 1 }')
    .replace('control: {', 'control: { period_ms: 1000,')
    .replace(/^oss:\n[^]*?^control:/m, `oss:\n${oss.join('\n')}\ncontrol:`)
}

/** Shares of one core while the console is idle; compared with those of an empty page in the same browser. */
async function idle(browser: Browser): Promise<Measured[]> {
  const out: Measured[] = []
  const blank = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await blank.waitForTimeout(2000)
  const empty = await shares(blank)
  await blank.close()
  const sluice = await openConsole(manyServers())
  const page = await show(browser, sluice.served.url, '?hz=1')
  await page.waitForTimeout(8000)
  const setting = `${SERVERS} servers, ${IDLE_JOBS} jobs, a sample and a frame a second, no user input`
  const facts = { unit: '% of a core', beside: 'an empty page' } as const
  for (const [key, view] of IDLE_VIEWS) {
    await page.keyboard.press(key)
    await page.waitForTimeout(4000)
    const of = await shares(page)
    const id = `window.idle.${view}`
    out.push(
      told(
        { ...facts, id, note: `the page's process; ${setting}`, must: { most: 10 }, limit: IDLE_LIMIT },
        of.page,
        empty.page,
      ),
      told(
        { ...facts, id: `${id}.browser`, note: `all processes of the browser; ${setting}`, limit: BROWSER_LIMIT },
        of.browser,
        empty.browser,
      ),
      told(
        {
          ...facts,
          id: `${id}.host`,
          note: `the host, the servers that it emulates and what drives the browser; ${setting}`,
        },
        of.host,
        empty.host,
      ),
    )
  }
  await page.close()
  await sluice.close()
  return out
}

/** Processor time of the page's process, of the browser and of this process, percent of a core, per interval. */
async function shares(page: Page): Promise<{ page: number[]; browser: number[]; host: number[] }> {
  const of: Awaited<ReturnType<typeof shares>> = { page: [], browser: [], host: [] }
  for (let i = 0; i < RUNS; i++) {
    // The browser's processes first: reading them costs this process time.
    const before = { browser: cpuOfChildren(), host: process.cpuUsage(), at: performance.now() }
    await page.waitForTimeout((SPAN_S * 1000) / RUNS)
    const seconds = (performance.now() - before.at) / 1000
    const used = process.cpuUsage(before.host)
    const after = cpuOfChildren()
    of.host.push((used.user + used.system) / 1e4 / seconds)
    of.page.push(((after.page - before.browser.page) * 100) / seconds)
    of.browser.push(((after.browser - before.browser.browser) * 100) / seconds)
  }
  return of
}

/**
 * Writes 10,000 jobs, all active, for five minutes in the past: an emulator of this size would need the core that is measured.
 */
function writeStretch(file: string): number {
  const seconds = 300
  const endMs = Math.floor(Date.now() / 1000) * 1000 - 600_000
  const t0 = endMs - seconds * 1000
  const opened = History.open(file, t0)
  if (!opened.ok) throw new Error(opened.error.what)
  const history = opened.value
  history.beginSource('EMULATED', 'demo', '', t0)
  const samples = Array.from({ length: 7 }, (_, s) =>
    Array.from({ length: STEP_JOBS }, (_, i) => {
      const rpcs = 1 + ((i * 37 + s * (i % 13)) % 500)
      const record = (i % 2 === 0 ? 1 : -1) * (i >> 1)
      const jobId = `${40_000 + i}.app.u${i % 97}`
      return { jobId, rpcs, readBps: rpcs * 4096, writeBps: rpcs * 65_536, throttled: 0, record, mdops: i % 7 }
    }),
  )
  const targets = Array.from({ length: SERVERS * 4 }, (_, i) => ({
    target: `demo-OST${String(i).padStart(4, '0')}`,
    node: `oss${String(1 + (i >> 2)).padStart(2, '0')}`,
    rpcs: 100 + i,
    serviceMs: 5,
    queued: i,
  }))
  const sums = { rpcs: 2_500_000, readBps: 1e10, writeBps: 1e11, serviceMs: 5, queued: 100, rules: 0 }
  for (let s = 0; s <= seconds; s++)
    history.record(
      t0 + s * 1000,
      samples[s % samples.length] ?? [],
      targets,
      (jobId) => ({ jobId, user: 'u', account: 'aero', nodes: 4 }),
      sums,
    )
  history.flush()
  history.close()
  return endMs
}

const demoSteps = async (browser: Browser): Promise<Measured[]> => stepsOf(browser, 'demo', await openConsole(), null)

async function recordedSteps(browser: Browser): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-steps-'))
  try {
    const historyFile = join(folder, 'history.sqlite')
    const endMs = writeStretch(historyFile)
    return await stepsOf(browser, `${STEP_JOBS}-jobs`, await openConsole(undefined, { historyFile }), endMs)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Moves the page's cursor back into a recorded stretch, by keys: each page has a cursor of its own. */
async function cursorTo(page: Page, atMs: number): Promise<void> {
  const latest = new Date(atMs).toTimeString().slice(0, 8)
  for (let minute = 0; minute < 60; minute++) {
    if (((await page.getByTestId('clock').textContent()) ?? '') <= latest) return
    await page.keyboard.press('Alt+ArrowLeft')
    await page.waitForTimeout(700)
  }
  throw new Error(`the page did not reach ${latest}`)
}

/** @param recordedMs  time in a recording; null: the live data in memory. */
async function stepsOf(
  browser: Browser,
  name: string,
  sluice: Awaited<ReturnType<typeof openConsole>>,
  recordedMs: number | null,
): Promise<Measured[]> {
  const out: Measured[] = []
  const page = await show(browser, sluice.served.url, '')
  if (recordedMs === null) await page.waitForTimeout(STEPS * 500)
  else await cursorTo(page, recordedMs)
  for (const [key, view] of VIEWS) {
    await page.keyboard.press(key)
    await page.waitForTimeout(1500)
    const { numbers, charts, floor, cpuMs, scriptMs } = await measureSteps(page, STEPS, recordedMs !== null)
    const beside = 'from a key to an empty frame'
    const id = `window.cursor-step.${name}.${view}`
    const note = `from the key to the picture of the sample, with a rest after each step; ${cpuMs.toFixed(1)} ms of processor time a step`
    const limit = STEP_LIMIT
    out.push(
      told({ id, unit: 'ms', beside, must: { most: 33 }, note, limit }, numbers, floor),
      told(
        {
          id: `${id}.script`,
          unit: 'ms',
          must: { most: 16 },
          note: 'processor time of scripts, mean of the steps',
          limit,
        },
        [scriptMs],
      ),
      told(
        { id: `${id}.charts`, unit: 'ms', beside, note: 'from the key to the charts of the sample', limit },
        charts,
        floor,
      ),
    )
    if (recordedMs === null) await page.keyboard.press('l')
  }
  await page.close()
  await sluice.close()
  return out
}

const suite = (id: string, run: (browser: Browser) => Promise<Measured[]>): Suite => ({
  id,
  run: () =>
    inBrowser(async () => {
      const browser = await launch()
      try {
        return await run(browser)
      } finally {
        await browser.close()
      }
    }),
})

export const suites: readonly Suite[] = [
  suite('window.long-task', longTasks),
  suite('window.idle', idle),
  suite('window.cursor-step.demo', demoSteps),
  suite(`window.cursor-step.${STEP_JOBS}-jobs`, recordedSteps),
]
