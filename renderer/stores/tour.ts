/**
 * Tour of the first ten minutes: current step, stored so that it can be continued. It runs on the emulator only,
 * because it changes rules. It never blocks the window: a step is complete when its state is reached, whatever else is
 * done meanwhile.
 */
import { useLocalStorage } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { tourSteps } from './tour-steps.ts'
import { useSourceStore } from './source.ts'

const KEY = 'sluice.tour'
const NOT_HERE = 'The tour changes the controller and commits a rule, so it runs on the emulator only.'
const HOW = 'Switch to the demo cluster in Connections.'

export const useTourStore = defineStore('tour', () => {
  const source = useSourceStore()
  const kept = useLocalStorage<number>(KEY, 0, { serializer: { read: Number, write: String } })
  const isOpen = ref(false)
  const isFolded = ref(false)
  const isOver = ref(false)
  /** Incremented to move the operator to the card. */
  const calls = ref(0)

  /** Reason why it cannot run now; null if it can. */
  const why = computed(() =>
    source.isEmulated ? null : source.frame === null ? 'No source yet.' : `${NOT_HERE} ${HOW}`,
  )
  const at = computed(() => (Number.isInteger(kept.value) ? Math.max(0, Math.min(kept.value, tourSteps.length)) : 0))
  const step = computed(() => tourSteps[at.value])
  const isBegun = computed(() => at.value > 0 && at.value < tourSteps.length)
  const startLabel = computed(() =>
    isOpen.value ? 'Show the card' : isBegun.value ? `Continue at step ${at.value + 1}` : 'Start the tour',
  )

  /** Starts or continues the tour. @returns true if it runs */
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
  /** Goes to the next step, after the current one is done or skipped. */
  function next(): void {
    kept.value = at.value + 1
    isOver.value = at.value >= tourSteps.length
  }
  const back = (): void => {
    kept.value = Math.max(0, at.value - 1)
    isOver.value = false
  }
  /** Closes the tour; the step is stored. */
  function leave(): void {
    isOpen.value = isOver.value = false
  }
  return { isOpen, isFolded, isOver, calls, why, at, step, isBegun, startLabel, start, restart, next, back, leave }
})
