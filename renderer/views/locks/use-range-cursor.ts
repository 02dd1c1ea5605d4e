/** Selected time range with its cursor: lock lifetimes, event times, and the state at the cursor. */
import { computed, reactive, ref, type UnwrapNestedRefs } from 'vue'
import type { LocksFrame } from '#core/api/locks.ts'
import { useLocksStore } from '../../stores/locks.ts'
import { livesOf } from './lock-lifetimes.ts'
import { countsOf, explain, factsOf, nextStep, peakOf, queueSteps, resourceStateAt, stepsOf } from './resource-state.ts'

export type Resource = NonNullable<LocksFrame['resource']>

export function useRangeCursor(resource: () => Resource | null) {
  const view = useLocksStore()
  const now = computed(resource)
  const spanMs = computed(() => now.value?.moment.spanMs ?? view.spanMs ?? 20)
  const fromMs = computed(() => (now.value ? now.value.moment.endMs - now.value.moment.spanMs : 0))
  const lives = computed(() => (now.value ? livesOf(now.value) : []))
  const steps = computed(() => stepsOf(lives.value, spanMs.value))
  const queue = computed(() => queueSteps(lives.value, spanMs.value))
  /** Time under the pointer, ms; overrides the cursor while hovering. */
  const hoverT = ref<number | null>(null)
  const cursorT = computed(() => {
    const put = view.cursorAtMs === null ? null : view.cursorAtMs - fromMs.value
    return put !== null && put >= -1e-3 && put <= spanMs.value + 1e-3 ? put : peakOf(queue.value, spanMs.value)
  })
  const t = computed(() => hoverT.value ?? cursorT.value)
  const lockState = computed(() => resourceStateAt(lives.value, t.value))
  const facts = computed(() => factsOf(lockState.value, t.value))
  const counts = computed(() => countsOf(lives.value, spanMs.value))
  const callout = computed(() => explain(lockState.value))

  /** Sets the cursor and pins this range. */
  function put(at: number): void {
    if (!now.value) return
    hoverT.value = null
    view.putCursor(now.value.key, now.value.moment, fromMs.value + Math.max(0, Math.min(spanMs.value, at)))
  }
  /** Moves the cursor by events. */
  function step(by: 1 | -1, times = 1): void {
    let at = cursorT.value
    for (let i = 0; i < times; i++) at = nextStep(steps.value, at, by, spanMs.value)
    put(at)
  }
  /** Moves the range by a share of its length. */
  function pan(share: number): void {
    if (!now.value) return
    const { endMs, spanMs: length } = now.value.moment
    const { t: bins } = now.value.queue
    const first = bins[0] ?? -Infinity
    const last = bins.at(-1) ?? Infinity
    view.pin(now.value.key, { endMs: Math.max(first + length, Math.min(last, endMs + share * length)), spanMs: length })
  }
  return reactive({
    resource: now,
    spanMs,
    fromMs,
    lives,
    steps,
    queue,
    hoverT,
    cursorT,
    t,
    lockState,
    facts,
    counts,
    callout,
    put,
    step,
    pan,
  })
}
export type RangeCursor = UnwrapNestedRefs<ReturnType<typeof useRangeCursor>>
