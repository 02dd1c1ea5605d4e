/**
 * What a step of the time cursor takes in a real browser, from the press of the key to the frame that shows the sample:
 * its numbers, and then its charts too.
 */
import type { Page } from 'playwright-core'

export interface StepTimes {
  /** ms from the key to the painted frame with the sample's numbers, in order of the steps. */
  readonly numbers: readonly number[]
  /** The same to the painted frame with its charts. */
  readonly charts: readonly number[]
  /** ms from the arrival of the frame in the page to its numbers in the document. */
  readonly render: readonly number[]
}

/** Runs in the page. Presses by itself, because a press from outside would be measured with its way in. */
async function measureInPage({ steps, key }: { steps: number; key: string }): Promise<StepTimes> {
  const clock = document.querySelector('[data-testid="clock"]')
  if (clock === null) throw new Error('no clock')
  const painted = (): Promise<number> =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => resolve(performance.now())
      requestAnimationFrame(() => port2.postMessage(0))
    })
  const [numbers, charts, render]: [number[], number[], number[]] = [[], [], []]
  for (let i = 0; i < steps; i++) {
    const before = clock.getAttribute('data-sample')
    const began = performance.now()
    let arrivedMs = 0
    const shown = new Promise<void>((resolve, reject) => {
      const tooLong = setTimeout(() => reject(new Error(`no frame after step ${i}`)), 5000)
      const observer = new MutationObserver(() => {
        if (clock.getAttribute('data-sample') === before) return
        observer.disconnect()
        clearTimeout(tooLong)
        resolve()
      })
      observer.observe(clock, { attributes: true })
    })
    const entries = performance.getEntriesByName('sluice:frame').length
    dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
    await shown
    const mark = performance.getEntriesByName('sluice:frame')[entries]
    arrivedMs = mark?.startTime ?? NaN
    render.push(performance.now() - arrivedMs)
    // The document holds the numbers inside an animation frame, whose paint is over when a message comes through.
    const { port1, port2 } = new MessageChannel()
    const first = new Promise<number>((resolve) => (port1.onmessage = () => resolve(performance.now())))
    port2.postMessage(0)
    numbers.push((await first) - began)
    charts.push((await painted()) - began)
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  return { numbers, charts, render }
}

/** Pauses, then steps `steps` samples back. */
export async function measureSteps(page: Page, steps: number, key = 'ArrowLeft'): Promise<StepTimes> {
  await page.keyboard.press('Space')
  await page.waitForTimeout(500)
  await page.keyboard.press('ArrowLeft')
  await page.waitForTimeout(500)
  return page.evaluate(measureInPage, { steps, key })
}

/** What the browser itself takes from a key to a painted frame, with nothing asked of a host: ms. */
export function measureFloor(page: Page, steps: number): Promise<number[]> {
  return page.evaluate(async (count) => {
    const times: number[] = []
    const box = document.createElement('i')
    document.body.append(box)
    for (let i = 0; i < count; i++) {
      const began = performance.now()
      await new Promise<void>((resolve) => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => resolve()
        requestAnimationFrame(() => {
          box.textContent = String(i)
          port2.postMessage(0)
        })
      })
      times.push(performance.now() - began)
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    box.remove()
    return times
  }, steps)
}

export const middle = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN
export const at95 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? NaN
