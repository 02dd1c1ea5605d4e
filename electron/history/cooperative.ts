/** Runs a generator cooperatively, yielding every 10 ms. */
import type { Steps } from '#core/base/steps.ts'

/** Longest time before yielding to the event loop, ms. */
const YIELD_AFTER_MS = 10

export async function runCooperatively<T>(steps: Steps<T>): Promise<T> {
  for (let from = performance.now(); ;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (performance.now() - from < YIELD_AFTER_MS) continue
    await new Promise((next) => setImmediate(next))
    from = performance.now()
  }
}
