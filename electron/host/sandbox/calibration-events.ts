/** A calibration as what a window follows: seeds that were run, then the result, or why there is none. Whoever stops following ends it. */
import type { CalibrateEvent, ForkInput } from '#core/api/sandbox.ts'
import type { Span } from '#core/api/history.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { toNotice } from '../views/status.ts'
import { calibrateOver, type CalibrationOptions } from './calibration.ts'

export async function* calibrationEvents(
  monitor: ClusterMonitor,
  input: ForkInput & { readonly span: Span; readonly seeds: number },
  options: Omit<CalibrationOptions, 'onSeed'> = {},
): AsyncGenerator<CalibrateEvent, void, void> {
  const own = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, own.signal]) : own.signal
  let done = 0
  let wake = (): void => undefined
  // The first line is told before the stretch is read, which takes the thread for a while.
  yield { kind: 'progress', done, of: input.seeds }
  if (signal.aborted) return
  try {
    const onSeed = (seeds: number): void => {
      done = seeds
      wake()
    }
    const ended = calibrateOver(monitor, input, { ...options, signal, onSeed })
    for (let told = 0; ;) {
      const next = new Promise<void>((resolve) => (wake = resolve))
      const result = done > told ? undefined : await Promise.race([ended, next])
      if (signal.aborted) return
      if (result) {
        const { ok } = result
        yield ok ? { kind: 'result', calibration: result.value } : { kind: 'failed', notice: toNotice(result.error) }
        return
      }
      told = done
      yield { kind: 'progress', done, of: input.seeds }
    }
  } finally {
    own.abort()
  }
}
