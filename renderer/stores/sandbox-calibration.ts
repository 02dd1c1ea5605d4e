/** Deviation of the model from a range of history: computed by the host, kept while the window is open. */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { Span } from '#core/api/history.ts'
import type { Calibration } from '#core/api/sandbox.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import type { Workload } from './sandbox.ts'

const NOT_DONE = 'The model was not compared with the recording'
const UNAFFECTED = 'the recording, the cluster and the scenario'

export const useSandboxCalibrationStore = defineStore('sandbox-calibration', () => {
  const connection = useConnectionStore()
  const result = shallowRef<Calibration | null>(null)
  const notice = shallowRef<Notice | null>(null)
  /** Start of the running calibration, wall ms. */
  const since = ref<number | null>(null)
  /** Completed seeds; null before the first report. */
  const progress = shallowRef<{ readonly done: number; readonly of: number } | null>(null)
  const wasCancelled = ref(false)
  let abort: AbortController | null = null

  async function follow(
    input: { readonly span: Span; readonly workload: Workload; readonly seeds: number },
    signal: AbortSignal,
  ): Promise<Notice | null> {
    if (connection.host === null) return noHost(NOT_DONE)
    for await (const event of await connection.host.api.sandbox.calibrate(input, { signal })) {
      if (signal.aborted) return null
      if (event.kind === 'failed') return event.notice
      if (event.kind === 'result') {
        result.value = event.calibration
        return null
      }
      progress.value = { done: event.done, of: event.of }
    }
    if (signal.aborted) return null
    const why = 'the Sluice host ended it without a result'
    return { code: 'NOT_DONE', what: NOT_DONE, why, unaffected: UNAFFECTED, next: 'Compare again.' }
  }

  async function run(span: Span, workload: Workload, seeds = 5): Promise<void> {
    if (since.value !== null) return
    const { signal } = (abort = new AbortController())
    since.value = Date.now()
    progress.value = notice.value = null
    wasCancelled.value = false
    try {
      notice.value = await follow({ span, workload, seeds }, signal)
    } catch (error) {
      if (!signal.aborted) notice.value = { unaffected: UNAFFECTED, ...refusal(NOT_DONE, error) }
    }
    wasCancelled.value = signal.aborted
    since.value = null
  }
  const cancel = (): void => abort?.abort()
  return { result, notice, since, progress, wasCancelled, run, cancel }
})
