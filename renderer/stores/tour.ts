/**
 * The tour through the first ten minutes: which step it is at, kept so that it goes on after a break. It runs on the emulator only,
 * because it changes rules. It never holds the window: whatever else is done meanwhile, a step is done when its state is there.
 */
import { useLocalStorage } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { tourSteps } from './tour-steps.ts'
import { useSourceStore } from './source.ts'

const KEY = 'sluice.tour'
const NOT_HERE = 'The tour changes the controller and commits a rule, so it runs on the emulator only.'
const HOW = 'Connections, Demo cluster puts it on screen.'

export const useTourStore = defineStore('tour', () => {
  const source = useSourceStore()
  const kept = useLocalStorage<number>(KEY, 0, { serializer: { read: Number, write: String } })
  const [isOpen, isFolded, isOver] = [ref(false), ref(false), ref(false)]
  /** Counted up when the operator is to be taken to the card. */
  const calls = ref(0)

  /** Why it cannot run now; null where it can. */
  const why = computed(() =>
    source.isEmulated ? null : source.frame === null ? 'No source is on screen yet.' : `${NOT_HERE} ${HOW}`,
  )
  const at = computed(() => (Number.isInteger(kept.value) ? Math.max(0, Math.min(kept.value, tourSteps.length)) : 0))
  const step = computed(() => tourSteps[at.value])
  const isBegun = computed(() => at.value > 0 && at.value < tourSteps.length)
  const startWords = computed(() =>
    isOpen.value ? 'Show the card' : isBegun.value ? `Go on at step ${at.value + 1}` : 'Start the tour',
  )

  /** Begins it, or goes on where it was left. @returns whether it runs */
  function start(): boolean {
    if (why.value !== null) return false
    if (at.value >= tourSteps.length) kept.value = 0
    isOpen.value = true
    isFolded.value = isOver.value = false
    calls.value++
    return true
  }
  function restart(): boolean {
    kept.value = 0
    return start()
  }
  /** One step on, done or skipped. */
  function next(): void {
    kept.value = at.value + 1
    isOver.value = at.value >= tourSteps.length
  }
  const back = (): void => {
    kept.value = Math.max(0, at.value - 1)
    isOver.value = false
  }
  /** Puts it away; the step is kept. */
  function leave(): void {
    isOpen.value = isOver.value = false
  }
  return { isOpen, isFolded, isOver, calls, why, at, step, isBegun, startWords, start, restart, next, back, leave }
})
