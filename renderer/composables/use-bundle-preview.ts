/**
 * Preview of a bundle, requested from the host after a pause in typing. An obsolete request is canceled and its
 * response dropped. For the other level of detail only the size is requested, afterwards.
 */
import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { ExportInput, ExportPreview } from '#core/api/incidents.ts'
import { useConnectionStore } from '../stores/connection.ts'
import { refusal } from '../stores/refusal.ts'

const REST_MS = 250
type Detail = ExportInput['detail']

export function useBundlePreview(input: () => ExportInput | null, revision: () => unknown) {
  const connection = useConnectionStore()
  const preview = shallowRef<ExportPreview | null>(null)
  /** Estimated size by detail, for `preview`. */
  const sizes = shallowRef<Readonly<Partial<Record<Detail, number>>>>({})
  const notice = shallowRef<Notice | null>(null)
  /** True while a request is pending; `preview` is then for an earlier input. */
  const isLoading = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  let abort: AbortController | null = null

  async function load(wanted: ExportInput, signal: AbortSignal): Promise<void> {
    const { host } = connection
    if (host === null) return
    try {
      const answer = await host.api.incidents.preview(wanted, { signal })
      if (signal.aborted) return
      preview.value = answer
      sizes.value = { [wanted.detail]: answer.bytes }
      notice.value = null
    } catch (error) {
      if (signal.aborted) return
      preview.value = null
      sizes.value = {}
      notice.value = refusal('The bundle preview failed', error)
    } finally {
      if (!signal.aborted) isLoading.value = false
    }
    if (signal.aborted || preview.value === null) return
    const other: Detail = wanted.detail === 'fit' ? 'all' : 'fit'
    try {
      const { bytes } = await host.api.incidents.preview({ ...wanted, detail: other }, { signal })
      if (!signal.aborted) sizes.value = { ...sizes.value, [other]: bytes }
    } catch {
      // The size of the other option is then not shown.
    }
  }
  function start(delayMs: number): void {
    clearTimeout(timer)
    abort?.abort()
    abort = null
    const wanted = input()
    if (wanted === null || connection.host === null) {
      isLoading.value = false
      if (wanted === null) preview.value = null
      return
    }
    isLoading.value = true
    const { signal } = (abort = new AbortController())
    timer = setTimeout(() => void load(wanted, signal), delayMs)
  }
  watch(
    () => JSON.stringify([input(), revision()]),
    () => start(REST_MS),
  )
  watch(
    () => connection.host,
    () => start(0),
    { immediate: true },
  )
  onScopeDispose(() => {
    clearTimeout(timer)
    abort?.abort()
  })
  return { preview, sizes, notice, isLoading, again: () => start(0) }
}
