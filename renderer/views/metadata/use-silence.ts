/** Whether the controller has fallen silent at what is shown, since when, and how old its last values are. */
import { computed, ref, watch, type ComputedRef } from 'vue'
import type { MetadataFrame } from '#core/api/padll.ts'

export interface Silence {
  /** When its newest cycle was read; null: none was. */
  readonly sinceMs: number | null
  readonly ageMs: number | null
}
/** As the age of samples elsewhere: from five intervals on it is bad. */
const INTERVALS = 5
const LEAST_MS = 3000

export function useSilence(frame: () => MetadataFrame | null): ComputedRef<Silence | null> {
  const lastSeenMs = ref<number | null>(null)
  watch(
    () => frame()?.controller.seenMs ?? null,
    (seenMs) => {
      if (seenMs !== null) lastSeenMs.value = seenMs
    },
    { immediate: true },
  )
  return computed(() => {
    const now = frame()
    if (now === null || now.plane === null) return null
    const { seenMs, intervalMs } = now.controller
    const ageMs = seenMs === null || now.atMs === null ? null : Math.max(0, now.atMs - seenMs)
    if (seenMs !== null && (ageMs === null || ageMs <= Math.max(LEAST_MS, INTERVALS * intervalMs))) return null
    const sinceMs =
      seenMs ?? (lastSeenMs.value !== null && lastSeenMs.value <= (now.atMs ?? 0) ? lastSeenMs.value : null)
    return { sinceMs, ageMs: sinceMs === null || now.atMs === null ? null : now.atMs - sinceMs }
  })
}
