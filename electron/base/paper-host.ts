/** Services of the environment for the experiments of the papers: clock and memory of this thread. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Host } from '#core/papers/experiment.ts'

let collect: (() => void) | undefined

/** Used heap after a garbage collection, bytes: without one, garbage is counted and its collection looks like a negative use. */
function heapBytes(): number {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
  return process.memoryUsage().heapUsed
}

export const paperHost: Host = {
  now: () => performance.now(),
  heapBytes,
}
