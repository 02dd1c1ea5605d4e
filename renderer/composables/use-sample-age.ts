/** Age of the newest sample, in wall time, and whether that is too old for the source's interval. */
import { computed } from 'vue'
import type { Level } from '#core/api/frames.ts'
import { useSourceStore } from '../stores/source.ts'
import { useWallClock } from './use-wall-clock.ts'

/** Frames arrive a few times a second: a smaller age is not meaningful. */
const SHORTEST_MS = 500

export function useSampleAge() {
  const source = useSourceStore()
  const now = useWallClock()
  const isClockPaused = computed(() => source.isEmulated && source.frame?.clock.speed === 0)
  const ageMs = computed(() => {
    const age = source.frame?.clock.sampleAgeMs
    if (age === null || age === undefined) return null
    return age + Math.max(0, now.value - source.receivedMs)
  })
  const expectedMs = computed(() => {
    const clock = source.frame?.clock
    const speed = source.isEmulated ? (clock?.speed ?? 1) : 1
    return speed > 0 ? Math.max(SHORTEST_MS, (clock?.intervalMs ?? 1000) / speed) : Infinity
  })
  /** Amber from twice the interval on, vermilion from five times on. */
  const level = computed<Level>(() => {
    if (ageMs.value === null) return 'unknown'
    const intervals = ageMs.value / expectedMs.value
    return intervals >= 5 ? 'bad' : intervals >= 2 ? 'watch' : 'ok'
  })
  return { ageMs, expectedMs, level, isClockPaused }
}
