/**
 * The time cursor. `at` null follows the newest sample; a number stands on that sample while ingest goes on.
 * What is on screen may lag behind what was asked for, so views report the sample they show by `note`.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import { useSourceStore } from './source.ts'

/** Widths of the window [t - w, t]. */
export const windows = [
  { label: '1m', ms: 60_000 },
  { label: '5m', ms: 300_000 },
  { label: '15m', ms: 900_000 },
  { label: '1h', ms: 3_600_000 },
] as const

export const useTimeStore = defineStore('time', () => {
  const source = useSourceStore()
  const at = ref<number | null>(null)
  const windowMs = ref<number>(300_000)
  const noted = shallowRef<{ sample: number; atMs: number | null } | null>(null)

  const newest = computed(() => source.frame?.sample ?? 0)
  /** How far back the host can show: samples before it have left its memory. */
  const oldest = computed(() => Math.max(1, source.frame?.oldest ?? 1))
  const isPaused = computed(() => at.value !== null)
  const intervalMs = computed(() => source.frame?.clock.intervalMs ?? 1000)

  /** The sample on screen: reported by the view, else what was asked for. */
  const sample = computed(() => at.value ?? noted.value?.sample ?? newest.value)
  /** Its instant; reckoned back from the newest until the frame is here. */
  const atMs = computed(() => {
    if (noted.value?.sample === sample.value) return noted.value.atMs
    const newestAt = source.frame?.atMs ?? null
    return newestAt === null ? null : newestAt - (newest.value - sample.value) * intervalMs.value
  })
  /** Samples that came in since the one on screen. */
  const held = computed(() => (isPaused.value ? Math.max(0, newest.value - sample.value) : 0))

  function note(frame: { sample: number; atMs: number | null }): void {
    noted.value = { sample: frame.sample, atMs: frame.atMs }
  }
  // A cursor that stood still long enough is overtaken by what the host forgets, and after a restart of the host it may lie
  // beyond the newest: it moves to what can be shown, and the clock says so.
  watch([oldest, newest], () => {
    if (at.value !== null && newest.value > 0) goTo(at.value)
  })
  const pause = (): void => {
    at.value ??= sample.value
  }
  const live = (): void => {
    at.value = null
  }
  /** Another source: its samples have other numbers. */
  function reset(): void {
    at.value = noted.value = null
  }
  const toggle = (): void => (isPaused.value ? live() : pause())
  function goTo(target: number): void {
    at.value = Math.max(oldest.value, Math.min(newest.value, Math.round(target)))
  }
  /** Moves the cursor by whole samples and pauses there; beyond the newest there is nothing. */
  const step = (by: number): void => goTo((at.value ?? sample.value) + by)
  /** Stands on the sample nearest to an instant of the source's clock. */
  function goToTime(ms: number): void {
    const newestAt = source.frame?.atMs
    if (newestAt !== null && newestAt !== undefined) goTo(newest.value - (newestAt - ms) / intervalMs.value)
  }
  return {
    at,
    windowMs,
    newest,
    isPaused,
    intervalMs,
    sample,
    atMs,
    held,
    note,
    pause,
    live,
    reset,
    toggle,
    step,
    goTo,
    goToTime,
  }
})
