/**
 * Time of a step of the time cursor in a real browser, from the key press to the painted frame that shows the sample: its
 * numbers, then its charts. For comparison, the browser's time from a key to any painted frame, and the processor time of the
 * page's main thread per step, which other load on the machine does not affect.
 */
import type { Page } from 'playwright-core'

interface Times {
  readonly numbers: number[]
  readonly charts: number[]
  readonly floor: number[]
}
export interface StepTimes extends Times {
  /** Processor time of the main thread for one step, including all work it causes, and its scripts' part of it, ms. */
  readonly cpuMs: number
  readonly scriptMs: number
}

const REST_MS = 60

/** Runs in the page. Presses keys from within: a press from outside would include its delivery. */
async function stepInPage({ steps, rest }: { steps: number; rest: number }): Promise<Times> {
  const clock = document.querySelector('[data-testid="clock"]')
  if (clock === null) throw new Error('no clock')
  /** A message posted in an animation frame is delivered after that frame is painted. */
  const afterPaint = (): Promise<void> =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => resolve()
      port2.postMessage(0)
    })
  const frame = (): Promise<void> => new Promise((resolve) => requestAnimationFrame(() => resolve()))
  const shown = (before: string | null): Promise<void> =>
    new Promise((resolve, reject) => {
      const tooLong = setTimeout(() => reject(new Error('no frame within 20 s')), 20_000)
      const observer = new MutationObserver(() => {
        if (clock.getAttribute('data-sample') === before) return
        observer.disconnect()
        clearTimeout(tooLong)
        resolve()
      })
      observer.observe(clock, { attributes: true })
    })
  const times: Times = { numbers: [], charts: [], floor: [] }
  for (let i = 0; i < steps; i++) {
    const began = performance.now()
    const isShown = shown(clock.getAttribute('data-sample'))
    dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true, cancelable: true }))
    await isShown
    await afterPaint()
    times.numbers.push(performance.now() - began)
    await frame()
    await afterPaint()
    times.charts.push(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, rest))
    const empty = performance.now()
    await frame()
    await afterPaint()
    times.floor.push(performance.now() - empty)
  }
  return times
}

/** Pauses unless the view is still already, then steps back sample by sample. */
export async function measureSteps(page: Page, steps: number, standsStill = false): Promise<StepTimes> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const spentMs = async (): Promise<{ readonly tasks: number; readonly scripts: number }> => {
    const { metrics } = await session.send('Performance.getMetrics')
    const of = (name: string): number => (metrics.find((m) => m.name === name)?.value ?? NaN) * 1000
    return { tasks: of('TaskDuration'), scripts: of('ScriptDuration') }
  }
  if (!standsStill) await page.keyboard.press('Space')
  await page.waitForTimeout(1000)
  await page.keyboard.press('ArrowLeft')
  await page.waitForTimeout(1000)
  const before = await spentMs()
  const began = performance.now()
  const times = await page.evaluate(stepInPage, { steps, rest: REST_MS })
  const after = await spentMs()
  const lastedMs = performance.now() - began
  // Load of the page without a step: status, strip, and the frames of the measurement.
  const still = await spentMs()
  await page.waitForTimeout(lastedMs)
  const idle = await spentMs()
  await session.detach()
  const perStep = (of: 'tasks' | 'scripts'): number => (after[of] - before[of] - (idle[of] - still[of])) / steps
  return {
    numbers: times.numbers,
    charts: times.charts,
    floor: times.floor,
    cpuMs: perStep('tasks'),
    scriptMs: perStep('scripts'),
  }
}
