/** Detection of a silent controller at the displayed time: since when, and the age of its last values. */
import { computed, ref, watch, type ComputedRef } from 'vue'
import type { MetadataFrame } from '#core/api/padll.ts'

export interface Silence {
  /** Time when its newest cycle was read; null if none was. */
  readonly sinceMs: number | null
  readonly ageMs: number | null
}
/** Intervals after which the controller counts as silent; the same as for the age of samples. */
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
