/** Work in steps on a thread that samples and answers, too. */
import type { Steps } from '#core/base/steps.ts'

/** Others have their turn at least so often, ms. */
const TURN_MS = 10

export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (let from = performance.now(); ;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (performance.now() - from < TURN_MS) continue
    await new Promise((next) => setImmediate(next))
    from = performance.now()
  }
}
