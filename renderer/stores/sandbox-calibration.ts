/** How far the model is from a stretch of history: asked of the host, kept while the window is open. */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { Span } from '#core/api/history.ts'
import type { Calibration } from '#core/api/sandbox.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import type { Workload } from './sandbox.ts'

const NOT_DONE = 'The model was not compared with what was recorded'

export const useSandboxCalibrationStore = defineStore('sandbox-calibration', () => {
  const connection = useConnectionStore()
  const result = shallowRef<Calibration | null>(null)
  const notice = shallowRef<Notice | null>(null)
  /** Wall ms at which the one that runs began. */
  const since = ref<number | null>(null)
  let abort: AbortController | null = null

  async function run(span: Span, workload: Workload, seeds = 5): Promise<void> {
    if (since.value !== null) return
    if (connection.host === null) {
      notice.value = noHost(NOT_DONE)
      return
    }
    const { signal } = (abort = new AbortController())
    since.value = Date.now()
    notice.value = null
    try {
      result.value = await connection.host.api.sandbox.calibrate({ span, workload, seeds }, { signal })
    } catch (error) {
      if (!signal.aborted) notice.value = refusal(NOT_DONE, error)
    }
    since.value = null
  }
  const cancel = (): void => abort?.abort()
  return { result, notice, since, run, cancel }
})
