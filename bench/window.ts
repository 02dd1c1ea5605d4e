/**
 * The window in a real browser. With 500 jobs at 10 frames a second: the longest task of its
 * main thread. On the built-in scenario, nobody touching it: processor time of host and browser, as shares of one core.
 * A step of the time cursor, there and with 10,000 jobs in memory.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { launch, manyJobs, openConsole } from '../tests/e2e/browser.ts'
import { measureSteps } from './cursor-step.ts'
import { inBrowser } from './in-browser.ts'
import { told, type Measured, type Suite } from './measure.ts'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly dur?: number
  /** Processor time of the thread in it: what is left of a task when the machine is shared. */
  readonly tdur?: number
  readonly pid: number
  readonly tid: number
  readonly args?: { readonly name?: string }
}

interface Tasks {
  /** Wall and processor time of the longest task, ms; they are not always the same task. */
  readonly longest: number
  readonly longestCpu: number
  readonly p99: number
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
  const main = events.find((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain')
  const tasks = events.filter(
    (e) => e.ph === 'X' && e.tid === main?.tid && e.pid === main.pid && /RunTask$/.test(e.name),
  )
  const sorted = (of: (e: TraceEvent) => number): number[] => tasks.map((e) => of(e) / 1000).sort((a, b) => a - b)
  const wall = sorted((e) => e.dur ?? 0)
  return {
    longest: wall.at(-1) ?? 0,
    longestCpu: sorted((e) => e.tdur ?? 0).at(-1) ?? 0,
    p99: wall[Math.floor(wall.length * 0.99)] ?? 0,
    over50: wall.filter((t) => t > 50).length,
  }
}

/** Processor seconds used so far by everything this process started: the browser. */
function cpuOfChildren(): number {
  const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
  const children = new Map<number, number[]>()
  for (const row of rows.trim().split('\n')) {
    const [child = 0, parent = 0] = row.trim().split(/\s+/).map(Number)
    children.set(parent, [...(children.get(parent) ?? []), child])
  }
  const own = (p: number): number => {
    try {
      const fields = readFileSync(`/proc/${p}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) / ticks
    } catch {
      return 0 // it has ended
    }
  }
  const all = (p: number): number => own(p) + (children.get(p) ?? []).reduce((s, c) => s + all(c), 0)
  return all(process.pid) - own(process.pid)
}

async function show(browser: Browser, url: string, query: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(url)
  if (query !== '') await page.goto(`${new URL(url).origin}/${query}`)
  await page.getByTestId('sample').first().waitFor()
  return page
}

const RUNS = 5
const SPAN_S = 10
/** Steps of the time cursor, and the jobs in memory while it is stepped. */
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
          ...{ id: `window.long-task.${view}`, unit: 'ms', must: { most: 50 } },
          note: `500 jobs, ${hz.toFixed(1)} samples/s reached: processor time of the longest task; ${over} tasks over 50 ms by wall time`,
        },
        runs.map(({ longestCpu }) => longestCpu),
      ),
    )
    await page.close()
    await sluice.close()
  }
  return out
}

/** Shares of one core while nobody touches the console; beside them those of an empty page in the same browser. */
async function idle(browser: Browser): Promise<Measured[]> {
  const out: Measured[] = []
  const blank = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await blank.waitForTimeout(2000)
  const empty = await shares(blank)
  await blank.close()
  for (const [key, view] of VIEWS) {
    const sluice = await openConsole()
    const page = await show(browser, sluice.served.url, '')
    await page.keyboard.press(key)
    await page.waitForTimeout(8000)
    const of = await shares(page)
    const facts = { unit: '% of a core', note: 'the built-in scenario, nobody at it' } as const
    out.push(
      told(
        { ...facts, id: `window.idle.${view}`, beside: 'an empty page', must: { most: 10 } },
        of.window,
        empty.window,
      ),
      told({ ...facts, id: `window.idle.${view}.host` }, of.host),
    )
    await page.close()
    await sluice.close()
  }
  return out
}

/** Processor time of the browser and of this process, percent of a core, span by span. */
async function shares(page: Page): Promise<{ window: number[]; host: number[] }> {
  const [window, host]: [number[], number[]] = [[], []]
  for (let i = 0; i < RUNS; i++) {
    const before = { host: process.cpuUsage(), browser: cpuOfChildren(), at: performance.now() }
    await page.waitForTimeout((2 * SPAN_S * 1000) / RUNS)
    const seconds = (performance.now() - before.at) / 1000
    const used = process.cpuUsage(before.host)
    host.push((used.user + used.system) / 1e4 / seconds)
    window.push(((cpuOfChildren() - before.browser) * 100) / seconds)
  }
  return { window, host }
}

async function cursorSteps(browser: Browser): Promise<Measured[]> {
  const out: Measured[] = []
  const many = manyJobs(STEP_JOBS).replaceAll('rate: 3 }', 'rate: 0.05 }')
  for (const [name, scenario] of [
    ['demo', undefined],
    [`${STEP_JOBS}-jobs`, many],
  ] as const) {
    const sluice = await openConsole(scenario)
    const page = await show(browser, sluice.served.url, '')
    await page.waitForTimeout(STEPS * 1000)
    for (const [key, view] of VIEWS) {
      await page.keyboard.press(key)
      await page.waitForTimeout(1500)
      const { numbers, charts, floor, cpuMs } = await measureSteps(page, STEPS)
      const beside = 'from a key to an empty frame'
      const id = `window.cursor-step.${name}.${view}`
      out.push(
        told(
          {
            ...{ id, unit: 'ms', beside, must: { most: 16 } },
            note: `from the key to the picture of the sample; ${cpuMs.toFixed(1)} ms of processor time a step`,
          },
          numbers,
          floor,
        ),
        told(
          { id: `${id}.charts`, unit: 'ms', beside, note: 'from the key to the charts of the sample' },
          charts,
          floor,
        ),
      )
      await page.keyboard.press('l')
    }
    await page.close()
    await sluice.close()
  }
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
  suite('window.cursor-step', cursorSteps),
]
