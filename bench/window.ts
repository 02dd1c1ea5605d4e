/**
 * `npm run bench -- --window`: the window in a real browser. With 500 jobs at 10 frames a second: the longest task of its
 * main thread. On the built-in scenario, nobody touching it: processor time of host and browser, as shares of one core.
 * A step of the time cursor, there and with 10,000 jobs in memory.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { measureSteps, stepLine } from './cursor-step.ts'
import { launch, manyJobs, noBrowser, openConsole } from '../tests/e2e/browser.ts'

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

const SPAN_S = 10
/** Steps of the time cursor, and the jobs in memory while it is stepped. */
const STEPS = 20
const STEP_JOBS = 10_000

export async function windowBenches(): Promise<void> {
  if (noBrowser !== undefined) {
    process.stdout.write(`window benches not run: ${noBrowser}\n`)
    return
  }
  const browser = await launch()
  for (const [key, view] of [
    ['1', 'overview'],
    ['2', 'jobs'],
    ['3', 'rules'],
  ] as const) {
    const sluice = await openConsole(manyJobs(500))
    const page = await show(browser, sluice.served.url, '?hz=10')
    await page.keyboard.press(key)
    await page.waitForTimeout(8000)
    const first = sluice.host.monitor.sample
    let hz = 0
    const tasks = await traceTasks(await page.context().newCDPSession(page), async () => {
      const began = performance.now()
      await page.waitForTimeout(SPAN_S * 1000)
      hz = ((sluice.host.monitor.sample - first) / (performance.now() - began)) * 1000
    })
    process.stdout.write(
      `window.500-jobs.${view.padEnd(10)} longest task ${tasks.longest.toFixed(1)} ms (processor time ` +
        `${tasks.longestCpu.toFixed(1)} ms), p99 ${tasks.p99.toFixed(1)} ms, ${tasks.over50} over 50 ms, ` +
        `in ${SPAN_S} s at ${hz.toFixed(1)} samples/s\n`,
    )
    await page.close()
    await sluice.close()
  }
  for (const [key, view] of [
    ['1', 'overview'],
    ['2', 'jobs'],
    ['3', 'rules'],
  ] as const) {
    const sluice = await openConsole()
    const page = await show(browser, sluice.served.url, '')
    await page.keyboard.press(key)
    await page.waitForTimeout(8000)
    const before = { host: process.cpuUsage(), browser: cpuOfChildren() }
    await page.waitForTimeout(2 * SPAN_S * 1000)
    const host = process.cpuUsage(before.host)
    const hostShare = (host.user + host.system) / 1e6 / (2 * SPAN_S)
    const browserShare = (cpuOfChildren() - before.browser) / (2 * SPAN_S)
    process.stdout.write(
      `window.idle.${view.padEnd(14)} host ${(hostShare * 100).toFixed(1)} %, browser ${(browserShare * 100).toFixed(1)} % of a core\n`,
    )
    await page.close()
    await sluice.close()
  }
  const many = manyJobs(STEP_JOBS).replaceAll('rate: 3 }', 'rate: 0.05 }')
  for (const [name, scenario] of [
    ['demo', undefined],
    [`${STEP_JOBS}-jobs`, many],
  ] as const) {
    const sluice = await openConsole(scenario)
    const page = await show(browser, sluice.served.url, '')
    await page.waitForTimeout(STEPS * 1000)
    for (const [key, view] of [
      ['1', 'overview'],
      ['2', 'jobs'],
      ['3', 'rules'],
    ] as const) {
      await page.keyboard.press(key)
      await page.waitForTimeout(1500)
      process.stdout.write(
        `window.cursor-step.${name}.${view.padEnd(9)} ${stepLine(await measureSteps(page, STEPS))}\n`,
      )
      await page.keyboard.press('l')
    }
    await page.close()
    await sluice.close()
  }
  await browser.close()
}
