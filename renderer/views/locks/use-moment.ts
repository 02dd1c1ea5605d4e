/** The moment on screen with its cursor: lives, the steps in them, and how things stand where the cursor is. */
import { computed, reactive, ref, type UnwrapNestedRefs } from 'vue'
import type { LocksFrame } from '#core/api/locks.ts'
import { useLocksStore } from '../../stores/locks.ts'
import { livesOf } from './lives.ts'
import { countsOf, explain, factsOf, nextStep, peakOf, queueSteps, standingAt, stepsOf } from './standing.ts'

export type Resource = NonNullable<LocksFrame['resource']>

export function useMoment(resource: () => Resource | null) {
  const view = useLocksStore()
  const now = computed(resource)
  const spanMs = computed(() => now.value?.moment.spanMs ?? view.spanMs ?? 20)
  const fromMs = computed(() => (now.value ? now.value.moment.endMs - now.value.moment.spanMs : 0))
  const lives = computed(() => (now.value ? livesOf(now.value) : []))
  const steps = computed(() => stepsOf(lives.value, spanMs.value))
  const queue = computed(() => queueSteps(lives.value, spanMs.value))
  /** Instant under the pointer, which wins over the cursor for as long as it is there. */
  const hoverT = ref<number | null>(null)
  const cursorT = computed(() => {
    const put = view.cursorAtMs === null ? null : view.cursorAtMs - fromMs.value
    return put !== null && put >= -1e-3 && put <= spanMs.value + 1e-3 ? put : peakOf(queue.value, spanMs.value)
  })
  const t = computed(() => hoverT.value ?? cursorT.value)
  const standing = computed(() => standingAt(lives.value, t.value))
  const facts = computed(() => factsOf(standing.value, t.value))
  const counts = computed(() => countsOf(lives.value, spanMs.value))
  const callout = computed(() => explain(standing.value))

  /** Puts the cursor down and stays on this moment. */
  function put(at: number): void {
    if (!now.value) return
    hoverT.value = null
    view.putCursor(now.value.key, now.value.moment, fromMs.value + Math.max(0, Math.min(spanMs.value, at)))
  }
  /** From event to event. */
  function step(by: 1 | -1, times = 1): void {
    let at = cursorT.value
    for (let i = 0; i < times; i++) at = nextStep(steps.value, at, by, spanMs.value)
    put(at)
  }
  /** Moves the moment by a share of its length. */
  function pan(share: number): void {
    if (!now.value) return
    const { endMs, spanMs: length } = now.value.moment
    const { t: bins } = now.value.queue
    const [first, last] = [bins[0] ?? -Infinity, bins.at(-1) ?? Infinity]
    view.pin(now.value.key, { endMs: Math.max(first + length, Math.min(last, endMs + share * length)), spanMs: length })
  }
  return reactive({
    ...{ resource: now, spanMs, fromMs, lives, steps, queue, hoverT, cursorT, t, standing, facts, counts, callout },
    ...{ put, step, pan },
  })
}
export type MomentCursor = UnwrapNestedRefs<ReturnType<typeof useMoment>>
